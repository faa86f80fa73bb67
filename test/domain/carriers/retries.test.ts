import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  BackOffs,
  LIMITED_TRIES,
  nextTryMs,
  RebindCounts,
  resubmitDelayMs,
  retryDelayMs,
} from '../../../src/domain/carriers/retries.ts'
import { VALIDITY_MS } from '../../../src/domain/messages/messages.ts'

describe('retryDelayMs', () => {
  test.each([
    [1, 5_000],
    [2, 30_000],
    [3, 120_000],
    [4, 600_000],
    [5, 600_000],
    [1000, 600_000],
    [0, 5_000],
  ])('after failed attempt %i: %i ms', (failedAttempts, delayMs) => {
    expect(retryDelayMs(failedAttempts, 0.5)).toBe(delayMs)
    expect(retryDelayMs(failedAttempts, 0)).toBe(delayMs * 0.8)
    expect(retryDelayMs(failedAttempts, 1)).toBe(delayMs * 1.2)
  })
})

test('after attempts without an answer the wait doubles; a message goes out 17 times at most', () => {
  expect([0, 1, 2, 6, 7, 20].map((before) => resubmitDelayMs(120_000, before) / 60_000)).toEqual([
    2, 4, 8, 128, 128, 128,
  ])
  let sent = 0
  for (let ageMs = 0; ageMs < VALIDITY_MS; sent += 1) ageMs += resubmitDelayMs(120_000, sent)
  expect(sent).toBe(17)
})

describe('nextTryMs', () => {
  test('three tries of a limited retry', () => {
    const next = (failedAttempts: number) =>
      nextTryMs('limited-retry', { failedAttempts, leftMs: VALIDITY_MS, random: 0.5 })
    expect(LIMITED_TRIES).toBe(3)
    expect([next(1), next(2), next(3)]).toEqual([5_000, 30_000, null])
  })

  test('no try after validity', () => {
    const next = (leftMs: number) => nextTryMs('retry', { failedAttempts: 4, leftMs, random: 0.5 })
    expect(next(600_001)).toBe(600_000)
    expect(next(600_000)).toBeNull()
  })

  test('tries until validity end, whatever the jitter', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (random) => {
        let ageMs = 0
        let failedAttempts = 1
        for (;;) {
          const delayMs = nextTryMs('retry', { failedAttempts, leftMs: VALIDITY_MS - ageMs, random })
          if (delayMs === null) break
          ageMs += delayMs
          failedAttempts += 1
        }
        expect(ageMs).toBeLessThan(VALIDITY_MS)
        expect(failedAttempts).toBeLessThan(200)
      }),
    )
  })
})

describe('recipients that are backed off from', () => {
  test('nobody is backed off but who was named, and until then', () => {
    const backOffs = new BackOffs(10)
    expect(backOffs.leftMs('a', 0)).toBe(0)
    backOffs.set('a', 500)
    expect(backOffs.leftMs('a', 100)).toBe(400)
    expect(backOffs.leftMs('b', 100)).toBe(0)
    expect(backOffs.leftMs('a', 500)).toBe(0)
    expect(backOffs.size).toBe(0)
  })

  test('may be set anew, and cleared', () => {
    const backOffs = new BackOffs(10)
    backOffs.set('a', 500)
    backOffs.set('a', 300)
    expect(backOffs.leftMs('a', 100)).toBe(200)
    backOffs.delete('a')
    backOffs.delete('never set')
    expect(backOffs.leftMs('a', 100)).toBe(0)
  })
})

const session = () => ({})

describe('a message whose answers blame the session', () => {
  test('costs three sessions; a fourth is not to blame', () => {
    const counts = new RebindCounts()
    expect([1, 2, 3, 4, 5].map(() => counts.count('a', session()))).toEqual([true, true, true, false, false])
    expect(counts.count('b', session())).toBe(true)
  })

  test('several segments of it answered in one session count once', () => {
    const counts = new RebindCounts()
    for (const one of [session(), session(), session()])
      for (let segment = 0; segment < 5; segment += 1) expect(counts.count('a', one)).toBe(true)
    expect(counts.count('a', session())).toBe(false)
  })

  test('begins anew once its submission is over', () => {
    const counts = new RebindCounts()
    for (let count = 0; count < 4; count += 1) counts.count('a', session())
    counts.delete('a')
    expect(counts.count('a', session())).toBe(true)
  })

  test('no more are kept than the bound: the oldest makes room', () => {
    const counts = new RebindCounts(2)
    for (const msgId of ['a', 'b']) for (let count = 0; count < 3; count += 1) counts.count(msgId, session())
    counts.count('c', session())
    expect(counts.count('b', session())).toBe(false)
    expect(counts.count('a', session())).toBe(true)
  })
})
