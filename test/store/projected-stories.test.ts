import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InstantSource } from '../../src/domain/instants.ts'
import type { LaterFact } from '../../src/domain/journal-entries.ts'
import type { Fact } from '../../src/domain/message-facts.ts'
import { addFact, type MessageInProgress, messageInProgress } from '../../src/domain/messages-in-progress.ts'
import { openLane } from '../../src/store/journal.ts'
import { insertMessages } from '../../src/store/messages.ts'
import { projectMessages } from '../../src/store/projection.ts'
import { recordSubmissions } from '../../src/store/submissions.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { CUTS, idOf, MOST_SEGMENTS, recordFacts, stories } from '../support/message-stories.ts'
import { acceptedFact, evidenceOf, projected, submittedFact } from '../support/messages-in-memory.ts'
import { CARRIER_ID, NOBODY, NODE, newMessage } from '../support/stored-messages.ts'

/** What is projected is what the statements of the tables would have written, in every column. */

const { db, announcedPlan: plan } = await installedDatabase()
const lane = await openLane(db, NODE)
const HOUR_MS = 3_600_000

const TABLES = ['messages', 'dispatches', 'submissions', 'receipts', 'events', 'event_deliveries']
/** In which the two always differ. */
const DIFFERENT = ['msg_id', 'position']
/** Given back to the tables, a dispatch is due by the clock of the database, which knows nothing of the hours of a story. */
const DIFFERENT_OF_DISPATCH = [...DIFFERENT, 'holder', 'due_at', 'begun']

/** All rows of the messages, in milliseconds and without their ids. */
async function rowsOf(msgIds: readonly string[]): Promise<Map<string, string[]>> {
  const rows = new Map<string, string[]>(msgIds.map((msgId) => [msgId, []]))
  for (const table of TABLES) {
    const found = await db.query(
      `select msg_id, (to_jsonb(t) - $2::text[])::text as row from ${table} t where msg_id = any ($1::uuid[])`,
      [msgIds, table === 'dispatches' ? DIFFERENT_OF_DISPATCH : DIFFERENT],
    )
    for (const { msg_id: msgId, row } of found.rows)
      rows.get(msgId)!.push(`${table} ${inMs(row).replaceAll(msgId, 'ID')}`)
  }
  for (const of of rows.values()) of.sort()
  return rows
}

function inMs(row: string): string {
  return row.replace(
    /(:\d\d:\d\d)(?:\.(\d+))?(?=[+-]\d\d:\d\d")/g,
    (_, time, fraction = '') => `${time}.${fraction.padEnd(3, '0').slice(0, 3)}`,
  )
}

/** The segments that a carrier has accepted before the story begins. */
function submissionsOf(msgId: string, segments: number) {
  return segments === 1
    ? [{ carrierMessageId: idOf(msgId, null, 1n), segment: 0, cut: null }]
    : CUTS.flatMap((cut) =>
        Array.from({ length: MOST_SEGMENTS }, (_, segment) => ({
          ...{ carrierMessageId: idOf(msgId, cut, 1n << BigInt(segment)), segment, cut },
        })),
      )
}

/**
 * The fact as it can be of a message whose segments stay as they were accepted; null: it cannot. How it is counted anew is
 * compared in message-facts.test.ts; which table keeps its receipts depends on when it was.
 */
function possible(fact: Fact, segments: number): Fact | null {
  if (fact.kind === 'settled') return { ...fact, segments: null }
  if (segments > 1) return fact
  if (fact.kind === 'started-over') return null
  return fact.kind === 'receipt' ? { ...fact, segments: 1n, cut: null } : fact
}

/** As it is journaled: with the receipt as it came. */
function journaled(fact: Fact, msgId: string): Exclude<LaterFact, { kind: 'submitted' }> {
  if (fact.kind !== 'receipt') return fact
  const { cut, segments, atMs, outcome, errorCode } = fact
  return { ...fact, evidence: evidenceOf(idOf(msgId, cut, segments), atMs, { outcome, errorCode }) }
}

test('stories of messages leave the same rows, whether told to the tables or projected', async () => {
  await fc.assert(
    fc.asyncProperty(stories, async ({ each, hoursBetween }) => {
      let atMs = Date.now()
      const instants = new InstantSource()
      const changedAt = () => instants.next(atMs)
      const pairs = each.map(({ segments, chances }) => {
        const msgId = newId(atMs)
        return { told: newId(atMs), chances, segments, message: newInMemory(msgId, segments) }
      })
      await insertMessages(
        db,
        pairs.map(({ told, segments }) =>
          newMessage(plan, { msg_id: told, segments, created_ms: atMs, holder: null }),
        ),
      )
      await recordSubmissions(db, {
        settlements: [],
        submissions: pairs.flatMap(({ told, segments }) =>
          submissionsOf(told, segments).map(({ carrierMessageId, ...rest }) => ({
            ...{ carrier_id: CARRIER_ID, carrier_message_id: carrierMessageId, msg_id: told, plan_id: plan },
            ...rest,
          })),
        ),
        changedAt: changedAt(),
        events: NOBODY,
      })
      for (const [step, hours] of hoursBetween.entries()) {
        atMs += hours * HOUR_MS + 1
        const facts = pairs.flatMap(({ told, chances, segments, message }) => {
          const fact = possible(chances[step]!(message.state, atMs), segments)
          return fact === null ? [] : [{ told, message, fact }]
        })
        await recordFacts(
          db,
          plan,
          facts.map(({ told, fact }) => ({ msgId: told, fact: journaled(fact, told) as never })),
          changedAt,
        )
        for (const { message, fact } of facts) addFact(message, journaled(fact, message.msgId))
      }
      await projectMessages(
        db,
        lane,
        pairs.map(({ message }) => projected(message)),
        0,
      )
      const rows = await rowsOf(pairs.flatMap(({ told, message }) => [told, message.msgId]))
      for (const { told, message } of pairs) expect(rows.get(message.msgId)).toEqual(rows.get(told))
    }),
    { numRuns: 8, endOnFailure: true },
  )
}, 120_000)

function newInMemory(msgId: string, segments: number): MessageInProgress {
  const message = messageInProgress(msgId, acceptedFact(plan, msgId, { segments }))
  for (const { carrierMessageId, segment, cut } of submissionsOf(msgId, segments))
    addFact(message, submittedFact(carrierMessageId, segment, cut))
  return message
}
