import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { Rate } from '../../../src/domain/configuration/configuration.ts'
import { chargeFor, formatAmount, type Priced, parseAmount } from '../../../src/domain/routing/rates.ts'
import { ratesOf } from '../../support/directory.ts'

const MOST = 99_999_999_999_999n

describe('parseAmount', () => {
  test.each([
    ['0', 0n],
    ['0.000000', 0n],
    ['0.0075', 7_500n],
    ['0.007500', 7_500n],
    ['00.10', 100_000n],
    ['12', 12_000_000n],
    ['99999999.999999', MOST],
  ])('%s', (text, millionths) => {
    expect(parseAmount(text)).toBe(millionths)
  })

  test.each([
    '',
    ' 1',
    '1 ',
    '1\n',
    '-1',
    '+1',
    '.5',
    '1.',
    '1,5',
    '1e-3',
    '0x1',
    '1.0000000',
    '100000000',
    'NaN',
    '١',
  ])('%j is no amount', (text) => {
    expect(parseAmount(text)).toBeNull()
  })
})

describe('formatAmount', () => {
  test.each([
    [0n, '0'],
    [1n, '0.000001'],
    [7_500n, '0.0075'],
    [100_000n, '0.1'],
    [10_000_000n, '10'],
    [MOST, '99999999.999999'],
    [MOST + 1n, '99999999.999999'],
  ])('%s', (millionths, text) => {
    expect(formatAmount(millionths)).toBe(text)
  })

  it('writes what is read back as the same amount, and as a JSON number loses nothing', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: MOST }), (millionths) => {
        const text = formatAmount(millionths)
        expect(parseAmount(text)).toBe(millionths)
        expect(text).not.toMatch(/\.$|\.\d*0$/)
        expect(parseAmount(Number(text).toFixed(6))).toBe(millionths)
      }),
    )
  })
})

const NOWHERE = { prefix: null, country: null, mccmnc: null }

function rate(name: string, fields: Partial<Rate> = {}): Rate {
  return { id: 1, planId: null, ...NOWHERE, price: '0.01', ptf: '0', currency: name, ...fields }
}

const MESSAGE: Priced = { planId: 1, recipient: '+447700900123', country: 'GB', mccmnc: '23410' }

describe('the most specific rate', () => {
  const all = [
    rate('NET', { mccmnc: '23410' }),
    rate('LON', { prefix: '+4477009' }),
    rate('PRE', { prefix: '+44' }),
    rate('CTY', { country: 'GB' }),
    rate('ANY'),
  ]

  it('is that of the network, the longest prefix, the country, then anywhere', () => {
    const order = []
    for (let left = [...all]; left.length > 0; ) {
      const found = ratesOf(left).rateFor(MESSAGE)!
      order.push(found.currency)
      left = left.filter(({ currency }) => currency !== found.currency)
    }
    expect(order).toEqual(['NET', 'LON', 'PRE', 'CTY', 'ANY'])
  })

  it("is one of the plan's own, whatever those for all plans name", () => {
    const table = ratesOf([...all, rate('OWN', { planId: 1 })])
    expect(table.rateFor(MESSAGE)?.currency).toBe('OWN')
    expect(table.rateFor({ ...MESSAGE, planId: 2 })?.currency).toBe('NET')
  })

  it('is one for all plans where none of the plan fits', () => {
    const table = ratesOf([rate('OWN', { planId: 1, country: 'SE' }), rate('CTY', { country: 'GB' })])
    expect(table.rateFor(MESSAGE)?.currency).toBe('CTY')
  })

  test.each([
    ['another network', rate('X', { mccmnc: '23415' })],
    ['another prefix', rate('X', { prefix: '+4478' })],
    ['a prefix longer than the number', rate('X', { prefix: '+4477009001234' })],
    ['another country', rate('X', { country: 'JE' })],
    ['another plan', rate('X', { planId: 2 })],
  ])('is none with only one of %s', (_name, other) => {
    expect(ratesOf([other]).rateFor(MESSAGE)).toBeNull()
  })

  it('of a number without country and network is by prefix or anywhere', () => {
    const unknown = { ...MESSAGE, recipient: '+8835100000000', country: null, mccmnc: null }
    expect(ratesOf(all).rateFor(unknown)?.currency).toBe('ANY')
    expect(ratesOf([rate('PRE', { prefix: '+883' })]).rateFor(unknown)?.currency).toBe('PRE')
    expect(ratesOf([]).rateFor(unknown)).toBeNull()
  })

  it('is what comparing every rate gives', () => {
    const destination = fc.oneof(
      fc.constant(NOWHERE),
      fc.constantFrom('+4', '+44', '+447', '+4477', '+46').map((prefix) => ({ ...NOWHERE, prefix })),
      fc.constantFrom('GB', 'SE').map((country) => ({ ...NOWHERE, country })),
      fc.constantFrom('23410', '23415').map((mccmnc) => ({ ...NOWHERE, mccmnc })),
    )
    const rates = fc.uniqueArray(
      fc.record({ destination, planId: fc.constantFrom(null, 1, 2) }).map((each) => ({ ...each })),
      { selector: (each) => JSON.stringify(each), maxLength: 20 },
    )
    fc.assert(
      fc.property(rates, (drawn) => {
        const table = drawn.map((each, id) => rate('EUR', { id, planId: each.planId, ...each.destination }))
        const fitting = table.filter((each) => fits(each, MESSAGE))
        const best = fitting.sort((a, b) => weight(b) - weight(a))[0] ?? null
        expect(ratesOf(table).rateFor(MESSAGE)).toEqual(best)
      }),
    )
  })
})

