import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ATTEMPT_DELAYS_MS,
  type AttemptOutcome,
  afterAttempt,
  BREAKER_THRESHOLD,
  FailureCounts,
  nextAttempt,
  parseRetryAfter,
  SCHEDULE_MS,
} from '../../src/domain/webhook-schedule.ts'

const MIDDLE = { random: 0.5, retryAfterMs: null }

describe('nextAttempt', () => {
  test('0, 5 s, 30 s, 2 m, 10 m, 30 m, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h, then no more', () => {
    const delays = Array.from({ length: 12 }, (_, attempt) => nextAttempt(attempt, MIDDLE))
    const seconds = [0, 5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
    expect(delays).toEqual(seconds.map((delay) => ({ delayMs: delay * 1_000 })))
    expect(nextAttempt(12, MIDDLE)).toBe('exhausted')
    expect(nextAttempt(13, { random: 0, retryAfterMs: 1_000 })).toBe('exhausted')
    expect(ATTEMPT_DELAYS_MS).toHaveLength(12)
  })

  test('jitter is at most a fifth either way', () => {
    expect(nextAttempt(1, { random: 0, retryAfterMs: null })).toEqual({ delayMs: 4_000 })
    expect(nextAttempt(1, { random: 0.999_999, retryAfterMs: null })).toEqual({ delayMs: 6_000 })
  })

  test.each([
    [0, 5_000],
    [7_000, 7_000],
    [10_000, 10_000],
    [3_600_000, 10_000],
  ])('Retry-After of %i ms before attempt 2 waits %i ms', (retryAfterMs, delayMs) => {
    expect(nextAttempt(1, { random: 0.9, retryAfterMs })).toEqual({ delayMs })
  })

  test('stays within the bounds for any attempt and wish', () => {
    const anyWish = fc.option(fc.nat(), { nil: null })
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 11 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        anyWish,
        (n, random, wish) => {
          const baseMs = ATTEMPT_DELAYS_MS[n] ?? 0
          const next = nextAttempt(n, { random, retryAfterMs: wish })
          if (next === 'exhausted') throw new Error('too early')
          expect(next.delayMs).toBeGreaterThanOrEqual(baseMs * 0.8)
          expect(next.delayMs).toBeLessThanOrEqual(baseMs * 2)
        },
      ),
    )
  })
})

const FAILURE: AttemptOutcome = { ok: false, gone: false, retryAfterMs: null }

/** Everything that follows an event's first attempt, while each fails in the same way. */
function walk(outcome: AttemptOutcome, random: number, own = false): number[] {
  const delays: number[] = []
  for (let attempt = 0; ; attempt += 1) {
    const decision = afterAttempt(attempt, outcome, { own, random, leftMs: 0 })
    if (decision.kind !== 'again') return delays
    delays.push(decision.delayMs)
  }
}

const CONFIGURED = { own: false, leftMs: 0, random: 0.5 }

