import { beforeEach, describe, expect, test } from 'vitest'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/instants.ts'
import { parseStatisticsQuery, type StatisticsTexts } from '../../src/domain/statistics/query.ts'
import { readStatistics } from '../../src/operations/read-statistics.ts'
import {
  deleteOldStatistics,
  nextWriter,
  rollUpStatistics,
  writeStatistics,
} from '../../src/store/statistics.ts'
import { databaseOfFile } from '../support/database.ts'
import { aDirectory } from '../support/directory.ts'
import { statisticsRow } from '../support/statistics-rows.ts'
import { clearTables } from '../support/stored-messages.ts'

/** Within an hour and a day that are not rolled up. */
const NOW_MS = Date.UTC(2026, 2, 10, 12, 30)
/** How long ago the last rolled-up hour and day ended: before all rows of these tests. */
const ROLLED_UP_MS = 2 * DAY_MS
const { db } = await databaseOfFile()

beforeEach(async () => {
  await clearTables(db, 'statistics')
  await db.query(
    `update statistics_rolled_up set until = date_trunc(case step_s when 3600 then 'hour' else 'day' end, $1, 'UTC')`,
    [new Date(NOW_MS - ROLLED_UP_MS)],
  )
})

async function read(texts: StatisticsTexts = {}, planIds: number[] | null = [1], nowMs = NOW_MS) {
  const faults: never[] = []
  const filters = { planIds, carrierId: null, routeId: null }
  const dimensions = ['servicePlanId', 'carrier', 'route', 'country', 'status', 'errorCode'] as const
  const query = parseStatisticsQuery(texts, filters, { dimensions, nowMs }, faults)
  expect(faults).toEqual([])
  return await readStatistics(db, query, { directory: aDirectory(), nowMs })
}

async function rollUp(ready = new Date(NOW_MS)): Promise<number> {
  let times = 0
  for (const step of ['hour', 'day'] as const) while (await rollUpStatistics(db, step, ready)) times += 1
  return times
}

const steps = async () =>
  (await db.query('select step_s as step, count(*)::integer as count from statistics group by 1 order by 1'))
    .rows

/** Two processes, two plans, three hours of two days. */
async function write(): Promise<void> {
  const buckets = (place: number) => Array.from({ length: 16 }, (_, at) => (at === place ? 3 : 0))
  for (const writer of [await nextWriter(db), await nextWriter(db)]) {
    for (const atMs of [NOW_MS - 26 * HOUR_MS, NOW_MS - 3 * HOUR_MS, NOW_MS - MINUTE_MS]) {
      const figures = {
        accepted: 5,
        failed: 2,
        segments: 7,
        accept: buckets(4),
        currencies: ['USD'],
        prices: [7_500],
      }
      const codes = { codes: [301, 1_600], codeCounts: [2, 1] }
      await writeStatistics(db, writer, [
        statisticsRow({ atMs, ...figures, ...codes }),
        statisticsRow({ atMs, country: 'GB', delivered: 1, currencies: ['EUR', 'USD'], prices: [1, 2] }),
        statisticsRow({ atMs, planId: 2, accepted: 100 }),
        statisticsRow({ atMs, planId: 0, country: '', accepted: 105, failed: 2, delivered: 1 }),
      ])
    }
  }
}

describe('rows of processes', () => {
  test('add up, and a row written again replaces itself', async () => {
    const writers = [await nextWriter(db), await nextWriter(db)]
    expect(writers[0]).not.toBe(writers[1])
    const row = { atMs: NOW_MS - MINUTE_MS, country: 'US' }
    for (const writer of writers) await writeStatistics(db, writer, [statisticsRow({ ...row, accepted: 1 })])
    for (let times = 0; times < 2; times += 1)
      await writeStatistics(db, writers[0]!, [statisticsRow({ ...row, accepted: 3 })])
    expect((await read()).series[0]!.totals.accepted).toBe(4)
  })

  test('of another plan are never read', async () => {
    await write()
    expect((await read({}, [1])).series[0]!.totals).toMatchObject({ accepted: 20, delivered: 4 })
    expect((await read({}, [2])).series[0]!.totals).toMatchObject({ accepted: 400, delivered: 0 })
    expect((await read({}, [])).series[0]!.totals.accepted).toBe(0)
    const byPlan = await read({ groupBy: 'servicePlanId' }, [2])
    expect(byPlan.series.map(({ group }) => group)).toEqual([{ servicePlanId: '#2', servicePlanName: null }])
  })

  test('of all plans are read as their sums, unless plans or countries are told apart', async () => {
    await write()
    expect((await read({}, null)).series[0]!.totals).toMatchObject({ accepted: 420, failed: 8 })
    const byPlan = await read({ groupBy: 'servicePlanId' }, null)
    expect(byPlan.series.map(({ totals }) => totals.accepted)).toEqual([400, 20])
    await db.query('delete from statistics where plan_id > 0')
    expect((await read({}, null)).series[0]!.totals.accepted).toBe(420)
  })
})

