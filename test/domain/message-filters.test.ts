import { expect, it } from 'vitest'
import type { Fault } from '../../src/domain/faults.ts'
import { parseFilters } from '../../src/domain/list-queries.ts'
import { MESSAGE_FILTERS, type MessageFilters } from '../../src/domain/message-filters.ts'

function parsed(texts: Partial<Record<keyof MessageFilters, string>>) {
  const faults: Fault[] = []
  const filters = parseFilters(MESSAGE_FILTERS, texts, faults)
  return { filters, faults: faults.map(({ field, code }) => `${field} ${code}`) }
}

it('reads every filter into its canonical form', () => {
  const texts = {
    from: '+15550001111',
    to: '+447400123456',
    status: 'SENT',
    country: 'gb',
    mccmnc: '23410',
    fromDate: '2026-01-01T00:00:00Z',
    toDate: '2026-02-01T00:00:00Z',
  }
  const dates = { fromDate: Date.parse(texts.fromDate), toDate: Date.parse(texts.toDate) }
  expect(parsed(texts)).toEqual({ filters: { ...texts, ...dates, country: 'GB' }, faults: [] })
})

it('refuses what is none of its kind', () => {
  expect(parsed({ from: '_', to: '12345', status: 'sent', country: 'USA', mccmnc: '1' }).faults).toEqual([
    'from INVALID_FORMAT',
    'to INVALID_FORMAT',
    'status INVALID_FORMAT',
    'country INVALID_FORMAT',
    'mccmnc INVALID_FORMAT',
  ])
})

it('reads names of object members as values like any other', () => {
  expect(parsed({ country: 'constructor', status: 'toString' }).faults).toEqual([
    'status INVALID_FORMAT',
    'country INVALID_FORMAT',
  ])
  expect(parsed({ from: 'constructor' }).faults).toEqual([])
})
