import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  belowFloor,
  deliveryRate,
  latencyBucket,
  minuteOf,
  noCounts,
  percentileMs,
  QualityTallies,
  RECEIPT_LATENCY_BOUNDS_MS,
  SUBMIT_LATENCY_BOUNDS_MS,
} from '../../../src/domain/carriers/quality.ts'

const FLOOR = { minDelivered: 80, windowMinutes: 60, minMessages: 10, pauseMinutes: 15 }

function histogram(bounds: readonly number[], latencies: readonly number[]): number[] {
  const counts = new Array<number>(bounds.length + 1).fill(0)
  for (const latency of latencies) counts[latencyBucket(bounds, latency)]! += 1
  return counts
}

describe('percentiles of a histogram', () => {
  test('a bound belongs to the bucket below it', () => {
    expect(histogram([1, 2, 5], [0, 1, 1.5, 2, 5, 5.1, 900])).toEqual([2, 2, 1, 2])
  })

  test('none of nothing', () => {
    expect(percentileMs(SUBMIT_LATENCY_BOUNDS_MS, noCounts().submitLatency, 0.5)).toBeNull()
  })

  test('straight between the bounds', () => {
    const counts = histogram([10, 20, 40], [12, 14, 16, 18, 21, 22, 23, 39])
    expect(percentileMs([10, 20, 40], counts, 0.25)).toBe(15)
    expect(percentileMs([10, 20, 40], counts, 0.5)).toBe(20)
    expect(percentileMs([10, 20, 40], counts, 0.75)).toBe(30)
  })

  test('never above the greatest there was', () => {
    const counts = histogram(SUBMIT_LATENCY_BOUNDS_MS, [6, 7, 61_000])
    expect(percentileMs(SUBMIT_LATENCY_BOUNDS_MS, counts, 1, 61_000)).toBe(61_000)
    expect(percentileMs(SUBMIT_LATENCY_BOUNDS_MS, histogram(SUBMIT_LATENCY_BOUNDS_MS, [6]), 0.95, 6)).toBe(6)
  })

  test('what is above the last bound counts as that bound where the greatest is not known', () => {
    const counts = histogram(RECEIPT_LATENCY_BOUNDS_MS, [1e9])
    expect(percentileMs(RECEIPT_LATENCY_BOUNDS_MS, counts, 0.5)).toBe(RECEIPT_LATENCY_BOUNDS_MS.at(-1))
  })

  test('is in the bucket of the true percentile', () => {
    const latencies = fc.array(fc.integer({ min: 1, max: 60_000 }), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(latencies, fc.double({ min: 0.01, max: 1, noNaN: true }), (values, share) => {
        const sorted = values.toSorted((a, b) => a - b)
        const exact = sorted[Math.ceil(share * sorted.length) - 1]!
        const bounds = SUBMIT_LATENCY_BOUNDS_MS
        const found = percentileMs(bounds, histogram(bounds, values), share, sorted.at(-1)!)!
        const upper = bounds.find((bound) => bound >= exact) ?? Number.POSITIVE_INFINITY
        const lower = bounds.findLast((bound) => bound < exact) ?? 0
        expect(found).toBeGreaterThanOrEqual(lower)
        expect(found).toBeLessThanOrEqual(upper)
      }),
    )
  })
})

describe('the floor', () => {
  test('judges nothing with fewer finals than it asks for', () => {
    expect(belowFloor({ delivered: 0, failed: 5, unknown: 4 }, FLOOR)).toBeNull()
  })

  test('is met exactly', () => {
    expect(belowFloor({ delivered: 8, failed: 1, unknown: 1 }, FLOOR)).toBeNull()
  })

  test('counts what failed and what is not known, and says why', () => {
    const reason = 'delivered 79 of 100 (79 %) in 60 min, floor 80 %'
    expect(belowFloor({ delivered: 79, failed: 20, unknown: 1 }, FLOOR)).toBe(reason)
  })

  test('has no rounding: 1 of 1,000,000 too few is too few', () => {
    const counts = { delivered: 799_999, failed: 200_001, unknown: 0 }
    expect(deliveryRate(counts)).toBe(80)
    expect(belowFloor(counts, FLOOR)).not.toBeNull()
  })
})