describe('afterAttempt', () => {
  test('2xx delivers, whichever attempt it is', () => {
    for (let attempt = 0; attempt < ATTEMPT_DELAYS_MS.length; attempt += 1)
      expect(afterAttempt(attempt, { ...FAILURE, ok: true }, { own: false, random: 0, leftMs: 0 })).toEqual({
        kind: 'delivered',
      })
  })

  test('the whole schedule: twelve attempts, then it has failed', () => {
    const delays = walk(FAILURE, 0.5)
    expect(delays).toEqual(ATTEMPT_DELAYS_MS.slice(1))
    expect(afterAttempt(11, FAILURE, CONFIGURED)).toEqual({ kind: 'failed' })
    const sumMs = delays.reduce((sum, delayMs) => sum + delayMs, 0)
    expect(sumMs).toBe(((75 * 60 + 42) * 60 + 35) * 1_000)
    expect(SCHEDULE_MS).toBeGreaterThan(sumMs + ATTEMPT_DELAYS_MS.length * 60_000)
  })

  test('slots that were used up early leave one more attempt, at the end', () => {
    const early = { ...CONFIGURED, leftMs: 20 * 3_600_000 }
    expect(afterAttempt(11, FAILURE, early)).toEqual({ kind: 'again', delayMs: early.leftMs })
    expect(afterAttempt(12, FAILURE, early)).toEqual({ kind: 'again', delayMs: early.leftMs })
    expect(afterAttempt(12, FAILURE, { ...early, leftMs: 0 })).toEqual({ kind: 'failed' })
    // A schedule whose every wait was 20 % short is no early one.
    expect(afterAttempt(11, FAILURE, { ...early, leftMs: 0.2 * SCHEDULE_MS })).toEqual({ kind: 'failed' })
  })

  test('410 ends the event when the URL is its own, else it is a failure like others', () => {
    const gone = { ...FAILURE, gone: true }
    expect(afterAttempt(0, gone, { ...CONFIGURED, own: true })).toEqual({ kind: 'failed' })
    expect(afterAttempt(0, gone, CONFIGURED)).toEqual({ kind: 'again', delayMs: 5_000 })
    expect(afterAttempt(0, FAILURE, { ...CONFIGURED, own: true })).toEqual({ kind: 'again', delayMs: 5_000 })
    expect(afterAttempt(11, gone, CONFIGURED)).toEqual({ kind: 'failed' })
  })

  test('a Retry-After is held between once and twice the delay it replaces', () => {
    expect(walk({ ...FAILURE, retryAfterMs: 0 }, 0.9)).toEqual(ATTEMPT_DELAYS_MS.slice(1))
    const longest = walk({ ...FAILURE, retryAfterMs: 864_000_000 }, 0.1)
    expect(longest).toEqual(ATTEMPT_DELAYS_MS.slice(1).map((delayMs) => 2 * delayMs))
  })

  test('whatever is answered: eleven delays, each within its bounds', () => {
    const wish = fc.option(fc.nat(864_000_000), { nil: null })
    const circumstances = fc.record({
      wish,
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    })
    fc.assert(
      fc.property(circumstances, fc.boolean(), ({ wish: retryAfterMs, random }, gone) => {
        const delays = walk({ ok: false, gone, retryAfterMs }, random)
        expect(delays).toHaveLength(ATTEMPT_DELAYS_MS.length - 1)
        for (const [index, delayMs] of delays.entries()) {
          const baseMs = ATTEMPT_DELAYS_MS[index + 1]!
          expect(delayMs).toBeGreaterThanOrEqual(baseMs * (retryAfterMs === null ? 0.8 : 1))
          expect(delayMs).toBeLessThanOrEqual(baseMs * (retryAfterMs === null ? 1.2 : 2))
        }
      }),
    )
  })
})

describe('parseRetryAfter', () => {
  const NOW_MS = Date.UTC(2026, 0, 1)

  test.each([
    [undefined, null],
    ['', null],
    ['0', 0],
    [' 120 ', 120_000],
    ['9999999999', 864_000_000],
    ['-1', null],
    ['1.5', null],
    ['soon', null],
    ['1-2', null],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['Fri, 01 Jan 2100 00:00:00 GMT', 864_000_000],
    ['Thu, 99 Foo 2026 00:01:00 GMT', null],
  ])('%j gives %j', (value, expected) => {
    expect(parseRetryAfter(value, NOW_MS)).toBe(expected)
  })
})

const ORIGIN = 'https://example.com'

describe('FailureCounts', () => {
  test('counts failures in a row', () => {
    const counts = new FailureCounts()
    for (let count = 1; count <= BREAKER_THRESHOLD; count += 1) expect(counts.failed(1, ORIGIN)).toBe(count)
    counts.succeeded(1, ORIGIN)
    expect(counts.failed(1, ORIGIN)).toBe(1)
  })

  test('by plan and by destination', () => {
    const counts = new FailureCounts()
    counts.failed(1, ORIGIN)
    expect(counts.failed(11, ORIGIN)).toBe(1)
    expect(counts.failed(1, `${ORIGIN}:8443`)).toBe(1)
    counts.succeeded(1, `${ORIGIN}:8443`)
    counts.succeeded(2, ORIGIN)
    expect(counts.failed(1, ORIGIN)).toBe(2)
    expect(counts.failed(11, ORIGIN)).toBe(2)
  })

  test('forgets the endpoint whose last failure is the oldest, and those that succeed', () => {
    const counts = new FailureCounts(2)
    counts.failed(1, ORIGIN)
    counts.failed(2, ORIGIN)
    counts.failed(1, ORIGIN)
    counts.failed(3, ORIGIN)
    expect(counts.size).toBe(2)
    expect(counts.failed(1, ORIGIN)).toBe(3)
    expect(counts.failed(2, ORIGIN)).toBe(1)
    counts.succeeded(1, ORIGIN)
    counts.succeeded(2, ORIGIN)
    expect(counts.size).toBe(0)
  })

  test('has a bound of its own', () => {
    const counts = new FailureCounts()
    for (let planId = 0; planId < 10_001; planId += 1) counts.failed(planId, ORIGIN)
    expect(counts.size).toBe(10_000)
    expect(counts.failed(1, ORIGIN)).toBe(2)
    expect(counts.failed(0, ORIGIN)).toBe(1)
  })
})