describe('rolled up', () => {
  test('an answer is the same before and after, by hour and by day', async () => {
    await write()
    const range = { fromDate: new Date(NOW_MS - 2 * DAY_MS).toISOString() }
    const questions: StatisticsTexts[] = [
      { ...range, interval: 'hour' },
      { ...range, interval: 'day' },
      { ...range, interval: 'day', groupBy: 'country,errorCode' },
      { ...range, interval: 'hour', groupBy: 'country' },
    ]
    const before = await Promise.all(questions.map((texts) => read(texts)))
    await rollUp()
    expect((await steps()).map(({ step }) => step)).toEqual([60, 3_600, 86_400])
    await db.query(
      `delete from statistics where step_s = 60 and at < date_trunc('hour', $1::timestamptz, 'UTC')`,
      [new Date(NOW_MS)],
    )
    expect(await Promise.all(questions.map((texts) => read(texts)))).toEqual(before)
  })

  test('a day of more than fits into its counts has as much as fits', async () => {
    const writer = await nextWriter(db)
    const large = 1_500_000_000
    const buckets = Array.from({ length: 16 }, (_, at) => (at === 0 ? large : 0))
    const figures = { accepted: 2, segments: large, accept: buckets, codes: [301], codeCounts: [large] }
    const day = NOW_MS - DAY_MS
    await writeStatistics(
      db,
      writer,
      [day, day + MINUTE_MS, day + HOUR_MS].map((atMs) => statisticsRow({ atMs, ...figures })),
    )
    await rollUp()
    const { rows } = await db.query(`
      select step_s as step, accepted, segments, accept_0, accept_1, code_counts[1] as codes from statistics
      where step_s > 60 order by step, at`)
    const full = { segments: 2_147_483_647, accept_0: 2_147_483_647, accept_1: null, codes: 2_147_483_647 }
    expect(rows).toEqual([
      { step: 3_600, ...full, accepted: 4 },
      { step: 3_600, accepted: 2, segments: large, accept_0: large, accept_1: null, codes: large },
      { step: 86_400, ...full, accepted: 6 },
    ])
  })

  test('by several nodes at once, and again, it happens once', async () => {
    await write()
    await Promise.all([rollUp(), rollUp(), rollUp()])
    expect(await rollUp()).toBe(0)
    const range = { fromDate: new Date(NOW_MS - 2 * DAY_MS).toISOString(), interval: 'day' }
    expect((await read(range)).series[0]!.totals.accepted).toBe(30)
    const { rows } = await db.query(`
      select step_s as step, sum(accepted)::integer as accepted from statistics
      where plan_id = 1 group by 1 order by 1`)
    expect(rows).toEqual([
      { step: 60, accepted: 30 },
      { step: 3_600, accepted: 20 },
      { step: 86_400, accepted: 10 },
    ])
  })
})

describe('retention', () => {
  const olderThan = (minutesMs: number, othersMs: number) => ({
    minutes: new Date(NOW_MS - minutesMs),
    others: new Date(NOW_MS - othersMs),
  })

  test('no minutes go before they are rolled up', async () => {
    await write()
    expect(await deleteOldStatistics(db, olderThan(0, DAY_MS), 1_000)).toBe(0)
    await rollUp()
    expect(await deleteOldStatistics(db, olderThan(HOUR_MS, 10 * DAY_MS), 1_000)).toBe(16)
    expect((await steps())[0]).toEqual({ step: 60, count: 8 })
  })

  test('hours and days go when they are older, a batch at a time', async () => {
    await write()
    await rollUp()
    expect(await deleteOldStatistics(db, olderThan(10 * DAY_MS, HOUR_MS), 5)).toBe(5)
    await deleteOldStatistics(db, olderThan(10 * DAY_MS, HOUR_MS), 1_000)
    expect((await steps()).map(({ step }) => step)).toEqual([60])
  })
})
