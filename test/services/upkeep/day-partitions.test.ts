import { describe, expect, test } from 'vitest'
import { highestIdAt, lowestIdAt } from '../../../src/domain/identifiers.ts'
import { dropOldPartitions, ensurePartitions, findKept } from '../../../src/services/upkeep/day-partitions.ts'
import type { Database } from '../../../src/store/database.ts'
import { createPartition, listPartitions, PARTITIONED_TABLES } from '../../../src/store/partitions.ts'
import { freshDatabase } from '../../support/database.ts'
import { gatedDatabase } from '../../support/gated-database.ts'
import { otherPool } from '../../support/installation.ts'

const DAY_MS = 86_400_000
const NOW_MS = Date.UTC(2026, 1, 26, 23, 59, 59, 999)
const DAYS = [
  '20260225',
  '20260226',
  '20260227',
  '20260228',
  '20260301',
  '20260302',
  '20260303',
  '20260304',
  '20260305',
]

describe('ensurePartitions', () => {
  test('makes the days from yesterday to a week ahead, and on the next day one more', async () => {
    await using fresh = await freshDatabase()
    await ensurePartitions(fresh.db, NOW_MS)
    await ensurePartitions(fresh.db, NOW_MS)
    expect(await allPartitions(fresh.db)).toEqual(PARTITIONED_TABLES.map(() => DAYS))
    await ensurePartitions(fresh.db, NOW_MS + 1)
    expect(await allPartitions(fresh.db)).toEqual(PARTITIONED_TABLES.map(() => [...DAYS, '20260306']))

    // Each takes the first and the last message of its day.
    const midnight = Date.UTC(2026, 1, 26)
    const ids = [lowestIdAt(midnight), highestIdAt(midnight + DAY_MS - 1), lowestIdAt(midnight + DAY_MS)]
    for (const id of ids) await addSubmission(fresh.db, id)
    const { rows } = await fresh.db.query(
      'select tableoid::regclass::text as name from submissions order by msg_id',
    )
    expect(rows.map(({ name }) => name)).toEqual([
      'submissions_20260226',
      'submissions_20260226',
      'submissions_20260227',
    ])
  })

  test('from several processes at once', async () => {
    await using fresh = await freshDatabase()
    await using others = new AsyncDisposableStack()
    const pools = Array.from({ length: 3 }, () => others.use(otherPool(fresh.connectionString)).db)
    await Promise.all([...pools, ...pools].map((db) => ensurePartitions(db, NOW_MS)))
    expect(await allPartitions(fresh.db)).toEqual(PARTITIONED_TABLES.map(() => DAYS))
  })

  test('as many races as it takes may be lost while days get done; several in a row without one are a failure', async () => {
    await using fresh = await freshDatabase()
    await ensurePartitions(fresh.db, NOW_MS)
    for (const day of DAYS) await fresh.db.query(`drop table messages_${day}`)
    let transactions = 0
    const losing = (isLost: (count: number) => boolean) =>
      gatedDatabase(
        fresh.db,
        async (name, run) => {
          if (name === 'commit' && isLost(++transactions)) await deadlock(fresh.db)
          return await run()
        },
        { inTransactions: true },
      )
    await expect(
      ensurePartitions(
        losing(() => true),
        NOW_MS,
      ),
    ).rejects.toMatchObject({ code: '40P01' })
    expect(transactions).toBe(10)
    await ensurePartitions(
      losing((count) => count % 3 !== 0),
      NOW_MS,
    )
    expect(await allPartitions(fresh.db)).toEqual(PARTITIONED_TABLES.map(() => DAYS))
  })

  test('passes on what is not a race', async () => {
    await using fresh = await freshDatabase({ state: 'empty' })
    await expect(ensurePartitions(fresh.db, NOW_MS)).rejects.toThrow(/messages/)
  })
})

