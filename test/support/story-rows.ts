/** Random stories of messages, as they are journaled, and the rows that they leave. */
import type { LaterFact, StateFact } from '../../src/domain/journal/message-facts.ts'
import {
  addFact,
  type MessageInProgress,
  messageInProgress,
} from '../../src/domain/journal/messages-in-progress.ts'
import type { Database } from '../../src/store/database.ts'
import { CUTS, idOf, MOST_SEGMENTS } from './message-stories.ts'
import { acceptedFact, evidenceOf, submittedFact } from './messages-in-memory.ts'

export const HOUR_MS = 3_600_000

const TABLES = ['messages', 'dispatches', 'submissions', 'receipts', 'events', 'event_deliveries']
/** In which the two always differ. */
const DIFFERENT = ['msg_id', 'position']
/** Given back to the tables, a dispatch is due by the clock of the database, which knows nothing of the hours of a story. */
const DIFFERENT_OF_DISPATCH = [...DIFFERENT, 'holder', 'due_at', 'begun']

/** All rows of the messages, in milliseconds and without their ids. */
export async function rowsOf(db: Database, msgIds: readonly string[]): Promise<Map<string, string[]>> {
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
    ? [{ carrierMessageId: idOf(msgId, null, 1n), segment: 0, segmentation: null }]
    : CUTS.flatMap((segmentation) =>
        Array.from({ length: MOST_SEGMENTS }, (_, segment) => ({
          ...{ carrierMessageId: idOf(msgId, segmentation, 1n << BigInt(segment)), segment, segmentation },
        })),
      )
}

/**
 * The fact as it can be of a message whose segments stay as they were accepted; null: it cannot. Where it is
 * counted anew, which table keeps its receipts depends on when that was.
 */
export function possible(fact: StateFact, segments: number): StateFact | null {
  if (fact.kind === 'settled') return { ...fact, segments: null }
  if (segments > 1) return fact
  if (fact.kind === 'started-over') return null
  return fact.kind === 'receipt' ? { ...fact, segmentBits: 1n, segmentation: null } : fact
}

/** As it is journaled: with the receipt as it came. */
export function journaled(fact: StateFact, msgId: string): Exclude<LaterFact, { kind: 'submitted' }> {
  if (fact.kind !== 'receipt') return fact
  const { segmentation, segmentBits, atMs, outcome, errorCode } = fact
  return {
    ...fact,
    evidence: evidenceOf(idOf(msgId, segmentation, segmentBits), atMs, { outcome, errorCode }),
  }
}

export function newInMemory(plan: number, msgId: string, segments: number): MessageInProgress {
  const message = messageInProgress(msgId, acceptedFact(plan, msgId, { segments }))
  for (const { carrierMessageId, segment, segmentation } of submissionsOf(msgId, segments))
    addFact(message, submittedFact(carrierMessageId, segment, segmentation))
  return message
}
