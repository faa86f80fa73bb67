import { expect, it } from 'vitest'
import type { Fault } from '../../src/domain/faults.ts'
import {
  contradictions,
  type FilterRules,
  parseFilters,
  WINDOW_RULES,
  windowFaults,
} from '../../src/domain/list-queries.ts'

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

it('parseFilters reads each text by its rule, and lists those at fault', () => {
  const fromDate = '2026-01-01T00:00:00.0001Z'
  expect(parseFilters(RULES, { colour: 'red', fromDate })).toEqual({
    colour: 'red',
    fromDate: Date.parse('2026-01-01T00:00:00.001Z'),
    toDate: null,
  })
  const faults: Fault[] = []
  expect(parseFilters(RULES, { colour: 'green', toDate: 'today' } as never, faults)).toEqual(NONE)
  expect(faults).toEqual([
    { field: 'colour', code: 'INVALID_FORMAT', message: 'must be red or blue' },
    { field: 'toDate', code: 'INVALID_FORMAT', message: WINDOW_RULES.toDate.rule },
  ])
})

const window = (fromDate: unknown, toDate: unknown) =>
  windowFaults({ fromDate, toDate }).map(({ field, code }) => `${field} ${code}`)

it('a window has at most 31 days', () => {
  expect(window('2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z')).toEqual([])
  expect(window('2026-01-01T00:00:00Z', '2026-02-01T00:00:00.001Z')).toEqual(['toDate RANGE_TOO_LARGE'])
})

it('a window may be within one millisecond, and not reversed', () => {
  const at = (fraction: string) => `2026-01-01T00:00:00.${fraction}Z`
  expect(window(at('1234'), at('1234'))).toEqual([])
  expect(window(at('1232'), at('1239'))).toEqual([])
  expect(window(at('124'), at('123'))).toEqual(['fromDate INVALID_RANGE'])
  expect(window(at('1240'), at('1239'))).toEqual(['fromDate INVALID_RANGE'])
})

it('a window of which an end is missing or at fault has no faults of its own', () => {
  const date = '2026-01-01T00:00:00Z'
  expect([window(date, undefined), window(date, 'today'), window([date], date)]).toEqual([[], [], []])
})

it('contradictions names the filters that differ from the cursor', () => {
  const carried: Colours = { colour: 'red', fromDate: 5, toDate: null }
  expect(contradictions(carried, NONE)).toEqual([])
  expect(contradictions(carried, { ...NONE, colour: 'red', fromDate: 5 })).toEqual([])
  const differing = contradictions(carried, { colour: 'blue', fromDate: 6, toDate: 7 })
  expect(differing.map(({ field }) => field)).toEqual(['colour', 'fromDate', 'toDate'])
})
