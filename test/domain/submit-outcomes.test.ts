import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ambiguityWaitMs,
  LIMITED_TRIES,
  nextTryMs,
  retryDelayMs,
  type SubmitOutcome,
  submitOutcome,
  VALIDITY_MS,
} from '../../src/domain/submit-outcomes.ts'

describe('submitOutcome', () => {
  test.each<[number, SubmitOutcome]>([
    [0x00, 'accepted'],
    [0x58, 'throttled'],
    [0x08, 'retry'],
    [0x14, 'retry'],
    [0x64, 'retry'],
    [0x45, 'limited-retry'],
    [0xfe, 'limited-retry'],
    [0xff, 'limited-retry'],
    [0x400, 'limited-retry'],
    [0x4ff, 'limited-retry'],
    [0x04, 'rebind'],
    [0x05, 'rebind'],
    [0x0d, 'rebind'],
    [0x0e, 'rebind'],
    [0x0f, 'rebind'],
    [0x53, 'rebind'],
    [0x01, 'permanent'],
    [0x0a, 'permanent'],
    [0x0b, 'permanent'],
    [0x3ff, 'permanent'],
    [0x500, 'permanent'],
    [0xffffffff, 'permanent'],
  ])('0x%s is %s', (commandStatus, kind) => {
    expect(submitOutcome(commandStatus)).toEqual({ kind })
  })

  test("a carrier's own table is asked first", () => {
    const overrides = new Map<number, SubmitOutcome>([[0x0b, 'retry']])
    expect(submitOutcome(0x0b, overrides)).toEqual({ kind: 'retry' })
    expect(submitOutcome(0x58, overrides)).toEqual({ kind: 'throttled' })
  })
})

describe('retryDelayMs', () => {
  test.each([
    [1, 5_000],
    [2, 30_000],
    [3, 120_000],
    [4, 600_000],
    [5, 600_000],
    [1000, 600_000],
    [0, 5_000],
  ])('after try %i: %i ms', (attempt, delayMs) => {
    expect(retryDelayMs(attempt, 0.5)).toBe(delayMs)
    expect(retryDelayMs(attempt, 0)).toBe(delayMs * 0.8)
    expect(retryDelayMs(attempt, 1)).toBe(delayMs * 1.2)
  })
})

test('after attempts without an answer the wait doubles; a message goes out 17 times at most', () => {
  expect([0, 1, 2, 6, 7, 20].map((before) => ambiguityWaitMs(120_000, before) / 60_000)).toEqual([
    2, 4, 8, 128, 128, 128,
  ])
  let sent = 0
  for (let ageMs = 0; ageMs < VALIDITY_MS; sent += 1) ageMs += ambiguityWaitMs(120_000, sent)
  expect(sent).toBe(17)
})

describe('nextTryMs', () => {
  test('three tries of the limited kind', () => {
    const next = (attempt: number) =>
      nextTryMs('limited-retry', { attempt, leftMs: VALIDITY_MS, jitter: 0.5 })
    expect(LIMITED_TRIES).toBe(3)
    expect([next(1), next(2), next(3)]).toEqual([5_000, 30_000, null])
  })

  test('no try after validity', () => {
    const next = (leftMs: number) => nextTryMs('retry', { attempt: 4, leftMs, jitter: 0.5 })
    expect(next(600_001)).toBe(600_000)
    expect(next(600_000)).toBeNull()
  })

  test('tries until validity end, whatever the jitter', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (jitter) => {
        let ageMs = 0
        let attempt = 1
        for (;;) {
          const delayMs = nextTryMs('retry', { attempt, leftMs: VALIDITY_MS - ageMs, jitter })
          if (delayMs === null) break
          ageMs += delayMs
          attempt += 1
        }
        expect(ageMs).toBeLessThan(VALIDITY_MS)
        expect(attempt).toBeLessThan(200)
      }),
    )
  })
})
