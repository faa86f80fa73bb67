import { expect, it } from 'vitest'
import type { Destination } from '../../src/domain/configuration.ts'
import { DestinationTable, destinationFaults, specificity } from '../../src/domain/destinations.ts'

const to = (changes: Partial<Destination>): Destination => ({
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
  const found = ALL.map((_, most) => new DestinationTable(ALL.slice(0, most + 1)).mostSpecific(MESSAGE))
  expect(found).toEqual(ALL)
})

it('finds only what the message fits', () => {
  const table = new DestinationTable([COUNTRY, SHORT, LONG, NETWORK])
  expect(table.mostSpecific({ ...MESSAGE, mccmnc: null })).toBe(LONG)
  expect(table.mostSpecific({ ...MESSAGE, recipient: '+447912123456', mccmnc: '23410' })).toBe(SHORT)
  expect(table.mostSpecific({ recipient: '+447700900123', country: 'GB', mccmnc: null })).toBe(COUNTRY)
  expect(table.mostSpecific({ recipient: '+46701234567', country: 'SE', mccmnc: '24001' })).toBeNull()
  expect(table.mostSpecific({ recipient: '+88213300655', country: null, mccmnc: null })).toBeNull()
  expect(new DestinationTable([]).mostSpecific(MESSAGE)).toBeNull()
})

it('compares destinations as it finds them', () => {
  const ranks = ALL.map(specificity)
  expect(ranks).toEqual([...new Set(ranks)].sort((a, b) => a - b))
  expect(specificity(to({ prefix: '+4' }))).toBeGreaterThan(specificity(COUNTRY))
  expect(specificity(NETWORK)).toBeGreaterThan(specificity(to({ prefix: '+123456789012345' })))
})

it('names the fields of a destination that do not go together', () => {
  for (const right of [...ALL, to({ country: 'XK' })]) expect(destinationFaults(right)).toEqual([])
  const fields = (changes: Partial<Destination>) =>
    destinationFaults(to(changes)).map(({ field, code }) => `${field} ${code}`)
  expect(fields({ prefix: '+44', country: 'GB' })).toEqual(['country EXCLUSIVE'])
  expect(fields({ prefix: '+44', mccmnc: '23415' })).toEqual(['mccmnc EXCLUSIVE'])
  expect(fields({ mccmnc: '23415', country: 'XX' })).toEqual(['mccmnc EXCLUSIVE', 'country NOT_FOUND'])
})
