import { lowestIdAt } from '../../domain/identifiers.ts'
import { DAY_MS } from '../../domain/instants.ts'
import { SUBMISSION_DAYS } from '../../domain/messages/messages.ts'
import {
  type Database,
  type Queryable,
  sqlState,
  type Transaction,
  withTransaction,
} from '../../store/database.ts'
import { dayOf, deleteKindsBefore, deletePassedKinds } from '../../store/message-kinds.ts'
import {
  createPartition,
  dropPartition,
  limitLockWait,
  listPartitions,
  PARTITIONED_TABLES,
  type PartitionedTable,
  tablesLacking,
} from '../../store/partitions.ts'

/** Days before today that get a partition, because a node's clock may be behind at midnight. */
const DAYS_BEHIND = 1
/** Days ahead that get a partition. For this long nodes may fail to make one. */
const DAYS_AHEAD = 7

/** Days whose messages have just ended. There are several, in case the service did not run. */
const FINISHED_DAYS = [SUBMISSION_DAYS, SUBMISSION_DAYS + 1, SUBMISSION_DAYS + 2]

/**
 * Days that one run of the retention may end. In normal times one day a day is over. If all clocks are a year ahead at once, this
 * loses a day an hour for each node, and not everything.
 */
const MOST_DAYS_ENDED = 1

/** Longest wait for the exclusive lock of a table. A partition that did not get it is retried later. */
const LOCK_WAIT_MS = 1_000
/** After losing this many races in a row to other nodes, with no day done meanwhile, it fails. */
const TRIES = 10

/** Errors of creating when another node was faster or is doing the same. A second look finds the partition. */
const CREATE_RACES = new Set([
  '42P07', // duplicate_table
  '23505', // unique_violation, in the system catalogue
  '42710', // duplicate_object: the row type of the table
  '42P17', // invalid_object_definition: would overlap the other's
  '40P01', // deadlock_detected
  '55P03', // lock_not_available
  'XX000', // tuple concurrently updated
])

/**
 * Errors of dropping when another node has just dropped it. A lock timeout is not one: retrying at once would hold everybody
 * up again.
 */
const DROP_RACES = new Set([
  '42P01', // undefined_table
  '40P01', // deadlock_detected
  'XX000', // could not find tuple for parent of relation
])

/**
 * Makes sure that every partitioned table has the partitions from yesterday to a week from now (UTC). Call it before any
 * insert. Several nodes may call it at once.
 */
export async function ensurePartitions(db: Database, nowMs: number): Promise<void> {
  const days = daysAround(nowMs).map(({ name }) => name)
  for (const table of await tablesLacking(db, days)) await ensureDays(db, table, nowMs)
}

async function ensureDays(db: Database, table: PartitionedTable, nowMs: number): Promise<void> {
  const missing = () => missingDays(db, table, daysAround(nowMs))
  await changeDays(db, missing, CREATE_RACES, (transaction, day) => createPartition(transaction, table, day))
}

/** Changes the partition of each day that `find` returns, until it returns none. Other nodes may do the same. */
async function changeDays<Day>(
  db: Database,
  find: () => Promise<readonly Day[]>,
  races: ReadonlySet<string>,
  change: (transaction: Transaction, day: Day) => Promise<void>,
): Promise<void> {
  let failure: unknown
  let fewest = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < TRIES; tries += 1) {
    const days = await find()
    if (days.length === 0) return
    if (days.length < fewest) tries = 0
    fewest = days.length
    try {
      for (const day of days)
        await withTransaction(db, async (transaction) => {
          await limitLockWait(transaction, LOCK_WAIT_MS)
          await change(transaction, day)
        })
    } catch (error) {
      if (!races.has(sqlState(error) ?? '')) throw error
      failure = error
    }
  }
  throw failure
}

/** Starts of the oldest days that are kept now, Unix milliseconds. `daysLeft`: older days of messages that later runs end. */
export interface Kept {
  readonly fromMs: number
  readonly submissionsFromMs: number
  readonly daysLeft: number
}

/** What is kept: `retentionDays`, or 8 days of submissions, but a run ends no more than the oldest day that is there. */
export async function findKept(db: Queryable, nowMs: number, retentionDays: number): Promise<Kept> {
  const submissions = await keptOf(db, ['submissions'], nowMs - SUBMISSION_DAYS * DAY_MS)
  const others = PARTITIONED_TABLES.filter((table) => table !== 'submissions')
  const { fromMs, daysLeft } = await keptOf(db, others, nowMs - retentionDays * DAY_MS)
  return { fromMs, submissionsFromMs: submissions.fromMs, daysLeft }
}

async function keptOf(db: Queryable, tables: readonly PartitionedTable[], dueMs: number) {
  const days = new Set<string>()
  for (const table of tables) for (const day of await listPartitions(db, table)) days.add(day)
  const over = [...days].filter((day) => day < dayName(dueMs)).sort()
  const first = over[MOST_DAYS_ENDED]
  return {
    fromMs: first === undefined ? startOfDay(dueMs) : dayMs(first),
    daysLeft: Math.max(0, over.length - MOST_DAYS_ENDED),
  }
}

/**
 * Drops the partitions of earlier days. Drops with them the kinds recorded for their messages, and the kinds that finished
 * messages no longer have.
 */
export async function dropOldPartitions(
  db: Database,
  nowMs: number,
  { fromMs, submissionsFromMs }: Kept,
): Promise<void> {
  for (const table of PARTITIONED_TABLES)
    await dropDaysBefore(db, table, dayName(table === 'submissions' ? submissionsFromMs : fromMs))
  await deleteKindsBefore(db, dayOf(lowestIdAt(fromMs)))
  const today = dayOf(lowestIdAt(nowMs))
  for (const age of FINISHED_DAYS) await deletePassedKinds(db, today - age)
}

async function dropDaysBefore(db: Database, table: PartitionedTable, firstKept: string): Promise<void> {
  const old = async () => (await listPartitions(db, table)).filter((day) => day < firstKept)
  await changeDays(db, old, DROP_RACES, (transaction, day) => dropPartition(transaction, table, day))
}

/** The partitions of these days (YYYYMMDD) that are not there. */
export async function missingPartitions(db: Queryable, days: readonly string[]): Promise<string[]> {
  const missing: string[] = []
  for (const table of PARTITIONED_TABLES) {
    const gone = await missingDays(
      db,
      table,
      days.map((name) => ({ name })),
    )
    missing.push(...gone.map(({ name }) => `${table} ${name}`))
  }
  return missing
}

async function missingDays<Day extends { readonly name: string }>(
  db: Queryable,
  table: PartitionedTable,
  days: readonly Day[],
): Promise<Day[]> {
  const present = new Set(await listPartitions(db, table))
  return days.filter(({ name }) => !present.has(name))
}

interface Day {
  readonly name: string
  readonly fromMsgId: string
  readonly toMsgId: string
}

function daysAround(nowMs: number): Day[] {
  const first = startOfDay(nowMs) - DAYS_BEHIND * DAY_MS
  return Array.from({ length: DAYS_BEHIND + 1 + DAYS_AHEAD }, (_, index) => {
    const startMs = first + index * DAY_MS
    return { name: dayName(startMs), fromMsgId: lowestIdAt(startMs), toMsgId: lowestIdAt(startMs + DAY_MS) }
  })
}

function startOfDay(ms: number): number {
  return ms - (ms % DAY_MS)
}

/** Start of a day of `dayName`. */
function dayMs(day: string): number {
  return Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6)))
}

/** YYYYMMDD in UTC. */
export function dayName(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')
}