function fits(each: Rate, message: Priced): boolean {
  if (each.planId !== null && each.planId !== message.planId) return false
  if (each.mccmnc !== null) return each.mccmnc === message.mccmnc
  if (each.prefix !== null) return message.recipient.startsWith(each.prefix)
  return each.country === null || each.country === message.country
}

function weight(each: Rate): number {
  const own = each.planId === null ? 0 : 1_000
  if (each.mccmnc !== null) return own + 100
  return own + (each.prefix?.length ?? 0) + (each.country === null ? 0 : 1)
}

it('says whether a network has a rate of its own', () => {
  expect(ratesOf([]).hasNetworks).toBe(false)
  expect(ratesOf([rate('X', { country: 'GB' })]).hasNetworks).toBe(false)
  expect(ratesOf([rate('X', { planId: 3, mccmnc: '23410' })]).hasNetworks).toBe(true)
})

describe('chargeFor', () => {
  test.each([
    ['0.007500', '0.000000', 3, '0.0225', '0'],
    ['0.1', '0.2', 3, '0.3', '0.6'],
    ['0.000001', '0', 1, '0.000001', '0'],
    ['1', '0.003', 10, '10', '0.03'],
    ['0', '0', 50, '0', '0'],
  ])('%s and %s for %i segments', (price, ptf, segments, wholePrice, wholePtf) => {
    expect(chargeFor({ price, ptf, currency: 'EUR' }, segments)).toEqual({
      price: wholePrice,
      ptf: wholePtf,
      currency: 'EUR',
    })
  })

  it('is the price added up segment by segment, and never more than its column holds', () => {
    const millionths = fc.bigInt({ min: 0n, max: 99_999_999_999_999n })
    fc.assert(
      fc.property(millionths, fc.integer({ min: 1, max: 255 }), (each, segments) => {
        const price = `${each / 1_000_000n}.${String(each % 1_000_000n).padStart(6, '0')}`
        let sum = 0n
        for (let n = 0; n < segments; n += 1) sum += each
        const charged = parseAmount(chargeFor({ price, ptf: '0', currency: 'EUR' }, segments).price)
        expect(charged).toBe(sum > 99_999_999_999_999n ? 99_999_999_999_999n : sum)
      }),
    )
  })
})
