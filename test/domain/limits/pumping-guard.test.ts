import { expect, test } from 'vitest'
import {
  belowShare,
  completeGuard,
  guardFaults,
  PrefixCounts,
  prefixOf,
} from '../../../src/domain/limits/plan-limits.ts'

const HOUR_MS = 3_600_000

test('a share is judged with enough messages only, and is too low below the one that is wanted', () => {
  const guard = completeGuard({ minDelivered: 50, minMessages: 10 })!
  const counts = (delivered: number, failed: number) => ({ delivered, failed, unknown: 0 })
  expect([counts(5, 5), counts(1, 8), counts(0, 0)].map((each) => belowShare(each, guard))).toEqual([
    null,
    null,
    null,
  ])
  expect(belowShare(counts(4, 6), guard)).toBe('delivered 4 of 10 (40 %) in 60 min, at least 50 % wanted')
  expect(belowShare(counts(0, 99), completeGuard({ messagesPerPrefix: 5 })!)).toBeNull()
})

test('a guard judges something', () => {
  expect(guardFaults(completeGuard({})!)).toMatchObject([{ field: 'pumpingGuard', code: 'REQUIRED' }])
  expect(guardFaults(completeGuard({ messagesPerPrefix: 1 })!)).toEqual([])
})

test('prefixes are reported a fiftieth of the limit at a time, and begin anew each hour', () => {
  const counts = new PrefixCounts()
  expect(prefixOf('+447400123456')).toBe('+44740012')
  const report = (messages: number, most: number, atMs = 0) =>
    Array.from({ length: messages }, (_, index) => counts.add(1, `+44740012${3456 + index}`, most, atMs))
  expect(report(5, 100)).toEqual([0, 2, 0, 2, 0])
  expect(report(2, 100, HOUR_MS)).toEqual([0, 2])
  expect(counts.add(2, '+447400123456', 100, HOUR_MS)).toBe(0)
  expect([counts.add(3, '+1', 50, 0), counts.add(3, '+1', 50, 0)]).toEqual([1, 1])
})
