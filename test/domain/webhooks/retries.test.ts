import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ATTEMPT_DELAYS_MS,
  type AttemptOutcome,
  afterAttempt,
  BREAKER_THRESHOLD,
  FailureCounts,
  parseRetryAfter,
  SCHEDULE_MS,
} from '../../../src/domain/webhooks/retries.ts'
import type { Endpoint } from '../../../src/domain/webhooks/targets.ts'

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
    const seconds = [5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
    expect(delays).toEqual(seconds.map((delay) => delay * 1_000))
    expect(ATTEMPT_DELAYS_MS).toEqual([0, ...delays])
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

  test('jitter is at most a fifth either way', () => {
    expect(walk(FAILURE, 0)[0]).toBe(4_000)
    expect(walk(FAILURE, 0.999_999)[0]).toBe(6_000)
  })

  test.each([
    [0, 5_000],
    [7_000, 7_000],
    [10_000, 10_000],
    [3_600_000, 10_000],
  ])('Retry-After of %i ms before attempt 2 waits %i ms', (retryAfterMs, delayMs) => {
    expect(walk({ ...FAILURE, retryAfterMs }, 0.9)[0]).toBe(delayMs)
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

const at = (planId: number, destination = 'https://example.com'): Endpoint => ({ planId, destination })
const OTHER = 'https://example.com:8443'

describe('FailureCounts', () => {
  test('counts failures in a row', () => {
    const counts = new FailureCounts()
    for (let count = 1; count <= BREAKER_THRESHOLD; count += 1) expect(counts.count(at(1))).toBe(count)
    counts.clear(at(1))
    expect(counts.count(at(1))).toBe(1)
  })

  test('by plan and by destination', () => {
    const counts = new FailureCounts()
    counts.count(at(1))
    expect(counts.count(at(11))).toBe(1)
    expect(counts.count(at(1, OTHER))).toBe(1)
    counts.clear(at(1, OTHER))
    counts.clear(at(2))
    expect(counts.count(at(1))).toBe(2)
    expect(counts.count(at(11))).toBe(2)
  })

  test('forgets the endpoint whose last failure is the oldest, and those that succeed', () => {
    const counts = new FailureCounts(2)
    counts.count(at(1))
    counts.count(at(2))
    counts.count(at(1))
    counts.count(at(3))
    expect(counts.count(at(1))).toBe(3)
    expect(counts.count(at(2))).toBe(1)
  })

  test('has a bound of its own', () => {
    const counts = new FailureCounts()
    for (let planId = 0; planId < 10_001; planId += 1) counts.count(at(planId))
    expect(counts.count(at(1))).toBe(2)
    expect(counts.count(at(0))).toBe(1)
  })
})
