import { describe, expect, it } from 'vitest'
import { CarrierThrottle } from '../../../src/domain/carriers/throttle.ts'
import {
  exchange,
  fixedWindow,
  type Limiter,
  slidingWindow,
  tokenBucket,
  totals,
} from '../../support/rate-limiters.ts'

function sendFor(throttle: CarrierThrottle, fromMs: number, toMs: number): number {
  let sent = 0
  for (let nowMs = fromMs; nowMs < toMs; ) {
    const waitMs = throttle.waitMs(nowMs)
    if (waitMs === 0) throttle.sent(nowMs)
    if (waitMs === 0) sent += 1
    else nowMs += waitMs
  }
  return sent
}

describe('a configured rate', () => {
  it('is kept', () => {
    const sent = sendFor(new CarrierThrottle(50, 0), 0, 10_000)
    expect(sent).toBeGreaterThanOrEqual(495)
    expect(sent).toBeLessThanOrEqual(506)
  })

  it('is what was sent in a second', () => {
    const throttle = new CarrierThrottle(50, 0)
    sendFor(throttle, 0, 10_000)
    expect(throttle.sentLastSecond(10_000)).toBeCloseTo(50, -1)
    expect(throttle.sentLastSecond(12_000)).toBe(0)
  })

  it('is not used up by looking', () => {
    const throttle = new CarrierThrottle(50, 0)
    for (let look = 0; look < 100; look += 1) expect(throttle.waitMs(0)).toBe(0)
    throttle.sent(0)
    expect(throttle.waitMs(0)).toBe(20)
  })

  it('may be none', () => {
    const throttle = new CarrierThrottle(null, 0)
    for (let sent = 0; sent < 10_000; sent += 1) {
      expect(throttle.waitMs(0)).toBe(0)
      throttle.sent(0)
    }
    expect(throttle.isReduced).toBe(false)
  })

  it('is the most, whatever the carrier takes', () => {
    const throttle = new CarrierThrottle(100, 0)
    const limiter = tokenBucket(() => 80, 10)
    const seconds = exchange({ limiter, throttle, latencyMs: 20, window: 50, seconds: 60 })
    expect(throttle.isReduced).toBe(true)
    expect(Math.max(...seconds.map(({ accepted, throttled }) => accepted + throttled))).toBeLessThanOrEqual(
      111,
    )
    exchange({ limiter: () => true, throttle, latencyMs: 20, window: 50, seconds: 60 })
    expect(throttle.ratePerS).toBeLessThanOrEqual(100)
  })
})

/** Messages a second of the carrier in most of these. */
const LIMIT = 200
const KINDS: Record<string, (perS: () => number) => Limiter> = {
  'a fixed window': fixedWindow,
  'a sliding window': slidingWindow,
  'a token bucket of 1': (perS) => tokenBucket(perS, 1),
  'a token bucket of 50': (perS) => tokenBucket(perS, 50),
  'a token bucket of 200': (perS) => tokenBucket(perS, 200),
}

describe.each(Object.entries(KINDS))(
  'a carrier that takes 200 messages a second, by %s',
  (_name, limiterOf) => {
    it.each([
      [5, 10],
      [5, 100],
      [50, 20],
      [50, 100],
      [200, 100],
      [500, 100],
    ])(
      'latency %i ms, window %i: nine tenths of it are used over 60 s, and seldom more',
      (latencyMs, window) => {
        const limiter = limiterOf(() => LIMIT)
        const seconds = exchange({ limiter, latencyMs, window, seconds: 60 })
        const possible = Math.min(LIMIT, (window * 1_000) / latencyMs)
        expect(totals(seconds).accepted / 60).toBeGreaterThanOrEqual(0.9 * possible)
        const { accepted, throttled } = totals(seconds.slice(5))
        expect(throttled / (accepted + throttled)).toBeLessThanOrEqual(0.02)
      },
    )
  },
)

