import { describe, expect, it } from 'vitest'
import { Throttle } from '../../src/domain/throttles.ts'

function sendFor(throttle: Throttle, fromMs: number, toMs: number): number {
  let sent = 0
  for (let nowMs = fromMs; nowMs < toMs; ) {
    const waitMs = throttle.take(nowMs)
    if (waitMs === 0) sent += 1
    else nowMs += waitMs
  }
  return sent
}

describe('Throttle', () => {
  it('keeps to the configured rate', () => {
    const sent = sendFor(new Throttle(50, 0), 0, 10_000)
    expect(sent).toBeGreaterThanOrEqual(495)
    expect(sent).toBeLessThanOrEqual(506)
  })

  it('has no limit of its own', () => {
    const throttle = new Throttle(null, 0)
    for (let sent = 0; sent < 10_000; sent += 1) expect(throttle.take(0)).toBe(0)
  })

  it('halves once a second however many answers say so', () => {
    const throttle = new Throttle(100, 0)
    sendFor(throttle, 0, 2_000)
    throttle.throttled(2_000)
    throttle.throttled(2_010)
    throttle.throttled(2_999)
    expect(throttle.ratePerS).toBeGreaterThan(45)
    throttle.throttled(3_001)
    expect(throttle.ratePerS).toBeLessThan(30)
  })

  it('recovers by 5 % a second, up to the limit', () => {
    const throttle = new Throttle(100, 0)
    sendFor(throttle, 0, 2_000)
    throttle.throttled(2_000)
    const halved = throttle.ratePerS
    throttle.take(3_000)
    expect(throttle.ratePerS / halved).toBeCloseTo(1.05, 3)
    throttle.take(60_000)
    expect(throttle.ratePerS).toBe(100)
  })

  it('learns a rate where none is configured, and forgets it when it has grown away', () => {
    const throttle = new Throttle(null, 0)
    for (let nowMs = 0; nowMs < 2_000; nowMs += 1) throttle.take(nowMs)
    throttle.throttled(2_000)
    expect(throttle.ratePerS).toBeGreaterThan(400)
    expect(throttle.ratePerS).toBeLessThan(600)
    throttle.take(200_000)
    expect(throttle.ratePerS).toBe(Number.POSITIVE_INFINITY)
  })

  it('never stops altogether', () => {
    const throttle = new Throttle(2, 0)
    for (let nowMs = 0; nowMs < 20_000; nowMs += 1_000) throttle.throttled(nowMs)
    expect(throttle.ratePerS).toBeGreaterThanOrEqual(1)
  })
})
