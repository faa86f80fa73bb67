/** Writes messages that lived in memory, and whose facts are in the journal, into their records. */
import { byPlan, isSharded, ofPlan } from './citus.ts'
import { CommitOutcomeUnknownError, type Database, type Queryable, sqlState } from './database.ts'
import { closeLane, cutJournal, type Lane } from './journal.ts'
import { withKindsNoted } from './message-kinds.ts'
import type { MessageKey } from './messages-at-rest.ts'
import { NotInLaneError } from './record-changes.ts'
import { kindOf, type Projected, writeRecords } from './records.ts'

/**
 * Writes these messages with everything that belongs to them, and cuts the lane's journal up to `cut`, in one transaction
 * where there is one server. `fenced`: the lane was taken over, and nothing is written. Repeated with the same messages after
 * an unknown outcome, it writes them once.
 */
export async function projectMessages(
  db: Database,
  lane: Lane,
  projected: readonly Projected[],
  cut: number,
): Promise<'written' | 'fenced'> {
  // On several servers, records show on each a little after COMMIT. The journal keeps what they tell until then.
  const cutsLater = isSharded(db) && projected.length > 0
  try {
    const outcome = await withKindsNoted(db, projected.map(kindOf), async (tx) => {
      // The lane's row comes first: this waits for an earlier try whose COMMIT is still in flight.
      if (!(await cutJournal(tx, lane, cutsLater ? 0 : cut))) return 'fenced'
      if (projected.length > 0) await writeRecords(tx, projected, lane.lane, { kindsAreNoted: true })
      return 'written'
    })
    return cutsLater && outcome === 'written' ? await cutBehind(db, lane, cut) : outcome
  } catch (error) {
    const isThere = sqlState(error) === UNIQUE_VIOLATION || error instanceof NotInLaneError
    if (!isThere || !(await areWritten(db, lane, projected))) throw error
    return (await cutJournal(db, lane, cut)) ? 'written' : 'fenced'
  }
}

/** @throws CommitOutcomeUnknownError: the records are written, so only the same messages may be written again */
async function cutBehind(db: Database, lane: Lane, cut: number): Promise<'written' | 'fenced'> {
  try {
    return (await cutJournal(db, lane, cut)) ? 'written' : 'fenced'
  } catch (error) {
    throw new CommitOutcomeUnknownError('records are written, and the journal is not cut', { cause: error })
  }
}

/** Ends a lane when everything up to `committed` is in the records and nothing more will come. */
export async function endLane(db: Database, lane: Lane, committed: number): Promise<void> {
  if ((await projectMessages(db, lane, [], committed)) === 'written') await closeLane(db, lane)
}

const UNIQUE_VIOLATION = '23505'

/** An earlier try wrote them: the lane has none of them any more. Another lane may have taken them since. */
async function areWritten(db: Queryable, { lane }: Lane, projected: readonly Projected[]): Promise<boolean> {
  const ids = projected.map(({ message: { msgId, accepted } }) => ({ planId: accepted.planId, msgId }))
  const recorded = await findRecorded(db, ids)
  return recorded.size === ids.length && recorded.values().every((holder) => holder !== lane)
}

/** Ids of those of these messages whose record is up to date, because they are at rest. */
export async function findAtRest(db: Queryable, keys: readonly MessageKey[]): Promise<Set<string>> {
  const recorded = await findRecorded(db, keys)
  return new Set([...recorded].flatMap(([msgId, lane]) => (lane === null ? [msgId] : [])))
}

/**
 * Those of these messages that have a record, by id: the lane that has them in progress again, or null when they are at
 * rest.
 */
export async function findRecorded(
  db: Queryable,
  keys: readonly MessageKey[],
): Promise<Map<string, number | null>> {
  const recorded = new Map<string, number | null>()
  for (const { planId, items } of byPlan(db, keys, (key) => key.planId)) {
    const { rows } = await db.query<{ msgId: string; lane: number | null }>({
      name: 'find_recorded',
      text: `
        select i."msgId", m.lane from json_to_recordset($1) as i ("planId" integer, "msgId" uuid)
        cross join lateral (
          select lane from messages m
          where m.plan_id = i."planId" and ${ofPlan('m', '$2')} and m.msg_id = i."msgId" limit 1) m`,
      values: [JSON.stringify(items), planId],
    })
    for (const { msgId, lane } of rows) recorded.set(msgId, lane)
  }
  return recorded
}
