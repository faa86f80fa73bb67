import { describe, expect, test } from 'vitest'
import {
  belowShare,
  capFaults,
  capsOf,
  completeCaps,
  completeGuard,
  countOf,
  guardFaults,
  judgeRecipient,
  limitFaults,
  PrefixCounts,
  periodAt,
  prefixOf,
  reachedPercents,
} from '../../../src/domain/limits/plan-limits.ts'
import { aDirectory, aPlan } from '../../support/directory.ts'

test('judgeRecipient: all countries, or those of the list; a number of no country only without a list', () => {
  const nordic = aPlan({ allowedCountries: new Set(['SE', 'NO']) })
  const codes = (plan: typeof nordic) =>
    ['+46701234567', '+4740123456', '+447400123456', '+882161234567'].map(
      (to) => judgeRecipient(plan, to)?.code ?? null,
    )
  expect(codes(aPlan())).toEqual([null, null, null, null])
  expect(codes(nordic)).toEqual([null, null, 'COUNTRY_NOT_ALLOWED', 'COUNTRY_NOT_ALLOWED'])
  expect(judgeRecipient(nordic, '+447400123456')?.message).toContain('GB')
})

test('limitFaults names a country that does not exist', () => {
  expect(limitFaults({})).toEqual([])
  const [fault, ...more] = limitFaults({ allowedCountries: ['SE', 'XX'] })
  expect([fault, more]).toMatchObject([{ field: 'allowedCountries.1', code: 'NOT_FOUND' }, []])
})

describe('caps of a plan', () => {
  test('periods are days and months of UTC', () => {
    const at = Date.parse('2028-02-29T23:59:59.999Z')
    expect(periodAt('day', at)).toEqual({ begins: '2028-02-29', endsMs: at + 1 })
    expect(periodAt('month', at)).toEqual({ begins: '2028-02-01', endsMs: at + 1 })
    const next = periodAt('month', Date.parse('2026-12-31T00:00:00Z'))
    expect([next.begins, new Date(next.endsMs).toISOString()]).toEqual([
      '2026-12-01',
      '2027-01-01T00:00:00.000Z',
    ])
  })

  test.each([
    [{ messagesPerDay: 10 }, []],
    [{ costPerDay: 0.5, currency: 'EUR' }, []],
    [{}, ['caps']],
    [{ currency: 'EUR', messagesPerDay: 1 }, ['caps.currency']],
    [{ costPerMonth: '12.50' }, ['caps.currency']],
    [{ costPerDay: 1e-7, currency: 'EUR' }, ['caps.costPerDay']],
  ])('faults of %j', (given, fields) => {
    expect(capFaults(completeCaps(given)!).map(({ field }) => field)).toEqual(fields)
  })

  test('amounts are stored in one form, and counted in millionths', () => {
    const caps = completeCaps({
      messagesPerMonth: 5,
      costPerDay: '2.500',
      costPerMonth: 10,
      currency: 'EUR',
    })!
    expect(caps).toMatchObject({ costPerDay: '2.5', costPerMonth: '10' })
    expect(capsOf(caps)).toEqual([
      { unit: 'messages', step: 'month', most: 5 },
      { unit: 'EUR', step: 'day', most: 2_500_000 },
      { unit: 'EUR', step: 'month', most: 10_000_000 },
    ])
  })

  test('a message counts 1, and costs price and fee of all segments in the currency of the cap', () => {
    const rate = {
      id: 1,
      planId: null,
      prefix: null,
      country: null,
      mccmnc: null,
      price: '0.02',
      ptf: '0.000001',
    }
    const directory = aDirectory({ plans: [aPlan()], rates: [{ ...rate, currency: 'EUR' }] })
    const message = { planId: 1, recipient: '+46701234567', segments: 3 }
    const counts = ['messages', 'EUR', 'USD'].map((unit) =>
      countOf({ unit, step: 'day', most: 1 }, message, directory),
    )
    expect(counts).toEqual([1, 60_003, 0])
    expect(countOf({ unit: 'EUR', step: 'day', most: 1 }, message, aDirectory())).toBe(0)
  })

  test('80 and 100 % are told once each', () => {
    const cap = { unit: 'messages', step: 'day', most: 10 } as const
    expect([7, 8, 10].map((count) => reachedPercents(cap, count, 0))).toEqual([[], [80], [80, 100]])
    expect([8, 10].map((count) => reachedPercents(cap, count, 80))).toEqual([[], [100]])
    expect(reachedPercents(cap, 10, 100)).toEqual([])
  })
})

describe('the guard against pumping', () => {
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
})
