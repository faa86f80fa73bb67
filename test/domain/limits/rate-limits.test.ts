import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RateLimiter, refusalHeaders } from '../../../src/domain/limits/rate-limits.ts'

const limit = { perSecond: 10, burst: 5 }

const limits = fc.record({
  perSecond: fc.integer({ min: 1, max: 100 }),
  burst: fc.integer({ min: 1, max: 50 }),
})

describe('RateLimiter', () => {
  it('lets a burst pass, then one for each token that comes back', () => {
    const limiter = new RateLimiter()
    const take = (nowMs: number) => limiter.take(1, limit, nowMs)
    expect([0, 0, 0, 0, 0].map(take)).toEqual([0, 0, 0, 0, 0])
    expect(take(0)).toBe(100)
    expect(take(60)).toBeCloseTo(40)
    expect(take(100)).toBe(0)
    expect(take(100)).toBeCloseTo(100)
  })

  it('never lets more pass than burst plus what time gave', () => {
    const steps = fc.array(fc.nat({ max: 500 }), { maxLength: 200 })
    fc.assert(
      fc.property(steps, limits, (gapsMs, one) => {
        const limiter = new RateLimiter()
        let nowMs = 0
        let passed = 0
        for (const gapMs of gapsMs) {
          nowMs += gapMs
          if (limiter.take(1, one, nowMs) === 0) passed += 1
        }
        expect(passed).toBeLessThanOrEqual(one.burst + (nowMs * one.perSecond) / 1000 + 1e-6)
      }),
    )
  })

  it('takes several tokens or none, and lends to a request for more than a burst', () => {
    const limiter = new RateLimiter()
    expect(limiter.take(1, limit, 0, 3)).toBe(0)
    expect(limiter.take(1, limit, 0, 3)).toBeCloseTo(100)
    expect(limiter.left(1, limit, 0)).toBe(2)
    expect(limiter.take(1, limit, 0, 20)).toBeCloseTo(300)
    expect(limiter.take(1, limit, 300, 20)).toBe(0)
    expect(limiter.left(1, limit, 300)).toBe(0)
    expect(limiter.take(1, limit, 300)).toBeCloseTo(1_600)
  })

  it('says truly how long to wait', () => {
    fc.assert(
      fc.property(limits, fc.double({ min: 0, max: 0.99, noNaN: true }), (one, tokens) => {
        const limiter = new RateLimiter()
        for (let taken = 0; taken < one.burst; taken += 1) limiter.take(1, one, 0)
        const nowMs = (tokens / one.perSecond) * 1_000
        const waitMs = limiter.take(1, one, nowMs)
        expect(waitMs).toBeGreaterThan(0)
        expect(limiter.take(1, one, nowMs + waitMs + 1e-6)).toBe(0)
      }),
    )
  })

  it('gives nothing when the clock goes back, and takes what a lowered limit takes', () => {
    const limiter = new RateLimiter()
    for (let taken = 0; taken < limit.burst; taken += 1) limiter.take(1, limit, 1_000)
    expect(limiter.take(1, limit, 0)).toBe(100)
    limiter.take(2, { perSecond: 10, burst: 100 }, 0)
    const afterwards = Array.from({ length: 6 }, () => limiter.take(2, limit, 0))
    expect(afterwards).toEqual([0, 0, 0, 0, 0, 100])
  })

  it('tells how many may pass now, and takes none of them', () => {
    const limiter = new RateLimiter(1)
    const left = (nowMs: number) => limiter.left(1, limit, nowMs)
    expect([left(0), left(0)]).toEqual([5, 5])
    for (const nowMs of [0, 0, 0, 0, 0]) limiter.take(1, limit, nowMs)
    expect([left(0), left(99), left(100), left(250), left(10_000)]).toEqual([0, 0, 1, 2, 5])
    // Asking for another key opens no bucket, which would close this one.
    expect([limiter.left(2, limit, 0), left(0)]).toEqual([5, 0])
  })

  it('keeps keys apart, and no more of them than its bound', () => {
    const limiter = new RateLimiter(3)
    const single = { perSecond: 1, burst: 1 }
    expect([1, 2, 3].map((key) => limiter.take(key, single, 0))).toEqual([0, 0, 0])
    expect(limiter.take(1, single, 0)).toBeGreaterThan(0)
    expect(limiter.take(4, single, 0)).toBe(0)
    expect(limiter.take(3, single, 0)).toBeGreaterThan(0)
    expect(limiter.take(1, single, 0)).toBe(0)
  })
})

it('tells a refusal in whole seconds', () => {
  expect(refusalHeaders('plan', { perSecond: 2, burst: 10 }, 1_200)).toEqual({
    'retry-after': '2',
    'ratelimit-policy': '"plan";q=10;w=5',
    ratelimit: '"plan";r=0;t=2',
  })
  expect(refusalHeaders('plan', { perSecond: 1_000, burst: 10 }, 0.5)['retry-after']).toBe('1')
})
