import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ATTEMPT_DELAYS_MS,
  MAX_ATTEMPTS,
  nextAttempt,
  parseRetryAfter,
} from '../../src/domain/webhook-schedule.ts'

const MIDDLE = { random: 0.5, retryAfterMs: null }

describe('nextAttempt', () => {
  test('0, 5 s, 30 s, 2 m, 10 m, 30 m, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h, then no more', () => {
    const delays = Array.from({ length: 12 }, (_, attempt) => nextAttempt(attempt, MIDDLE))
    const seconds = [0, 5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
    expect(delays).toEqual(seconds.map((delay) => ({ delayMs: delay * 1_000 })))
    expect(nextAttempt(12, MIDDLE)).toBe('exhausted')
    expect(nextAttempt(13, { random: 0, retryAfterMs: 1_000 })).toBe('exhausted')
    expect(MAX_ATTEMPTS).toBe(12)
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
