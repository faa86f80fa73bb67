import { beforeEach, describe, expect, test } from 'vitest'
import { DatabaseClock } from '../../src/domain/database-clock.ts'

const DATABASE_MS = Date.UTC(2026, 0, 1)

let monotonicMs: number
let ownMs: number
let clock: DatabaseClock

beforeEach(() => {
  monotonicMs = 1_000
  ownMs = DATABASE_MS + 86_400_000
  clock = new DatabaseClock(
    () => monotonicMs,
    () => ownMs,
  )
})

/** The database answers after `tookMs`; half of it was the way there. */
function read(databaseMs: number, tookMs = 2): void {
  const askedMs = monotonicMs
  monotonicMs += tookMs
  clock.read({ databaseMs, askedMs, answeredMs: monotonicMs })
}

test("is the node's own before the database has said its time", () => {
  expect(clock.nowMs()).toBe(ownMs)
  expect(clock.isFarOff).toBe(false)
})

describe('once the database has said its time', () => {
  beforeEach(() => read(DATABASE_MS))

  test('it is that, and goes on by the monotonic clock', () => {
    expect(clock.nowMs()).toBe(DATABASE_MS + 1)
    monotonicMs += 60_000
    expect(clock.nowMs()).toBe(DATABASE_MS + 60_001)
  })

  test("a node's own clock may be set to anything", () => {
    for (const off of [-3_600_000, 0, 86_400_000]) {
      ownMs = DATABASE_MS + off
      expect(clock.nowMs()).toBe(DATABASE_MS + 1)
    }
  })

  test('a node is far off from 5 s on, ahead or behind', () => {
    for (const [off, isFarOff] of [
      [5_000, false],
      [5_001, true],
      [-5_001, true],
      [0, false],
    ] as const) {
      ownMs = clock.nowMs() + off
      expect([clock.aheadMs, clock.isFarOff]).toEqual([off, isFarOff])
    }
  })

  test('jitter of readings moves nothing; a step of the database does', () => {
    read(clock.nowMs() + 40)
    const before = clock.nowMs()
    read(before + 1)
    expect(clock.nowMs()).toBe(before + 2)
    read(before + 10_000)
    expect(clock.nowMs()).toBe(before + 10_001)
  })

  test('a reading that took longer than a second is not used', () => {
    read(DATABASE_MS + 50_000, 1_001)
    expect(clock.nowMs()).toBe(DATABASE_MS + 1 + 1_001)
  })
})
