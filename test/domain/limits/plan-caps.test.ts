import { expect, test } from 'vitest'
import {
  capFaults,
  capsOf,
  completeCaps,
  countOf,
  periodAt,
  reachedPercents,
} from '../../../src/domain/limits/plan-limits.ts'
import { aDirectory, aPlan } from '../../support/directory.ts'

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
  const caps = completeCaps({ messagesPerMonth: 5, costPerDay: '2.500', costPerMonth: 10, currency: 'EUR' })!
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
