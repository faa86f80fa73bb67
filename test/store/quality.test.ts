import { beforeEach, describe, expect, test } from 'vitest'
import { noCounts, type QualityCounts } from '../../src/domain/carriers/quality.ts'
import {
  addQualityMinutes,
  deleteOldQualityMinutes,
  endPause,
  listPauses,
  pauseCarriers,
  qualitySeries,
  readFloorFigures,
  sumQuality,
} from '../../src/store/quality.ts'
import { otherPool } from '../support/installation.ts'
import { watchedCarriers } from '../support/watched-carriers.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const NOW_MS = Date.UTC(2026, 2, 10, 12)
const now = new Date(NOW_MS)

const { db, connectionString, carriers, routes } = await watchedCarriers()

beforeEach(() => db.query('truncate quality_minutes, carrier_pauses'))

/** Counts of acme in the watched route, unless others are named. */
function minute(
  ageMinutes: number,
  counts: Partial<QualityCounts>,
  pair: { carrier?: number; route?: number } = {},
) {
  return {
    routeId: routes[pair.route ?? 0]!,
    carrierId: carriers[pair.carrier ?? 0]!,
    minuteMs: NOW_MS - ageMinutes * MINUTE_MS,
    counts: { ...noCounts(), ...counts },
  }
}

function selection(minutes: number, pair: { carrier?: number; route?: number } = {}) {
  return {
    from: new Date(NOW_MS - minutes * MINUTE_MS),
    missingBefore: new Date(NOW_MS - 10 * MINUTE_MS),
    carrierId: pair.carrier === undefined ? null : carriers[pair.carrier]!,
    routeId: pair.route === undefined ? null : routes[pair.route]!,
  }
}

function figures(at = now) {
  return readFloorFigures(db, [{ routeId: routes[0]!, windowMinutes: 60 }], at)
}

function pause(minutes: number, at = now) {
  const pair = { routeId: routes[0]!, carrierId: carriers[0]! }
  return pauseCarriers(db, [{ ...pair, minutes, reason: 'too few' }], at)
}

describe('minutes', () => {
  test('two nodes that write the same minute at once add up', async () => {
    await using other = otherPool(connectionString)
    const submitLatency = noCounts().submitLatency
    submitLatency[2] = 1
    submitLatency[14] = 2
    const row = (submitLatencyMaxMs: number) =>
      minute(1, { accepted: 3, refused: 1, noAnswer: 1, sent: 2, submitLatency, submitLatencyMaxMs })
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        addQualityMinutes(index % 2 === 0 ? db : other.db, [
          row(40_000.4 + index),
          minute(1, { throttled: 1 }, { carrier: 1 }),
        ]),
      ),
    )
    const [acme, backup] = await sumQuality(db, selection(60), 10)
    expect(acme).toMatchObject({ carrier: 'acme', route: 'watched', accepted: 60, refused: 20, noAnswer: 20 })
    expect(acme!.submitLatency).toEqual([0, 0, 20, ...new Array(11).fill(0), 40])
    expect(acme!.submitLatencyMaxMs).toBe(40_020)
    expect(backup).toMatchObject({ carrier: 'backup', throttled: 20, accepted: 0, sent: 0 })
    const { rows } = await db.query('select count(*) as count from quality_minutes')
    expect(rows[0].count).toBe(2)
  })

  test('are summed from the first on, by carrier and route as asked for', async () => {
    await addQualityMinutes(db, [
      minute(60, { accepted: 1 }),
      minute(61, { accepted: 100 }),
      minute(5, { accepted: 2 }, { carrier: 1 }),
      minute(5, { accepted: 4 }, { route: 1 }),
    ])
    const sums = async (pair: { carrier?: number; route?: number }) =>
      (await sumQuality(db, selection(60, pair), 10)).map(({ accepted }) => accepted)
    expect(await sums({})).toEqual([4, 1, 2])
    expect(await sums({ carrier: 0 })).toEqual([4, 1])
    expect(await sums({ route: 0 })).toEqual([1, 2])
    expect(await sums({ carrier: 1, route: 1 })).toEqual([])
    const busiest = await sumQuality(db, selection(60), 1)
    expect(busiest.map(({ route }) => route)).toEqual(['free'])
  })

  test('a receipt is missing after ten minutes, and what a crash has lost makes none appear', async () => {
    await addQualityMinutes(db, [
      minute(9, { sent: 5 }),
      minute(11, { sent: 5, delivered: 2, failed: 1, unknown: 1 }),
      minute(12, { sent: 0, delivered: 3, unknown: -1 }),
    ])
    expect((await sumQuality(db, selection(60), 10))[0]).toMatchObject({
      sent: 10,
      missing: 1,
      unknown: 0,
    })
    expect((await sumQuality(db, selection(10), 10))[0]).toMatchObject({ sent: 5, missing: 0 })
  })

  test('as a series, by steps', async () => {
    await addQualityMinutes(db, [
      minute(1, { accepted: 1 }),
      minute(1, { accepted: 2 }, { carrier: 1 }),
      minute(59, { accepted: 4 }),
      minute(61, { accepted: 8 }),
    ])
    const series = async (stepSeconds: number) =>
      (await qualitySeries(db, selection(100), stepSeconds)).map(({ at, accepted }) => [
        (NOW_MS - at.getTime()) / MINUTE_MS,
        accepted,
      ])
    expect(await series(60)).toEqual([
      [61, 8],
      [59, 4],
      [1, 3],
    ])
    expect(await series(3_600)).toEqual([
      [120, 8],
      [60, 7],
    ])
  })

  test('old ones go in batches', async () => {
    const age = (Date.now() - NOW_MS) / MINUTE_MS
    await addQualityMinutes(
      db,
      [0, 60, 61, 62].map((minutes) => minute(age * -1 + minutes, { accepted: minutes })),
    )
    expect(await deleteOldQualityMinutes(db, HOUR_MS, 2)).toBe(2)
    expect(await deleteOldQualityMinutes(db, HOUR_MS, 2)).toBe(1)
    const { rows } = await db.query('select accepted from quality_minutes')
    expect(rows).toEqual([{ accepted: 0 }])
  })
})