describe('dropOldPartitions', () => {
  test('drops whole days beyond the retention and nothing else, one in a run', async () => {
    await using fresh = await freshDatabase()
    for (const age of [37, 36, 35, 34, 9, 8, 7, 0]) await addDay(fresh.db, age)
    for (const age of [36, 35, 9, 8]) {
      await addSubmission(fresh.db, highestIdAt(startOfDay(age) + DAY_MS - 1))
      await addUnowned(fresh.db, lowestIdAt(startOfDay(age)))
    }
    const daysLeft: number[] = []
    for (let run = 0; run < 6; run += 1) daysLeft.push(await dropOld(fresh.db))
    expect(daysLeft).toEqual([1, 0, 0, 0, 0, 0])
    const kept = [35, 34, 9, 8, 7, 0].map(nameOf)
    const keptSubmissions = [8, 7, 0].map(nameOf)
    expect(await allPartitions(fresh.db)).toEqual(
      PARTITIONED_TABLES.map((table) => (table === 'submissions' ? keptSubmissions : kept)),
    )
    const { rows } = await fresh.db.query('select msg_id from submissions')
    expect(rows.map(({ msg_id }) => msg_id)).toEqual([highestIdAt(startOfDay(8) + DAY_MS - 1)])
    expect((await fresh.db.query('select from unowned_inbound_messages')).rowCount).toBe(4)
    expect(await findKept(fresh.db, NOW_MS, 35)).toEqual({
      fromMs: startOfDay(35),
      submissionsFromMs: startOfDay(8),
      daysLeft: 0,
    })
  })

  test('loses the oldest day, and no more, when all clocks are a year ahead', async () => {
    await using fresh = await freshDatabase()
    for (const age of [3, 2, 1, 0]) await addDay(fresh.db, age)
    expect(await dropOld(fresh.db, NOW_MS + 365 * DAY_MS)).toBe(3)
    expect(await allPartitions(fresh.db)).toEqual(PARTITIONED_TABLES.map(() => [2, 1, 0].map(nameOf)))
  })

  test('from several processes at once', async () => {
    await using fresh = await freshDatabase()
    await using others = new AsyncDisposableStack()
    const pools = Array.from({ length: 4 }, () => others.use(otherPool(fresh.connectionString)).db)
    for (const age of [40, 39, 38, 1]) await addDay(fresh.db, age)
    for (let run = 0; run < 3; run += 1) await Promise.all([...pools, ...pools].map((db) => dropOld(db)))
    expect(await allPartitions(fresh.db)).toEqual(PARTITIONED_TABLES.map(() => [nameOf(1)]))
  })

  test('gives way to a reader instead of holding everybody up behind it', async () => {
    await using fresh = await freshDatabase()
    await addDay(fresh.db, 40)
    const reader = await fresh.db.connect()
    await reader.query('begin')
    await reader.query('select from messages')
    await expect(dropOld(fresh.db)).rejects.toMatchObject({ code: '55P03' })
    await reader.query('rollback')
    reader.release()
    await dropOld(fresh.db)
    expect(await listPartitions(fresh.db, 'messages')).toEqual([])
  })
})

/** One run of the retention. Returns how many days it leaves to later ones. */
async function dropOld(db: Database, nowMs = NOW_MS): Promise<number> {
  const kept = await findKept(db, nowMs, 35)
  await dropOldPartitions(db, nowMs, kept)
  return kept.daysLeft
}

/** Rejects as the server does when two transactions lock each other out. */
async function deadlock(db: Database): Promise<void> {
  await db.query(`do $$ begin raise exception 'a deadlock' using errcode = '40P01'; end $$`)
}

async function allPartitions(db: Database): Promise<string[][]> {
  return Promise.all(PARTITIONED_TABLES.map((table) => listPartitions(db, table)))
}

function startOfDay(ageDays: number): number {
  return Date.UTC(2026, 1, 26) - ageDays * DAY_MS
}

function nameOf(ageDays: number): string {
  return new Date(startOfDay(ageDays)).toISOString().slice(0, 10).replaceAll('-', '')
}

async function addDay(db: Database, ageDays: number): Promise<void> {
  const startMs = startOfDay(ageDays)
  const day = {
    name: nameOf(ageDays),
    fromMsgId: lowestIdAt(startMs),
    toMsgId: lowestIdAt(startMs + DAY_MS),
  }
  for (const table of PARTITIONED_TABLES) await createPartition(db, table, day)
}

async function addSubmission(db: Database, msgId: string): Promise<void> {
  await db.query(
    `insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, segment) values (1, 'x', $1, 1, 0)`,
    [msgId],
  )
}

async function addUnowned(db: Database, msgId: string): Promise<void> {
  await db.query(
    `insert into unowned_inbound_messages (msg_id, carrier_id, sender, recipient, body) values ($1, 1, '', '', '')`,
    [msgId],
  )
}
