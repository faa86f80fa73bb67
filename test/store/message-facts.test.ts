import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InstantSource } from '../../src/domain/instants.ts'
import { acceptedMessage, applyFact, type Fact, type MessageState } from '../../src/domain/message-facts.ts'
import { UNKNOWN_REVERSIBLE_MS } from '../../src/domain/message-states.ts'
import { recordReceipts } from '../../src/operations/record-receipts.ts'
import { type Postponement, postponeDispatches, recordLateSegments } from '../../src/store/dispatches.ts'
import { insertMessages } from '../../src/store/messages.ts'
import { expireOverdueMessages } from '../../src/store/overdue-messages.ts'
import { recordSubmissions, startOver } from '../../src/store/submissions.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { CARRIER_ID, NEWEST, NOBODY, NODE, newMessage, receipt, sent } from '../support/stored-messages.ts'

/** The statements of the message path decide the same as domain/message-facts.ts, whatever happens in whichever order. */

const { db, announcedPlan: plan } = await installedDatabase()
const MOST_SEGMENTS = 3
const HOUR_MS = 3_600_000
const CUTS = [null, 'tlv gsm7 3']

/** A fact of a message before it is known how the message is by then. */
type Chance = (message: MessageState, atMs: number) => Fact

const charge = fc.option(
  fc.constantFrom('0.01', '1.2', '0.000003').map((price) => ({ price, ptf: '0.1', currency: 'EUR' })),
)
const optional = <T>(...values: T[]) => fc.option(fc.constantFrom(...values))

const settled = fc
  .record({
    status: fc.constantFrom('SENT' as const, 'SENT' as const, 'FAILED' as const, 'UNKNOWN' as const),
    errorCode: fc.constantFrom('000', '103'),
    carrierCode: optional('0x45'),
    carrierId: optional(CARRIER_ID),
    routeId: optional(7),
    routeReason: optional('only carrier'),
    segments: optional(1, 2, MOST_SEGMENTS),
    cut: fc.constantFrom(...CUTS),
    mccmnc: optional('26201'),
    charge,
  })
  .map(
    (rest): Chance =>
      (_, atMs) => ({ kind: 'settled', atMs, ...rest }),
  )

const received = fc
  .record({
    outcome: fc.constantFrom(
      'DELIVERED' as const,
      'DELIVERED' as const,
      'FAILED' as const,
      'UNKNOWN' as const,
    ),
    segments: fc.nat(MOST_SEGMENTS - 1).map((segment) => 1n << BigInt(segment)),
    ofFormerCut: fc.boolean(),
    errorCode: fc.constantFrom('300', '600'),
    carrierCode: optional('UNDELIV 12'),
    mccmnc: optional('310260'),
    segmentCharge: charge,
  })
  .map(
    ({ ofFormerCut, ...rest }): Chance =>
      ({ cut }, atMs) => {
        return { kind: 'receipt', atMs, ...rest, cut: ofFormerCut ? null : cut }
      },
  )

const postponed = fc
  .record({
    attempt: fc.nat(9),
    carrierId: optional(CARRIER_ID),
    acceptedParts: fc.constantFrom(0n, 1n, 2n),
    cut: fc.constantFrom('udh gsm7 2', 'tlv gsm7 3'),
    startedOver: fc.boolean(),
    ambiguous: fc.boolean(),
  })
  .map(
    ({ cut, ...rest }): Chance =>
      (_, atMs) => {
        return {
          kind: 'postponed',
          atMs,
          dueAtMs: atMs,
          ...rest,
          cut: rest.acceptedParts === 0n ? null : cut,
        }
      },
  )

const partAccepted = fc
  .record({ parts: fc.constantFrom(1n, 2n), cut: fc.constantFrom('udh gsm7 2', 'tlv gsm7 3') })
  .map(
    (rest): Chance =>
      (_, atMs) => ({ kind: 'part-accepted', atMs, ...rest }),
  )

