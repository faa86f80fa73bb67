import { describe, expect, test } from 'vitest'
import {
  CUSTOMER_DIMENSIONS,
  DIMENSIONS,
  mostGroups,
  needsPlanRows,
  parseStatisticsQuery,
  rowRanges,
  type StatisticsTexts,
} from '../../../src/domain/statistics/query.ts'
import type { Fault } from '../../../src/errors.ts'

const NOW_MS = Date.UTC(2026, 10, 23, 12, 34, 56)
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ago = (ms: number) => new Date(NOW_MS - ms).toISOString()
const ONE_PLAN = { planIds: [1], carrierId: null, routeId: null }
const ALL_PLANS = { ...ONE_PLAN, planIds: null }

function parsed(
  texts: StatisticsTexts,
  filters: typeof ONE_PLAN | typeof ALL_PLANS = ONE_PLAN,
  dimensions = DIMENSIONS,
) {
  const faults: Fault[] = []
  const query = parseStatisticsQuery(texts, filters, { dimensions, nowMs: NOW_MS }, faults)
  return { query, faults }
}

const range = (texts: StatisticsTexts) => {
  const { query, faults } = parsed(texts)
  expect(faults).toEqual([])
  return [query.interval, new Date(query.fromMs).toISOString(), new Date(query.toMs).toISOString()]
}

describe('the range', () => {
  test('is the last 24 hours unless given, in whole intervals', () => {
    expect(range({})).toEqual(['hour', '2026-11-22T12:00:00.000Z', '2026-11-23T13:00:00.000Z'])
    expect(range({ interval: 'day' })).toEqual([
      'day',
      '2026-11-22T00:00:00.000Z',
      '2026-11-24T00:00:00.000Z',
    ])
    expect(range({ fromDate: '2026-11-23T10:00:30+01:00', toDate: '2026-11-23T09:59:30Z' })).toEqual([
      'minute',
      '2026-11-23T09:00:00.000Z',
      '2026-11-23T10:00:00.000Z',
    ])
  })

  test('has an interval that suits its length, and ends with the present one', () => {
    expect(range({ fromDate: ago(2 * HOUR_MS) })[0]).toBe('minute')
    expect(range({ fromDate: ago(10 * DAY_MS) })[0]).toBe('hour')
    expect(range({ fromDate: ago(30 * DAY_MS) })[0]).toBe('day')
    expect(range({ toDate: '2027-01-01T00:00:00Z' })[2]).toBe('2026-11-23T13:00:00.000Z')
  })
})

