import { describe, expect, it } from 'vitest'
import { contradictions, parseListQuery } from '../../src/domain/message-filters.ts'

const PLAN = '65f0c0ffee65f0c0ffee65f0'
const NONE = {
  from: null,
  to: null,
  status: null,
  country: null,
  mccmnc: null,
  fromDate: null,
  toDate: null,
}

function faultsOf(query: Record<string, string | string[]>): string[] {
  const verdict = parseListQuery(query)
  return verdict.ok ? [] : verdict.faults.map(({ field, code }) => `${field} ${code}`)
}

describe('parseListQuery', () => {
  it('reads every filter into its canonical form', () => {
    const verdict = parseListQuery({
      servicePlanId: PLAN,
      from: ' 15550001111',
      to: '+447400123456',
      status: 'SENT',
      country: 'gb',
      mccmnc: '23410',
      fromDate: '2026-01-01T00:00:00Z',
      toDate: '2026-02-01T00:00:00Z',
      limit: '050',
      cursor: 'abc',
      unknown: 'ignored',
    })
    expect(verdict).toEqual({
      ok: true,
      query: {
        servicePlanId: PLAN,
        filters: {
          from: '+15550001111',
          to: '+447400123456',
          status: 'SENT',
          country: 'GB',
          mccmnc: '23410',
          fromDate: Date.parse('2026-01-01T00:00:00Z'),
          toDate: Date.parse('2026-02-01T00:00:00Z'),
        },
        limit: 50,
        cursor: 'abc',
      },
    })
  })

  it('lists every fault', () => {
    const query = { from: '', to: ['+1', '+2'], status: 'X', limit: '٢', 'country[]': 'US' }
    expect(faultsOf(query)).toEqual([
      'country REPEATED',
      'servicePlanId REQUIRED',
      'from EMPTY',
      'to REPEATED',
      'status INVALID_FORMAT',
      'limit INVALID_FORMAT',
    ])
  })

  it('needs a filter besides the plan', () => {
    expect(faultsOf({ servicePlanId: PLAN, limit: '5' })).toEqual(['request FILTER_REQUIRED'])
    expect(faultsOf({ servicePlanId: PLAN, mccmnc: '12345' })).toEqual([])
    expect(faultsOf({ servicePlanId: PLAN, cursor: 'x' })).toEqual([])
  })

  it('takes a filter in brackets for a fault of that filter, not for none', () => {
    expect(faultsOf({ servicePlanId: PLAN, 'status[]': 'SENT' })).toEqual(['status REPEATED'])
    expect(faultsOf({ servicePlanId: PLAN, 'cursor[0]': 'x' })).toEqual(['cursor REPEATED'])
  })

  it('takes a window within one millisecond, and none that is reversed', () => {
    const at = (fraction: string) => `2026-01-01T00:00:00.${fraction}Z`
    const window = (fromDate: string, toDate: string) => faultsOf({ servicePlanId: PLAN, fromDate, toDate })
    expect(window(at('1234'), at('1234'))).toEqual([])
    expect(window(at('1232'), at('1239'))).toEqual([])
    expect(window(at('124'), at('123'))).toEqual(['fromDate INVALID_RANGE'])
    expect(window(at('1240'), at('1239'))).toEqual(['fromDate INVALID_RANGE'])
  })

  it('caps the limit, however large', () => {
    const verdict = parseListQuery({ servicePlanId: PLAN, status: 'SENT', limit: '9'.repeat(400) })
    expect(verdict).toMatchObject({ ok: true, query: { limit: 100 } })
  })

  it('reads names of object members as values like any other', () => {
    expect(faultsOf({ servicePlanId: PLAN, country: 'constructor' })).toEqual(['country INVALID_FORMAT'])
    expect(faultsOf({ servicePlanId: PLAN, from: 'constructor' })).toEqual([])
    expect(faultsOf({ servicePlanId: PLAN, status: 'SENT', 'toString[]': 'x' })).toEqual([])
  })
})

it('contradictions names the filters that differ from the cursor', () => {
  const carried = { ...NONE, status: 'SENT' as const, fromDate: 5 }
  expect(contradictions(carried, NONE)).toEqual([])
  expect(contradictions(carried, { ...NONE, status: 'SENT', fromDate: 5 })).toEqual([])
  const differing = contradictions(carried, { ...NONE, status: 'FAILED', fromDate: 6, to: '+15551230001' })
  expect(differing.map(({ field }) => field)).toEqual(['to', 'status', 'fromDate'])
})