const chance = fc.oneof(
  { arbitrary: received, weight: 4 },
  { arbitrary: settled, weight: 2 },
  { arbitrary: postponed, weight: 1 },
  { arbitrary: partAccepted, weight: 1 },
  { arbitrary: fc.constant<Chance>((_, atMs) => ({ kind: 'started-over', atMs, cut: CUTS[1]! })), weight: 1 },
  { arbitrary: fc.constant<Chance>((_, atMs) => ({ kind: 'overdue', atMs, errorCode: '601' })), weight: 1 },
)

const story = fc.record({
  segments: fc.integer({ min: 1, max: MOST_SEGMENTS }),
  chances: fc.array(chance, { minLength: 6, maxLength: 6 }),
})
/** Many messages go through their stories together, so that a step is a few statements. */
const stories = fc.record({
  each: fc.array(story, { minLength: 40, maxLength: 40 }),
  hoursBetween: fc.array(fc.constantFrom(0, 1, 71, 73), { minLength: 6, maxLength: 6 }),
})

interface Told {
  readonly msgId: string
  readonly fact: Fact
}

/** The fact's statement, for many messages at once. */
async function record(told: readonly Told[], changedAt: () => string): Promise<void> {
  const ofKind = <K extends Fact['kind']>(kind: K) =>
    told.flatMap(({ msgId, fact }) =>
      fact.kind === kind ? [{ msgId, fact: fact as Extract<Fact, { kind: K }> }] : [],
    )
  await startOver(
    db,
    ofKind('started-over').map(({ msgId, fact }) => ({ plan_id: plan, msg_id: msgId, cut: fact.cut })),
  )
  await recordSubmissions(db, {
    settlements: ofKind('settled').map(({ msgId, fact }) => ({
      ...sent(plan, msgId),
      status: fact.status,
      carrier_id: fact.carrierId,
      error_code: fact.errorCode,
      carrier_code: fact.carrierCode,
      route_id: fact.routeId,
      route_reason: fact.routeReason,
      segments: fact.segments,
      cut: fact.cut,
      mccmnc: fact.mccmnc,
      price: fact.charge?.price ?? null,
      ptf: fact.charge?.ptf ?? null,
      currency: fact.charge?.currency ?? null,
    })),
    submissions: [],
    changedAt: changedAt(),
    events: NOBODY,
  })
  await recordReceipts(db, {
    receipts: ofKind('receipt').map(({ msgId, fact }) =>
      receipt(idOf(msgId, fact.cut, fact.segments), fact.outcome, {
        error_code: fact.errorCode,
        carrier_code: fact.carrierCode,
        mccmnc: fact.mccmnc,
        ...(fact.segmentCharge !== null && { charges: { [msgId]: fact.segmentCharge } }),
      }),
    ),
    changedAt,
    unknownReversibleMs: UNKNOWN_REVERSIBLE_MS,
    events: NOBODY,
    newestMsgId: NEWEST,
    onChanged: () => undefined,
  })
  await db.query('update dispatches set holder = $1', [NODE])
  await postponeDispatches(
    db,
    ofKind('postponed').map(
      ({ msgId, fact }): Postponement => ({
        msg_id: msgId,
        holder: NODE,
        attempt: fact.attempt,
        submitted_segments: String(fact.acceptedParts),
        cut: fact.cut,
        started_over: fact.startedOver,
        ambiguous: fact.ambiguous,
        carrier_id: fact.carrierId,
        route_id: null,
        chosen_carrier_id: 0,
        delay_ms: 0,
        attempt_made: null,
      }),
    ),
  )
  await recordLateSegments(
    db,
    ofKind('part-accepted').map(({ msgId, fact }) => ({
      msg_id: msgId,
      cut: fact.cut,
      segments: String(fact.parts),
    })),
  )
  for (const { msgId, fact } of ofKind('overdue')) {
    await expireOverdueMessages(db, {
      fromMsgId: msgId,
      toMsgId: msgId,
      lastMsgId: msgId,
      errorCode: fact.errorCode,
      changedAt: changedAt(),
      limit: 1,
    })
  }
}

/** The carrier's id of a segment. */
function idOf(msgId: string, cut: string | null, bit: bigint): string {
  return `${msgId}/${cut ?? 'as accepted'}/${bit}`
}

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
          fact: chances[step]!(state, atMs),
        }))
        await record(told, changedAt)
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
