import { describe, expect, test } from 'vitest'
import type { Dimension, StatisticsQuery } from '../../../src/domain/statistics/query.ts'
import { type Cell, type RowGroup, seriesOf } from '../../../src/domain/statistics/series.ts'

const HOUR_MS = 3_600_000
const NONE = { accepted: 0, sent: 0, delivered: 0, failed: 0, unknown: 0, inbound: 0, segments: 0 }
const NO_LATENCIES = { accept: null, submit: null, receipt: null, webhook: null }
const group = (country: string): RowGroup => ({ planId: 0, routeId: 0, carrierId: 0, country })

const query = (groupBy: readonly Dimension[], more: Partial<StatisticsQuery> = {}): StatisticsQuery => ({
  fromMs: 0,
  toMs: 3 * HOUR_MS,
  interval: 'hour',
  groupBy,
  planIds: [1],
  carrierId: null,
  routeId: null,
  country: null,
  status: null,
  errorCode: null,
  ...more,
})
const cell = (at: number, n: number | null, counts: Partial<Cell['counts']>, latencies = {}): Cell => ({
  group: n,
  atMs: at * HOUR_MS,
  counts: { ...NONE, ...counts },
  latencies: { ...NO_LATENCIES, ...latencies },
})

describe('series', () => {
  test('have a point for each period, whether anything happened or not', () => {
    const [series, ...more] = seriesOf(query([]), [group('')], {
      cells: [cell(1, 0, { accepted: 2 }, { accept: [0, 4, ...new Array(14).fill(0)] })],
      prices: [
        { group: 0, atMs: HOUR_MS, currency: 'USD', millionths: 7_500n },
        { group: 0, atMs: HOUR_MS, currency: 'EUR', millionths: -100n },
      ],
      codes: [],
    })
    expect(more).toEqual([])
    expect(series!.points.map(({ atMs, accepted }) => [atMs, accepted])).toEqual([
      [0, 0],
      [HOUR_MS, 2],
      [2 * HOUR_MS, 0],
    ])
    expect(series!.totals.prices).toEqual([
      { currency: 'EUR', price: '-0.0001' },
      { currency: 'USD', price: '0.0075' },
    ])
    expect(series!.totals.latencyMs!.accept).toMatchObject({ count: 4, p50: 2, p99: 2 })
    expect(series!.totals.latencyMs!.submit).toBeNull()
    expect(seriesOf(query([]), [group('')], { cells: [], prices: [], codes: [] })[0]!.points.length).toBe(3)
    expect(seriesOf(query(['country']), [], { cells: [], prices: [], codes: [] })).toEqual([])
  })

  test('the largest first, all others together last', () => {
    const countries = Array.from({ length: 70 }, (_, n) => group(`C${n}`))
    const cells = countries.map((_, n) => cell(n % 3, n, { accepted: 1 + n, segments: 1_000 - n }))
    const series = seriesOf(query(['country']), countries, {
      cells: [...cells, cell(0, null, { accepted: 10_000 })],
      prices: [],
      codes: [],
    })
    expect(series.length).toBe(51)
    expect([series[0]!.group!.country, series[49]!.group!.country, series[50]!.group]).toEqual([
      'C69',
      'C20',
      null,
    ])
    const sum = series.reduce((all, { totals }) => all + totals.accepted, 0)
    expect(sum).toBe(10_000 + (70 * 71) / 2)
  })

  test('by status and error code, only changes are counted', () => {
    const cells = [cell(0, 0, { accepted: 9, sent: 8, delivered: 5, failed: 3, unknown: 1, inbound: 4 })]
    const codes = [
      { group: 0, atMs: 0, key: 301, count: 2 },
      { group: 0, atMs: 0, key: 303, count: 1 },
      { group: 0, atMs: 0, key: 1_600, count: 1 },
    ]
    const of = (groupBy: Dimension[], more = {}) =>
      seriesOf(query(groupBy, more), [group('')], { cells, prices: [], codes }).map(
        ({ group, totals: { accepted, sent, delivered, failed, unknown, inbound } }) => [
          group!.status,
          group!.errorCode,
          accepted + sent + delivered + failed + unknown,
          inbound,
        ],
      )
    expect(of(['status'])).toEqual([
      ['QUEUED', null, 9, null],
      ['SENT', null, 8, null],
      ['DELIVERED', null, 5, null],
      ['FAILED', null, 3, null],
      ['UNKNOWN', null, 1, null],
    ])
    expect(of(['errorCode'])).toEqual([
      [null, '000', 22, null],
      [null, '301', 2, null],
      [null, '303', 1, null],
      [null, '600', 1, null],
    ])
    expect(of([], { errorCode: '301' })).toEqual([[null, null, 2, null]])
    expect(of(['errorCode'], { status: 'FAILED' })).toEqual([
      [null, '301', 2, null],
      [null, '303', 1, null],
    ])
  })
})
