import { expect, it } from 'vitest'
import { parseListQuery } from '../../src/domain/list-queries.ts'
import { MESSAGE_FILTERS } from '../../src/domain/message-filters.ts'
import type { Query } from '../../src/domain/query-parameters.ts'

const PLAN = '65f0c0ffee65f0c0ffee65f0'

function verdictOn(filters: Query) {
  return parseListQuery({ servicePlanId: PLAN, ...filters }, MESSAGE_FILTERS)
}

function faultsOf(filters: Query): string[] {
  const verdict = verdictOn(filters)
  return verdict.ok ? [] : verdict.faults.map(({ field, code }) => `${field} ${code}`)
}

it('reads every filter into its canonical form', () => {
  const verdict = verdictOn({
    from: ' 15550001111',
    to: '+447400123456',
    status: 'SENT',
    country: 'gb',
    mccmnc: '23410',
    fromDate: '2026-01-01T00:00:00Z',
    toDate: '2026-02-01T00:00:00Z',
  })
  expect(verdict).toMatchObject({
    ok: true,
    query: {
      filters: {
        from: '+15550001111',
        to: '+447400123456',
        status: 'SENT',
        country: 'GB',
        mccmnc: '23410',
        fromDate: Date.parse('2026-01-01T00:00:00Z'),
        toDate: Date.parse('2026-02-01T00:00:00Z'),
      },
    },
  })
})

it('refuses what is none of its kind', () => {
  expect(faultsOf({ from: '_', to: '12345', status: 'sent', country: 'USA', mccmnc: '1' })).toEqual([
    'from INVALID_FORMAT',
    'to INVALID_FORMAT',
    'status INVALID_FORMAT',
    'country INVALID_FORMAT',
    'mccmnc INVALID_FORMAT',
  ])
})

it('reads names of object members as values like any other', () => {
  expect(faultsOf({ country: 'constructor', status: 'toString' })).toEqual([
    'status INVALID_FORMAT',
    'country INVALID_FORMAT',
  ])
  expect(faultsOf({ from: 'constructor' })).toEqual([])
})
