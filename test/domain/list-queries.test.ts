import { describe, expect, it } from 'vitest'
import {
  contradictions,
  type FilterRules,
  parseListQuery,
  WINDOW_RULES,
} from '../../src/domain/list-queries.ts'
import type { Query } from '../../src/domain/query-parameters.ts'

const PLAN = '65f0c0ffee65f0c0ffee65f0'

interface Colours {
  readonly colour: 'red' | 'blue' | null
  readonly fromDate: number | null
  readonly toDate: number | null
}

const RULES: FilterRules<Colours> = {
  colour: { parse: (text) => (text === 'red' || text === 'blue' ? text : null), rule: 'must be red or blue' },
  ...WINDOW_RULES,
}
const NONE: Colours = { colour: null, fromDate: null, toDate: null }

function faultsOf(query: Query): string[] {
  const verdict = parseListQuery(query, RULES)
  return verdict.ok ? [] : verdict.faults.map(({ field, code }) => `${field} ${code}`)
}

describe('parseListQuery', () => {
  it('reads filters by their rules, limit and cursor', () => {
    const verdict = parseListQuery(
      {
        servicePlanId: PLAN,
        colour: 'red',
        fromDate: '2026-01-01T00:00:00Z',
        toDate: '2026-02-01T00:00:00Z',
        limit: '050',
        cursor: 'abc',
        unknown: 'ignored',
      },
      RULES,
    )
    const filters = {
      colour: 'red',
      fromDate: Date.parse('2026-01-01T00:00:00Z'),
      toDate: Date.parse('2026-02-01T00:00:00Z'),
    }
    expect(verdict).toEqual({ ok: true, query: { servicePlanId: PLAN, filters, limit: 50, cursor: 'abc' } })
  })

  it('gives null for what is not given', () => {
    const verdict = parseListQuery({ servicePlanId: PLAN, cursor: 'abc' }, RULES)
    expect(verdict).toMatchObject({ ok: true, query: { filters: NONE, limit: null } })
  })

  it('lists every fault, and says what a filter must be', () => {
    const query = { colour: 'green', toDate: ['1', '2'], fromDate: '', limit: '٢', 'cursor[]': 'x' }
    expect(faultsOf(query)).toEqual([
      'cursor REPEATED',
      'servicePlanId REQUIRED',
      'colour INVALID_FORMAT',
      'fromDate EMPTY',
      'toDate REPEATED',
      'limit INVALID_FORMAT',
    ])
    const verdict = parseListQuery({ servicePlanId: PLAN, colour: 'green' }, RULES)
    expect(verdict).toMatchObject({ ok: false, faults: [{ message: 'must be red or blue' }] })
  })

  it('needs a filter besides the plan, and names those there are', () => {
    const verdict = parseListQuery({ servicePlanId: PLAN, limit: '5', status: 'SENT' }, RULES)
    const message = 'needs one of colour, fromDate, toDate or cursor'
    expect(verdict).toEqual({ ok: false, faults: [{ field: 'request', code: 'FILTER_REQUIRED', message }] })
    expect(faultsOf({ servicePlanId: PLAN, colour: 'blue' })).toEqual([])
    expect(faultsOf({ servicePlanId: PLAN, cursor: 'x' })).toEqual([])
  })

  it('takes a filter in brackets for a fault of that filter, not for none', () => {
    expect(faultsOf({ servicePlanId: PLAN, 'colour[]': 'red' })).toEqual(['colour REPEATED'])
    expect(faultsOf({ servicePlanId: PLAN, 'cursor[0]': 'x' })).toEqual(['cursor REPEATED'])
    expect(faultsOf({ servicePlanId: PLAN, colour: 'red', 'toString[]': 'x' })).toEqual([])
  })

  it('takes a window of 31 days, none longer', () => {
    const window = (toDate: string) =>
      faultsOf({ servicePlanId: PLAN, fromDate: '2026-01-01T00:00:00Z', toDate })
    expect(window('2026-02-01T00:00:00Z')).toEqual([])
    expect(window('2026-02-01T00:00:00.001Z')).toEqual(['toDate RANGE_TOO_LARGE'])
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
    const verdict = parseListQuery({ servicePlanId: PLAN, colour: 'red', limit: '9'.repeat(400) }, RULES)
    expect(verdict).toMatchObject({ ok: true, query: { limit: 100 } })
  })

  it('a list may do without a filter, and have longer pages', () => {
    const query = { servicePlanId: PLAN, limit: '700' }
    const verdict = parseListQuery(query, RULES, { filtered: false, maxPage: 500 })
    expect(verdict).toMatchObject({ ok: true, query: { filters: NONE, limit: 500 } })
  })
})

it('contradictions names the filters that differ from the cursor', () => {
  const carried: Colours = { colour: 'red', fromDate: 5, toDate: null }
  expect(contradictions(carried, NONE)).toEqual([])
  expect(contradictions(carried, { ...NONE, colour: 'red', fromDate: 5 })).toEqual([])
  const differing = contradictions(carried, { colour: 'blue', fromDate: 6, toDate: 7 })
  expect(differing.map(({ field }) => field)).toEqual(['colour', 'fromDate', 'toDate'])
})
