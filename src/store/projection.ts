/** Writes messages that lived in memory, and whose facts are in the journal, into their records. */
import { byPlan, isSharded, mustBeHere, ofPlan } from './citus.ts'
import { CommitOutcomeUnknownError, type Database, inTime, type Queryable, sqlState } from './database.ts'
import { closeLane, cutFreeJournal, cutJournal, holdLane, type Lane } from './journal.ts'
import { withKindsNoted } from './message-kinds.ts'
import type { MessageKey } from './messages-at-rest.ts'
import { NotInLaneError } from './record-changes.ts'
import { kindOf, type Projected, writeRecords } from './records.ts'

/**
 * Writes these messages with everything that belongs to them, and cuts the lane's journal up to `cut`, in one transaction
 * where there is one server. `fenced`: the lane was taken over, and nothing is written. Repeated with the same messages after
 * an unknown outcome, it writes them once.
 *
 * @throws ServerAwayError when the server of one of them is away
 */
export async function projectMessages(
  db: Database,
  lane: Lane,
  projected: readonly Projected[],
  cut: number,
): Promise<'written' | 'fenced'> {
  if (isSharded(db) && projected.length > 0) return await projectOnServers(db, lane, projected, cut)
  try {
    return await withKindsNoted(db, projected.map(kindOf), async (tx) => {
      // The lane's row comes first: this waits for an earlier try whose COMMIT is still in flight.
      if (!(await cutJournal(tx, lane, cut))) return 'fenced'
      if (projected.length > 0) await writeRecords(tx, projected, lane.lane, { kindsAreNoted: true })
      return 'written'
    })
  } catch (error) {
    if (!isThere(error) || !(await areWritten(db, lane, projected))) throw error
    return (await cutJournal(db, lane, cut)) ? 'written' : 'fenced'
  }
}

/**
 * A worker that hangs may hold up this transaction, its locks and its session until it is back, and nothing can end it then
 * (docs/adr/0035). So the lane comes last, with a lock that other projections share. Records show on each server a little after
 * COMMIT. The journal keeps what they tell until then.
 *
 * @throws CommitOutcomeUnknownError also when the records are written, and the journal is not cut: only the same messages may be
 * written again
 */
async function projectOnServers(
  db: Database,
  lane: Lane,
  projected: readonly Projected[],
  cut: number,
): Promise<'written' | 'fenced'> {
  mustBeHere(
    db,
    projected.map(({ message }) => message.accepted.planId),
  )
  try {
    await withKindsNoted(db, projected.map(kindOf), async (tx) => {
      await writeRecords(tx, projected, lane.lane, { kindsAreNoted: true })
      if (!(await holdLane(tx, lane))) throw new FencedError()
    })
  } catch (error) {
    if (error instanceof FencedError) return 'fenced'
    if (!isThere(error)) throw error
    if (!(await areWritten(db, lane, projected))) {
      // An earlier try shows only in part until it is over. Then this gets the lane's row.
      if (!(await cutJournal(db, lane, 0))) return 'fenced'
      if (!(await areWritten(db, lane, projected))) throw error
    }
  }
  try {
    return (await cutFreeJournal(db, lane, cut)) ? 'written' : 'fenced'
  } catch (error) {
    throw new CommitOutcomeUnknownError('records are written, and the journal is not cut', { cause: error })
  }
}

/** The lane was taken over, so what was written is rolled back. */
class FencedError extends Error {
  override readonly name = 'FencedError'
}

/** Perhaps an earlier try has written them. */
function isThere(error: unknown): boolean {
  return sqlState(error) === UNIQUE_VIOLATION || error instanceof NotInLaneError
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
      ...inTime(db),
    })
    for (const { msgId, lane } of rows) recorded.set(msgId, lane)
  }
  return recorded
}
