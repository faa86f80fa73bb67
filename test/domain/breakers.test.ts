import { describe, expect, test } from 'vitest'
import { BREAKER_THRESHOLD, FailureCounts } from '../../src/domain/breakers.ts'

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
