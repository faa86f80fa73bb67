import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bucket, RateLimiter, refusalHeaders, takeToken } from '../../src/domain/rate-limits.ts'

const limit = { perSecond: 10, burst: 5 }

describe('takeToken', () => {
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
    const limits = fc.record({
      perSecond: fc.integer({ min: 1, max: 100 }),
      burst: fc.integer({ min: 1, max: 50 }),
    })
    fc.assert(
      fc.property(steps, limits, (gapsMs, one) => {
        let bucket: Bucket | undefined
        let nowMs = 0
        let passed = 0
        for (const gapMs of gapsMs) {
          nowMs += gapMs
          const taken = takeToken(bucket, one, nowMs)
          bucket = taken.bucket
          if (taken.waitMs === 0) passed += 1
        }
        expect(passed).toBeLessThanOrEqual(one.burst + (nowMs * one.perSecond) / 1000 + 1e-6)
      }),
    )
  })

  it('says truly how long to wait', () => {
    const limits = fc.record({
      perSecond: fc.integer({ min: 1, max: 100 }),
      burst: fc.integer({ min: 1, max: 50 }),
    })
    fc.assert(
      fc.property(limits, fc.double({ min: 0, max: 0.99, noNaN: true }), (one, tokens) => {
        const { bucket, waitMs } = takeToken({ tokens, updatedMs: 0 }, one, 0)
        expect(waitMs).toBeGreaterThan(0)
        expect(takeToken(bucket, one, waitMs + 1e-6).waitMs).toBe(0)
      }),
    )
  })

  it('gives nothing when the clock goes back, and takes what a lowered limit takes', () => {
    expect(takeToken({ tokens: 0, updatedMs: 1_000 }, limit, 0).waitMs).toBe(100)
    expect(takeToken({ tokens: 100, updatedMs: 0 }, limit, 0).bucket.tokens).toBe(4)
  })
})

describe('RateLimiter', () => {
  it('keeps keys apart, and no more of them than its bound', () => {
    const limiter = new RateLimiter(3)
    const single = { perSecond: 1, burst: 1 }
    expect([1, 2, 3].map((key) => limiter.take(key, single, 0))).toEqual([0, 0, 0])
    expect(limiter.take(1, single, 0)).toBeGreaterThan(0)
    expect(limiter.take(4, single, 0)).toBe(0)
    expect(limiter.size).toBe(3)
    expect(limiter.take(3, single, 0)).toBeGreaterThan(0)
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
