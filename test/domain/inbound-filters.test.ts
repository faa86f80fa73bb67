import { describe, expect, it } from 'vitest'
import { fromCarrierAddress } from '../../src/domain/addresses.ts'
import { INBOUND_FILTERS } from '../../src/domain/inbound-filters.ts'
import { parseListQuery } from '../../src/domain/list-queries.ts'

const PLAN = '65f0c0ffee65f0c0ffee65f0'

function verdictOn(filters: Record<string, string>) {
  return parseListQuery({ servicePlanId: PLAN, ...filters }, INBOUND_FILTERS)
}

it('reads every filter into its canonical form', () => {
  const window = { fromDate: '2026-01-01T00:00:00Z', toDate: '2026-01-02T00:00:00Z' }
  const verdict = verdictOn({ from: ' 15551230001', to: '+46701234567', keyword: 'JOIN', ...window })
  expect(verdict).toMatchObject({
    ok: true,
    query: {
      filters: {
        from: '+15551230001',
        to: '+46701234567',
        keyword: 'JOIN',
        fromDate: Date.parse(window.fromDate),
        toDate: Date.parse(window.toDate),
      },
    },
  })
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
    const stored = fromCarrierAddress(address, ton)
    expect(verdictOn({ from: stored })).toMatchObject({ ok: true, query: { filters: { from: stored } } })
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
  expect(verdictOn({ [field]: text })).toMatchObject({
    ok: false,
    faults: [{ field, code: 'INVALID_FORMAT' }],
  })
})
