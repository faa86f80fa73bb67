import { describe, expect, it } from 'vitest'
import { fromCarrierAddress } from '../../src/domain/addresses.ts'
import type { Fault } from '../../src/domain/faults.ts'
import { INBOUND_FILTERS, type InboundFilters } from '../../src/domain/inbound-filters.ts'
import { parseFilters } from '../../src/domain/list-queries.ts'

function parsed(texts: Partial<Record<keyof InboundFilters, string>>) {
  const faults: Fault[] = []
  const filters = parseFilters(INBOUND_FILTERS, texts, faults)
  return { filters, faults: faults.map(({ field, code }) => `${field} ${code}`) }
}

it('reads every filter into its canonical form', () => {
  const texts = { from: '+15551230001', to: '+46701234567', keyword: 'JOIN' }
  const window = { fromDate: '2026-01-01T00:00:00Z', toDate: '2026-01-02T00:00:00Z' }
  const dates = { fromDate: Date.parse(window.fromDate), toDate: Date.parse(window.toDate) }
  expect(parsed({ ...texts, ...window })).toEqual({ filters: { ...texts, ...dates }, faults: [] })
})

describe('from', () => {
  it.each([
    ['+15551230001', 1],
    ['71234', 0],
    ['0701234567', 2],
    ['Bank of Åland', 5],
    ['*#100#', 0],
    ['x'.repeat(100), 5],
  ])('takes what is stored of a carrier’s %s', (address, ton) => {
    const from = fromCarrierAddress(address, ton)
    expect(parsed({ from })).toMatchObject({ filters: { from }, faults: [] })
  })
})

it.each([
  ['from', 'a\u0000b'],
  ['from', ' Aldis'],
  ['from', 'x'.repeat(65)],
  ['to', 'Aldis'],
  ['to', '+0'],
  ['to', '123456789'],
  ['keyword', 'two words'],
  ['keyword', '\u0000'],
  ['keyword', 'x'.repeat(33)],
])('refuses %s %j', (field, text) => {
  expect(parsed({ [field]: text }).faults).toEqual([`${field} INVALID_FORMAT`])
})