describe.each([
  ['a fixed window', fixedWindow],
  ['a sliding window', slidingWindow],
  ['a token bucket of 50', KINDS['a token bucket of 50']!],
])('a limit that changes, by %s', (_name, limiterOf) => {
  it.each([5, 100])('is followed down and up, latency %i ms', (latencyMs) => {
    let perS = 200
    const limiter = limiterOf(() => perS)
    const throttle = new CarrierThrottle(null, 0)
    const phase = (limit: number, startS: number, seconds: number) => {
      perS = limit
      return exchange({ limiter, throttle, latencyMs, window: 100, startS, seconds })
    }
    phase(200, 0, 30)
    const down = phase(50, 30, 30)
    expect(totals(down).throttled).toBeLessThan(400)
    expect(totals(down.slice(5)).accepted).toBeGreaterThanOrEqual(0.9 * 50 * 25)
    expect(totals(down.slice(5)).throttled).toBeLessThan(0.05 * 50 * 25)
    const up = phase(400, 60, 60)
    expect(totals(up.slice(25)).accepted).toBeGreaterThanOrEqual(0.9 * 400 * 35)
    expect(totals(up.slice(25)).throttled).toBeLessThan(0.05 * 400 * 35)
  })
})

describe('a carrier that takes nothing at all', () => {
  it('is asked seldom, and used in full soon after it opens', () => {
    const throttle = new CarrierThrottle(null, 0)
    exchange({ limiter: () => true, throttle, latencyMs: 50, window: 20, seconds: 10 })
    const shut = exchange({
      limiter: () => false,
      throttle,
      latencyMs: 50,
      window: 20,
      startS: 10,
      seconds: 60,
    })
    expect(totals(shut.slice(1, 10)).throttled).toBeLessThanOrEqual(90)
    expect(totals(shut.slice(10)).throttled).toBeLessThanOrEqual(75)
    expect(throttle.ratePerS).toBeGreaterThanOrEqual(1)
    const limiter = tokenBucket(() => LIMIT, 50)
    const open = exchange({ limiter, throttle, latencyMs: 50, window: 20, startS: 70, seconds: 30 })
    expect(totals(open.slice(15)).accepted).toBeGreaterThanOrEqual(0.9 * LIMIT * 15)
  })
})

describe('cuts', () => {
  it('come once a second however many answers ask for one', () => {
    const throttle = new CarrierThrottle(100, 0)
    sendFor(throttle, 0, 2_000)
    for (const nowMs of [2_000, 2_010, 2_999]) throttle.throttled(nowMs, nowMs)
    expect(throttle.ratePerS).toBeCloseTo(50, 0)
    throttle.throttled(3_001, 3_001)
    expect(throttle.ratePerS).toBeLessThan(30)
  })

  it('are no deeper than half', () => {
    const throttle = new CarrierThrottle(100, 0)
    sendFor(throttle, 0, 2_000)
    throttle.throttled(2_000, 2_000)
    expect(throttle.ratePerS).toBeGreaterThanOrEqual(49)
  })

  it('never lead above the configured rate', () => {
    const throttle = new CarrierThrottle(0.25, 0)
    sendFor(throttle, 0, 20_000)
    throttle.throttled(20_000, 20_000)
    expect(throttle.ratePerS).toBeLessThanOrEqual(0.25)
  })

  it('grow only while the rate is used, and are forgotten when it has grown away', () => {
    const throttle = new CarrierThrottle(null, 0)
    const limiter = tokenBucket(() => LIMIT, 50)
    exchange({ limiter, throttle, latencyMs: 5, window: 100, seconds: 20 })
    const learned = throttle.ratePerS
    expect(learned).toBeGreaterThan(180)
    expect(learned).toBeLessThan(220)
    throttle.waitMs(3_600_000)
    expect(throttle.ratePerS).toBeLessThan(1.02 * learned)
    // Without a limit the exchange itself takes long: it ends with the second in which the limit is forgotten.
    for (let startS = 3_600; startS < 3_660 && Number.isFinite(throttle.ratePerS); startS += 1)
      exchange({ limiter: () => true, throttle, latencyMs: 5, window: 1_000, startS, seconds: 1 })
    expect(throttle.ratePerS).toBe(Number.POSITIVE_INFINITY)
  })
})
