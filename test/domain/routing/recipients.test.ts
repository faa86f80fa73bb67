import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { RecipientMatch } from '../../../src/domain/configuration/configuration.ts'
import {
  PrefixTable,
  RecipientTable,
  recipientMatchFaults,
  specificity,
} from '../../../src/domain/routing/recipients.ts'

it('gives the value of the longest prefix', () => {
  const table = new PrefixTable([
    ['+4', 'four'],
    ['+4477', 'mobile'],
    ['+44', 'GB'],
  ])
  expect(table.longest('+447700900123')).toBe('mobile')
  expect(table.longest('+44')).toBe('GB')
  expect(table.longest('+4915112345678')).toBe('four')
  expect(table.longest('+15551230000')).toBeUndefined()
  expect(new PrefixTable([]).longest('+15551230000')).toBeUndefined()
})

it('gives what comparing every prefix gives', () => {
  const prefix = fc.stringMatching(/^\+[1-3]{1,6}$/)
  fc.assert(
    fc.property(
      fc.array(prefix, { maxLength: 40 }),
      fc.stringMatching(/^\+[1-3]{3,9}$/),
      (prefixes, number) => {
        const fitting = prefixes.filter((each) => number.startsWith(each))
        const longest = fitting.sort((a, b) => b.length - a.length)[0]
        expect(new PrefixTable(prefixes.map((each) => [each, each])).longest(number)).toBe(longest)
      },
    ),
  )
})

const to = (changes: Partial<RecipientMatch>): RecipientMatch => ({
  prefix: null,
  country: null,
  mccmnc: null,
  ...changes,
})

const NETWORK = to({ mccmnc: '23415' })
const LONG = to({ prefix: '+447911' })
const SHORT = to({ prefix: '+4479' })
const COUNTRY = to({ country: 'GB' })
const ANYWHERE = to({})
const ALL = [ANYWHERE, COUNTRY, SHORT, LONG, NETWORK]
const MESSAGE = { recipient: '+447911123456', country: 'GB', mccmnc: '23415' }

it('finds mccmnc before the longer prefix, country, anywhere', () => {
  const found = ALL.map((_, most) => new RecipientTable(ALL.slice(0, most + 1)).mostSpecific(MESSAGE))
  expect(found).toEqual(ALL)
})

it('finds only what the message fits', () => {
  const table = new RecipientTable([COUNTRY, SHORT, LONG, NETWORK])
  expect(table.mostSpecific({ ...MESSAGE, mccmnc: null })).toBe(LONG)
  expect(table.mostSpecific({ ...MESSAGE, recipient: '+447912123456', mccmnc: '23410' })).toBe(SHORT)
  expect(table.mostSpecific({ recipient: '+447700900123', country: 'GB', mccmnc: null })).toBe(COUNTRY)
  expect(table.mostSpecific({ recipient: '+46701234567', country: 'SE', mccmnc: '24001' })).toBeNull()
  expect(table.mostSpecific({ recipient: '+88213300655', country: null, mccmnc: null })).toBeNull()
  expect(new RecipientTable([]).mostSpecific(MESSAGE)).toBeNull()
})

it('compares destinations as it finds them', () => {
  const ranks = ALL.map(specificity)
  expect(ranks).toEqual([...new Set(ranks)].sort((a, b) => a - b))
  expect(specificity(to({ prefix: '+4' }))).toBeGreaterThan(specificity(COUNTRY))
  expect(specificity(NETWORK)).toBeGreaterThan(specificity(to({ prefix: '+123456789012345' })))
})

it('names the fields of a destination that do not go together', () => {
  for (const right of [...ALL, to({ country: 'XK' })]) expect(recipientMatchFaults(right)).toEqual([])
  const fields = (changes: Partial<RecipientMatch>) =>
    recipientMatchFaults(to(changes)).map(({ field, code }) => `${field} ${code}`)
  expect(fields({ prefix: '+44', country: 'GB' })).toEqual(['country EXCLUSIVE'])
  expect(fields({ prefix: '+44', mccmnc: '23415' })).toEqual(['mccmnc EXCLUSIVE'])
  expect(fields({ mccmnc: '23415', country: 'XX' })).toEqual(['mccmnc EXCLUSIVE', 'country NOT_FOUND'])
})