describe('faults', () => {
  test.each([
    [{ fromDate: 'yesterday' }, 'fromDate', 'INVALID_FORMAT'],
    [{ toDate: '2026-11-23' }, 'toDate', 'INVALID_FORMAT'],
    [{ interval: 'week' }, 'interval', 'INVALID_FORMAT'],
    [{ interval: 'toString' }, 'interval', 'INVALID_FORMAT'],
    [{ groupBy: 'sender' }, 'groupBy', 'INVALID_FORMAT'],
    [{ groupBy: 'country,status,route' }, 'groupBy', 'INVALID_FORMAT'],
    [{ groupBy: 'country,country' }, 'groupBy', 'INVALID_FORMAT'],
    [{ country: 'XX' }, 'country', 'INVALID_FORMAT'],
    [{ status: 'GONE' }, 'status', 'INVALID_FORMAT'],
    [{ errorCode: '1' }, 'errorCode', 'INVALID_FORMAT'],
    [{ fromDate: '2027-01-01T00:00:00Z' }, 'fromDate', 'INVALID_RANGE'],
    [{ fromDate: ago(HOUR_MS), toDate: ago(5 * HOUR_MS) }, 'fromDate', 'INVALID_RANGE'],
    [{ fromDate: ago(HOUR_MS), toDate: ago(HOUR_MS + 1), interval: 'day' }, 'fromDate', 'INVALID_RANGE'],
    [{ fromDate: ago(500 * DAY_MS) }, 'fromDate', 'OUT_OF_RANGE'],
    [
      { fromDate: ago(9 * DAY_MS), toDate: ago(9 * DAY_MS - HOUR_MS), interval: 'minute' },
      'interval',
      'OUT_OF_RANGE',
    ],
    [{ fromDate: ago(2 * DAY_MS), interval: 'minute' }, 'interval', 'TOO_MANY_POINTS'],
    [{ fromDate: ago(70 * DAY_MS), interval: 'hour' }, 'interval', 'TOO_MANY_POINTS'],
    [{ fromDate: ago(20 * DAY_MS), interval: 'hour', groupBy: 'status' }, 'interval', 'TOO_MANY_POINTS'],
  ])('%j', (texts, field, code) => {
    expect(parsed(texts).faults).toMatchObject([{ field, code }])
  })

  test('none for the last hour, 24 hours or 7 days of many plans, whatever part of an interval is over', () => {
    const unaligned = [HOUR_MS, DAY_MS, 7 * DAY_MS].map((ms) => ago(ms - 1))
    const faults = ['minute', 'hour', 'day'].map(
      (interval, index) =>
        parsed({ fromDate: unaligned[index]!, interval, groupBy: 'country' }, ALL_PLANS).faults,
    )
    expect(faults).toEqual([[], [], []])
  })

  test('say which interval would do', () => {
    const message = (texts: StatisticsTexts, filters = ONE_PLAN as typeof ONE_PLAN | typeof ALL_PLANS) =>
      parsed(texts, filters).faults[0]!.message
    expect(message({ fromDate: ago(2 * DAY_MS), interval: 'minute' })).toBe(
      'has 2881 points; there are at most 1500; use interval=hour or a shorter range',
    )
    expect(message({ fromDate: ago(300 * DAY_MS), interval: 'hour' })).toContain('use interval=day')
    expect(message({ fromDate: ago(300 * DAY_MS), interval: 'day', groupBy: 'status' })).toContain(
      'use a shorter range',
    )
    expect(
      message({ fromDate: ago(24 * HOUR_MS), interval: 'minute', groupBy: 'country' }, ALL_PLANS),
    ).toContain('of more than 20 plans there are at most 61; use interval=hour')
  })

  test('several at once', () => {
    const { faults } = parsed({ interval: 'x', status: 'y', groupBy: 'z' })
    expect(faults.map(({ field }) => field)).toEqual(['interval', 'groupBy', 'status'])
  })

  test('customers do not group by carrier and route', () => {
    for (const groupBy of ['carrier', 'country,route'])
      expect(parsed({ groupBy }, ONE_PLAN, CUSTOMER_DIMENSIONS as typeof DIMENSIONS).faults).toMatchObject([
        {
          field: 'groupBy',
          message: 'must be one or two of servicePlanId, country, status, errorCode, with a comma between',
        },
      ])
  })
})

test('as many groups as there is room for, beside all others', () => {
  expect(mostGroups(parsed({ groupBy: 'status' }).query)).toBe(50)
  expect(mostGroups(parsed({ groupBy: 'status', fromDate: ago(10 * DAY_MS) }).query)).toBe(5)
  expect(mostGroups(parsed({}).query)).toBe(1)
})

test('the sums of all plans do, unless plans or countries are told apart', () => {
  const needs = (texts: StatisticsTexts, filters: typeof ONE_PLAN | typeof ALL_PLANS = ALL_PLANS) =>
    needsPlanRows(parsed(texts, filters).query)
  expect([{}, { groupBy: 'carrier,route' }, { status: 'FAILED' }].map((texts) => needs(texts))).toEqual([
    false,
    false,
    false,
  ])
  expect(
    [{ groupBy: 'country' }, { groupBy: 'servicePlanId' }, { country: 'US' }].map((texts) => needs(texts)),
  ).toEqual([true, true, true])
  expect(needs({}, ONE_PLAN)).toBe(true)
})

describe('rows to read', () => {
  const rolledUp = { hour: Date.UTC(2026, 10, 23, 12), day: Date.UTC(2026, 10, 23) }
  const ranges = (interval: 'minute' | 'hour' | 'day', fromMs: number) =>
    rowRanges({ interval, fromMs, toMs: Date.UTC(2026, 10, 24) }, rolledUp).map((each) => [
      each.interval,
      (each.toMs - each.fromMs) / HOUR_MS,
    ])

  test('are the coarsest, up to the interval', () => {
    const fromMs = Date.UTC(2026, 10, 21)
    expect(ranges('day', fromMs)).toEqual([
      ['day', 48],
      ['hour', 12],
      ['minute', 12],
    ])
    expect(ranges('hour', fromMs)).toEqual([
      ['hour', 60],
      ['minute', 12],
    ])
    expect(ranges('minute', fromMs)).toEqual([['minute', 72]])
    expect(ranges('day', Date.UTC(2026, 10, 23))).toEqual([
      ['hour', 12],
      ['minute', 12],
    ])
  })
})