describe('what a floor looks at', () => {
  test('every carrier of the route, the messages of its window only', async () => {
    await addQualityMinutes(db, [
      minute(60, { delivered: 1, failed: 2 }),
      minute(61, { delivered: 50 }),
      minute(2, { delivered: 4, unknown: 8 }),
      minute(2, { delivered: 99 }, { route: 1 }),
    ])
    expect(await figures()).toEqual([
      { routeId: routes[0], carrierId: carriers[0], delivered: 5, failed: 2, unknown: 8 },
      { routeId: routes[0], carrierId: carriers[1], delivered: 0, failed: 0, unknown: 0 },
    ])
  })

  test('not a carrier that is out of use; afterwards only what was sent since', async () => {
    await addQualityMinutes(db, [minute(5, { failed: 20 }), minute(-16, { failed: 3 })])
    expect(await pause(15)).toEqual([{ routeId: routes[0], carrierId: carriers[0] }])
    expect((await figures()).map(({ carrierId }) => carrierId)).toEqual([carriers[1]])
    const later = new Date(NOW_MS + 20 * MINUTE_MS)
    expect((await figures(later))[0]).toMatchObject({ carrierId: carriers[0], failed: 3 })
  })
})

describe('pauses', () => {
  test('of two nodes that judge at once, one takes the carrier out of use', async () => {
    await using other = otherPool(connectionString)
    const pairs = [{ routeId: routes[0]!, carrierId: carriers[0]!, minutes: 15, reason: 'too few' }]
    const done = await Promise.all([
      pauseCarriers(db, pairs, now),
      pauseCarriers(other.db, pairs, new Date(NOW_MS + 1)),
    ])
    expect(done.flat()).toHaveLength(1)
    const [only, ...more] = await listPauses(db, now)
    expect(more).toEqual([])
    expect(only).toMatchObject({ carrier: 'acme', route: 'watched', reason: 'too few' })
    expect(only!.until.getTime() - only!.since.getTime()).toBe(15 * MINUTE_MS)
  })

  test('end by themselves, and begin again', async () => {
    await pause(15)
    expect(await listPauses(db, new Date(NOW_MS + 15 * MINUTE_MS))).toEqual([])
    const later = new Date(NOW_MS + 16 * MINUTE_MS)
    expect(await pause(30, later)).toHaveLength(1)
    expect((await listPauses(db, later))[0]!.until).toEqual(new Date(NOW_MS + 46 * MINUTE_MS))
  })

  test('an operator ends one, by names or numbers; figures read before do not begin it again', async () => {
    await pause(15)
    const ended = new Date(NOW_MS + 5_000)
    expect(await endPause(db, { route: 'free', carrier: 'acme' }, ended)).toBeNull()
    const pair = { route: 'watched', carrier: String(carriers[0]) }
    const until = new Date(NOW_MS + 15 * MINUTE_MS)
    expect(await endPause(db, pair, ended)).toMatchObject({ route: 'watched', carrier: 'acme', until })
    expect(await listPauses(db, ended)).toEqual([])
    expect(await endPause(db, { route: 'watched', carrier: 'acme' }, ended)).toBeNull()
    expect(await pause(15, new Date(NOW_MS + 4_000))).toEqual([])
    expect(await pause(15, ended)).toHaveLength(1)
  })

  test('are only of routes that have a floor and the carrier', async () => {
    const pair = { routeId: routes[1]!, carrierId: carriers[0]!, minutes: 5, reason: 'too few' }
    await pauseCarriers(db, [pair, { ...pair, carrierId: 1_000_000 }], now)
    const { rows } = await db.query('select route_id from carrier_pauses')
    expect(rows).toEqual([{ route_id: routes[1] }])
    expect(await listPauses(db, now)).toEqual([])
  })
})