test('the delivery rate of nothing is not known', () => {
  expect(deliveryRate({ delivered: 0, failed: 0, unknown: 0 })).toBeNull()
})

test('minutes begin at whole minutes', () => {
  const atMs = Date.UTC(2026, 2, 10, 12, 34, 56, 789)
  expect(new Date(minuteOf(atMs)).toISOString()).toBe('2026-03-10T12:34:00.000Z')
})

const MINUTE_MS = 60_000
const AT_MS = Date.UTC(2026, 2, 10, 12)
const PAIR = { carrierId: 3, routeId: 7 }

test('counts by minute, carrier and route, and drops what was taken', () => {
  const tallies = new QualityTallies()
  tallies.submitted(AT_MS + 1, PAIR, 'accepted', 12)
  tallies.submitted(AT_MS + 59_999, PAIR, 'throttled', 700)
  tallies.submitted(AT_MS + 2, PAIR, 'noAnswer', null)
  tallies.submitted(AT_MS + MINUTE_MS, PAIR, 'refused', 3)
  tallies.sent(AT_MS, { carrierId: 7, routeId: 3 })
  const rows = tallies.take()
  expect(rows.map(({ minuteMs, carrierId, routeId }) => [minuteMs, carrierId, routeId])).toEqual([
    [AT_MS, 3, 7],
    [AT_MS, 7, 3],
    [AT_MS + MINUTE_MS, 3, 7],
  ])
  const [first, other] = rows
  expect(first!.counts).toMatchObject({ accepted: 1, throttled: 1, noAnswer: 1, refused: 0, sent: 0 })
  expect(first!.counts.submitLatencyMaxMs).toBe(700)
  expect(first!.counts.submitLatency.reduce((sum, count) => sum + count)).toBe(2)
  expect(other!.counts).toEqual({ ...noCounts(), sent: 1 })
  expect(tallies.take()).toEqual([])
})

test('a message that was UNKNOWN and is no longer counts once', () => {
  const tallies = new QualityTallies()
  tallies.finished(AT_MS, PAIR, 'unknown', 900, false)
  tallies.finished(AT_MS, PAIR, 'delivered', 5_000, true)
  const [row] = tallies.take()
  expect(row!.counts).toMatchObject({ delivered: 1, unknown: 0 })
  expect(row!.counts.receiptLatency.reduce((sum, count) => sum + count)).toBe(1)
})

test('counts that are restored are added to what came meanwhile', () => {
  const tallies = new QualityTallies()
  const count = () => {
    tallies.submitted(AT_MS, PAIR, 'accepted', 4)
    tallies.finished(AT_MS, PAIR, 'failed', 4, false)
  }
  count()
  const rows = tallies.take()
  count()
  tallies.submitted(AT_MS, PAIR, 'accepted', 2)
  tallies.restore(rows)
  const all = new QualityTallies()
  for (const latencyMs of [4, 4, 2]) all.submitted(AT_MS, PAIR, 'accepted', latencyMs)
  for (let time = 0; time < 2; time += 1) all.finished(AT_MS, PAIR, 'failed', 4, false)
  expect(tallies.take()).toEqual(all.take())
})

test('what finds no room is dropped and said; what has a place goes on', () => {
  const tallies = new QualityTallies()
  for (let minute = 0; minute < 15_003; minute += 1) tallies.sent(AT_MS + minute * MINUTE_MS, PAIR)
  tallies.sent(AT_MS, PAIR)
  expect(tallies.takeDropped()).toBe(3)
  expect(tallies.takeDropped()).toBe(0)
  const rows = tallies.take()
  expect(rows).toHaveLength(15_000)
  expect(rows[0]!.counts.sent).toBe(2)
  tallies.sent(AT_MS, PAIR)
  expect(tallies.take()).toHaveLength(1)
})
