import { describe, expect, test } from 'vitest'
import {
  BackOffs,
  BREAKER_THRESHOLD,
  FailureCounts,
  type LinkFailure,
  nextPauseMs,
  RebindCounts,
} from '../../src/domain/back-offs.ts'

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

const session = () => ({})

describe('a message whose answers blame the session', () => {
  test('costs three sessions; a fourth is not to blame', () => {
    const counts = new RebindCounts()
    expect([1, 2, 3, 4, 5].map(() => counts.blamesLink('a', session()))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
    expect(counts.blamesLink('b', session())).toBe(true)
  })

  test('several segments of it answered in one session count once', () => {
    const counts = new RebindCounts()
    for (const one of [session(), session(), session()])
      for (let segment = 0; segment < 5; segment += 1) expect(counts.blamesLink('a', one)).toBe(true)
    expect(counts.blamesLink('a', session())).toBe(false)
  })

  test('begins anew once its submission is over', () => {
    const counts = new RebindCounts()
    for (let count = 0; count < 4; count += 1) counts.blamesLink('a', session())
    counts.forget('a')
    expect(counts.blamesLink('a', session())).toBe(true)
  })

  test('no more are kept than the bound: the oldest makes room', () => {
    const counts = new RebindCounts(2)
    for (const msgId of ['a', 'b'])
      for (let count = 0; count < 3; count += 1) counts.blamesLink(msgId, session())
    counts.blamesLink('c', session())
    expect(counts.blamesLink('b', session())).toBe(false)
    expect(counts.blamesLink('a', session())).toBe(true)
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

describe('the pause before another bind', () => {
  const pauses = (failure: LinkFailure, fromMs = 0) => {
    const all: number[] = []
    for (let lastMs = fromMs; all.length < 14; all.push(lastMs / 1_000))
      lastMs = nextPauseMs(failure, { lastMs, firstMs: 1_000, closes: all.length + 1 })
    return all
  }

  test('doubles up to five seconds while the carrier cannot be reached', () => {
    expect(pauses('unreached').slice(0, 5)).toEqual([1, 2, 4, 5, 5])
  })

  test('doubles up to a minute while the carrier refuses, to five while it refuses the credentials', () => {
    expect(pauses('refused').slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    expect(pauses('unauthorized').slice(6, 10)).toEqual([64, 128, 256, 300])
  })

  test('stays short for eight closed sessions, as of a carrier that restarts, and then doubles up to a minute', () => {
    expect(pauses('closed')).toEqual([1, 2, 4, 5, 5, 5, 5, 5, 10, 20, 40, 60, 60, 60])
  })

  test('of a carrier that comes back and refuses the first binds grows from five seconds', () => {
    expect(pauses('refused', pauses('unreached').at(-1)! * 1_000).slice(0, 4)).toEqual([10, 20, 40, 60])
    expect(pauses('unreached', 300_000)[0]).toBe(5)
  })
})
