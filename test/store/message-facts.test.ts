import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InstantSource } from '../../src/domain/instants.ts'
import { acceptedMessage, applyFact, type MessageState } from '../../src/domain/message-facts.ts'
import { recordSubmissions } from '../../src/store/submissions.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { CUTS, idOf, MOST_SEGMENTS, recordFacts, stories, withoutPrice } from '../support/message-stories.ts'
import { CARRIER_ID, insertMessages, NOBODY, newMessage } from '../support/stored-messages.ts'

/** The statements of the message path decide the same as domain/message-facts.ts, whatever happens in whichever order. */

const { db, announcedPlan: plan } = await installedDatabase()
const HOUR_MS = 3_600_000

/** What the tables hold of these messages, in their order, as MessageState has it. */
async function read(msgIds: readonly string[]): Promise<unknown[]> {
  const { rows } = await db.query(
    `select m.status, m.event_seq as sequence, m.updated_at as "changedAtMs", m.sent_at as "sentAtMs",
            m.error_code as "errorCode", m.carrier_code as "carrierCode", m.carrier_id as "carrierId",
            m.route_id as "routeId", m.route_reason as "routeReason", m.segments, m.cut,
            m.delivered_segments::text as "deliveredSegments", m.unknown_segments::text as "unknownSegments", m.mccmnc,
            trim_scale(m.price)::text as price, trim_scale(m.ptf)::text as ptf, m.currency,
            case when d.msg_id is not null then json_build_object(
              'attempt', d.attempt, 'carrierId', d.carrier_id, 'acceptedParts', d.submitted_segments::text, 'cut', d.cut,
              'startedOver', d.started_over, 'ambiguous', d.ambiguous) end as submission,
            (select json_agg(array[e.seq::text, e.status::text, e.error_code] order by e.seq) from events e
             where e.plan_id = m.plan_id and e.msg_id = m.msg_id) as announced
     from unnest($2::uuid[]) with ordinality as i (msg_id, place)
     join messages m on m.plan_id = $1 and m.msg_id = i.msg_id
     left join dispatches d on d.msg_id = m.msg_id
     order by i.place`,
    [plan, msgIds],
  )
  return rows.map(({ price, ptf, currency, ...row }) => ({
    ...row,
    changedAtMs: row.changedAtMs.getTime(),
    sentAtMs: row.sentAtMs?.getTime() ?? null,
    charge: price === null ? null : { price, ptf, currency },
  }))
}

/** The same of a message of the domain. */
function asRead(message: MessageState, announced: readonly string[][]): unknown {
  const { submission } = message
  return {
    ...message,
    deliveredSegments: String(message.deliveredSegments),
    unknownSegments: String(message.unknownSegments),
    submission: submission && {
      attempt: submission.attempt,
      carrierId: submission.carrierId,
      acceptedParts: String(submission.acceptedParts),
      cut: submission.cut,
      startedOver: submission.startedOver,
      ambiguous: submission.ambiguous,
    },
    announced: announced.length === 0 ? null : announced,
  }
}

test('stories of messages end alike in the tables and in the rule, at every step', async () => {
  await fc.assert(
    fc.asyncProperty(stories, async ({ each, hoursBetween }) => {
      let atMs = Date.now()
      const instants = new InstantSource()
      const changedAt = () => instants.next(atMs)
      const messages = each.map(({ segments, chances }) => ({
        msgId: newId(atMs),
        state: acceptedMessage(segments, atMs),
        announced: [] as string[][],
        chances,
      }))
      await insertMessages(
        db,
        messages.map(({ msgId, state }) =>
          newMessage(plan, { msg_id: msgId, segments: state.segments, created_ms: atMs }),
        ),
      )
      await recordSubmissions(db, {
        settlements: [],
        submissions: messages.flatMap(({ msgId }) =>
          CUTS.flatMap((cut) =>
            Array.from({ length: MOST_SEGMENTS }, (_, segment) => ({
              carrier_id: CARRIER_ID,
              carrier_message_id: idOf(msgId, cut, 1n << BigInt(segment)),
              msg_id: msgId,
              plan_id: plan,
              segment,
              cut,
            })),
          ),
        ),
        changedAt: changedAt(),
        events: NOBODY,
      })
      for (const [step, hours] of hoursBetween.entries()) {
        atMs += hours * HOUR_MS + 1
        const told = messages.map(({ msgId, state, chances }) => ({
          msgId,
          fact: withoutPrice(chances[step]!(state, atMs)),
        }))
        await recordFacts(db, plan, told, changedAt)
        for (const [index, message] of messages.entries()) {
          const next = applyFact(message.state, told[index]!.fact)
          if (next.sequence > message.state.sequence)
            message.announced.push([String(next.sequence), next.status, next.errorCode])
          message.state = next
        }
        const stored = await read(messages.map(({ msgId }) => msgId))
        for (const [index, { state, announced }] of messages.entries())
          expect(asRead(state, announced), JSON.stringify(told[index]!.fact, bigints)).toEqual(stored[index])
      }
    }),
    { numRuns: 8, endOnFailure: true },
  )
}, 120_000)

function bigints(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
