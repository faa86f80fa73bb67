import { type Fault, fault } from '../../errors.ts'
import { percentileMs } from '../carriers/quality.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, parseTimestamp, SECOND_MS } from '../instants.ts'
import { DATE_MEANING, type DateWindow, type FilterRules, parseFilters } from '../lists.ts'
import { SEARCH_FILTERS, type SearchFilters } from '../messages/message-search.ts'
import type { Status } from '../messages/messages.ts'

/** What a reader of statistics may ask for, and what is too much for one answer. */

export const DIMENSIONS = ['servicePlanId', 'carrier', 'route', 'country', 'status', 'errorCode'] as const
export type Dimension = (typeof DIMENSIONS)[number]
/** Customers never see carriers and routes. */
export const CUSTOMER_DIMENSIONS: readonly Dimension[] = ['servicePlanId', 'country', 'status', 'errorCode']

export const MOST_POINTS = 1_500
const MOST_DIMENSIONS = 2
/** Most groups of an answer apart from "other", and the number of series that it has room for at least. */
export const MOST_GROUPS = 50
const FEWEST_SERIES = 6
/**
 * With more plans, an answer by plan or country reads the rows of each plan, so it covers fewer periods: those of an hour, a day or
 * a week that begin and end within one.
 */
const FEW_PLANS = 20
const MOST_PERIODS_OF_PLANS: Readonly<Record<Interval, number>> = { minute: 61, hour: 25, day: 8 }
const DEFAULT_RANGE_MS = DAY_MS
/** Longest range that is shown by minute, and by hour, unless an interval is given. */
const BY_MINUTE_MS = 3 * HOUR_MS
const BY_HOUR_MS = 10 * DAY_MS

/** The parameters of a request; null is not given. */
interface GivenParameters extends DateWindow, Pick<SearchFilters, 'country' | 'status' | 'errorCode'> {
  readonly interval: Interval | null
  readonly groupBy: readonly Dimension[] | null
}

/** The parameters as they came. */
export type StatisticsTexts = Readonly<Partial<Record<keyof GivenParameters, string | undefined>>>

export interface StatisticsFilters {
  /** Null: all plans. */
  readonly planIds: readonly number[] | null
  readonly carrierId: number | null
  readonly routeId: number | null
}

export interface StatisticsQuery extends StatisticsFilters {
  /** Unix milliseconds, whole intervals in UTC; `toMs` is exclusive. */
  readonly fromMs: number
  readonly toMs: number
  readonly interval: Interval
  readonly groupBy: readonly Dimension[]
  readonly country: string | null
  readonly status: Status | null
  readonly errorCode: string | null
}

const REVERSED = fault('fromDate', 'INVALID_RANGE', 'must be before toDate, and not in the future')

/** The query of a request. Faults are added to the list; then the query is not to be used. */
export function parseStatisticsQuery(
  texts: StatisticsTexts,
  filters: StatisticsFilters,
  { dimensions, nowMs }: { dimensions: readonly Dimension[]; nowMs: number },
  faults: Fault[],
): StatisticsQuery {
  const { country, status, errorCode } = SEARCH_FILTERS
  const time = { parse: (text: string) => parseTimestamp(text, 'down'), meaning: DATE_MEANING }
  const rules: FilterRules<GivenParameters> = {
    fromDate: time,
    toDate: time,
    interval: { parse: intervalOf, meaning: 'must be minute, hour or day' },
    groupBy: {
      parse: (text) => dimensionsOf(text, dimensions),
      meaning: `must be one or two of ${dimensions.join(', ')}, with a comma between`,
    },
    country,
    status,
    errorCode,
  }
  const { fromDate, toDate, interval, groupBy, ...others } = parseFilters(rules, texts, faults)
  // Of the same interval, they would be widened to it.
  if (fromDate !== null && toDate !== null && fromDate > toDate) faults.push(REVERSED)
  const range = rangeOf({ fromMs: fromDate, toMs: toDate, interval }, nowMs)
  const query = { ...filters, groupBy: groupBy ?? [], ...others, ...range }
  if (faults.length === 0) faults.push(...excesses(query, nowMs))
  return query
}

function intervalOf(text: string): Interval | null {
  return Object.hasOwn(INTERVALS, text) ? (text as Interval) : null
}

function dimensionsOf(text: string, allowed: readonly Dimension[]): Dimension[] | null {
  const names = text.split(',')
  const isValid = names.length <= MOST_DIMENSIONS && new Set(names).size === names.length
  return isValid && names.every((name) => allowed.includes(name as Dimension)) ? (names as Dimension[]) : null
}

/** Whole intervals, up to the present one. Default: the last 24 hours, by an interval that suits the length. */
function rangeOf(
  given: { fromMs: number | null; toMs: number | null; interval: Interval | null },
  nowMs: number,
): Pick<StatisticsQuery, 'fromMs' | 'toMs' | 'interval'> {
  const endMs = Math.min(given.toMs ?? nowMs, nowMs)
  const startMs = given.fromMs ?? endMs - DEFAULT_RANGE_MS
  const interval = given.interval ?? usualInterval(endMs - startMs)
  const stepMs = INTERVALS[interval]
  return { interval, fromMs: startMs - (startMs % stepMs), toMs: Math.ceil(endMs / stepMs) * stepMs }
}

function usualInterval(lengthMs: number): Interval {
  if (lengthMs <= BY_MINUTE_MS) return 'minute'
  return lengthMs <= BY_HOUR_MS ? 'hour' : 'day'
}

function periodsOf({
  fromMs,
  toMs,
  interval,
}: Pick<StatisticsQuery, 'fromMs' | 'toMs' | 'interval'>): number {
  return (toMs - fromMs) / INTERVALS[interval]
}

/** What is too much, or too long ago. */
function excesses(query: StatisticsQuery, nowMs: number): Fault[] {
  const { fromMs, toMs } = query
  if (fromMs >= toMs) return [REVERSED]
  if (nowMs - fromMs > HOURS_KEPT_MS + DAY_MS)
    return [fault('fromDate', 'OUT_OF_RANGE', 'must be at most 400 days ago: older statistics are deleted')]
  const excess = excessOf(query, nowMs)
  if (excess === null) return []
  const others = (['hour', 'day'] as const).filter(
    (interval) => INTERVALS[interval] > INTERVALS[query.interval],
  )
  const fitting = others.find(
    (interval) => excessOf({ ...query, ...rangeOf({ fromMs, toMs, interval }, nowMs) }, nowMs) === null,
  )
  const advice = fitting === undefined ? 'use a shorter range' : `use interval=${fitting} or a shorter range`
  return [fault('interval', excess.code, `${excess.message}; ${advice}`)]
}

function excessOf(query: StatisticsQuery, nowMs: number): Pick<Fault, 'code' | 'message'> | null {
  const { interval, groupBy, fromMs } = query
  const periods = periodsOf(query)
  if (interval === 'minute' && nowMs - fromMs > MINUTES_KEPT_MS)
    return { code: 'OUT_OF_RANGE', message: 'minutes are kept for 8 days' }
  const mostOfPlans = MOST_PERIODS_OF_PLANS[interval]
  if (readsManyPlans(query) && periods > mostOfPlans) {
    const message = `has ${periods} points; by plan or country of more than ${FEW_PLANS} plans there are at most ${mostOfPlans}`
    return { code: 'TOO_MANY_POINTS', message }
  }
  const most = groupBy.length === 0 ? MOST_POINTS : MOST_POINTS / FEWEST_SERIES
  if (periods <= most) return null
  const what = groupBy.length === 0 ? 'there are' : 'with groupBy there are'
  return { code: 'TOO_MANY_POINTS', message: `has ${periods} points; ${what} at most ${most}` }
}

/** Whether the sums over all plans do not do. */
export function needsPlanRows({ planIds, groupBy, country }: StatisticsQuery): boolean {
  return (
    planIds !== null || country !== null || groupBy.includes('servicePlanId') || groupBy.includes('country')
  )
}

function readsManyPlans(query: StatisticsQuery): boolean {
  return needsPlanRows(query) && (query.planIds === null || query.planIds.length > FEW_PLANS)
}

/** How many groups an answer shows one by one. All others are added up in one more. */
export function mostGroups(query: StatisticsQuery): number {
  if (query.groupBy.length === 0) return 1
  return Math.min(MOST_GROUPS, Math.floor(MOST_POINTS / periodsOf(query)) - 1)
}

/** A range of rows of one kind. */
export interface RowRange {
  readonly interval: Interval
  readonly fromMs: number
  readonly toMs: number
}

/** Which rows to sum: the coarsest that there are, up to the interval. `rolledUp`: up to when hours and days exist. */
export function rowRanges(
  { fromMs, toMs, interval }: Pick<StatisticsQuery, 'fromMs' | 'toMs' | 'interval'>,
  rolledUp: Readonly<Record<'hour' | 'day', number>>,
): RowRange[] {
  const ranges: RowRange[] = []
  let startMs = fromMs
  for (const each of ['day', 'hour', 'minute'] as const) {
    if (INTERVALS[each] > INTERVALS[interval]) continue
    const endMs = each === 'minute' ? toMs : Math.min(toMs, rolledUp[each])
    if (endMs <= startMs) continue
    ranges.push({ interval: each, fromMs: startMs, toMs: endMs })
    startMs = endMs
  }
  return ranges
}

// What is counted of messages over time, and by what it is told apart. docs/statistics.md explains the figures.

/** Counts of what happened in a period. A message is in several of them, each at the time when that happened. */
export const COUNTS = ['accepted', 'sent', 'delivered', 'failed', 'unknown', 'inbound', 'segments'] as const
export type Count = (typeof COUNTS)[number]

export const LATENCIES = ['accept', 'submit', 'receipt', 'webhook'] as const
export type LatencyKind = (typeof LATENCIES)[number]

/** Upper bounds of 15 buckets; a 16th holds anything above. The columns of the table have as many places. */
export const LATENCY_BOUNDS_MS: Readonly<Record<LatencyKind, readonly number[]>> = {
  accept: [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100, 200, 500, 1_000, 5_000],
  submit: [5, 10, 20, 50, 100, 200, 500, ...[1, 2, 5, 10, 30, 60, 600, 3_600].map((s) => s * SECOND_MS)],
  receipt: [0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 1_800, 7_200, 43_200, 172_800].map(
    (s) => s * SECOND_MS,
  ),
  webhook: [5, 10, 20, 50, 100, 200, 500, ...[1, 2, 5, 10, 60, 600, 3_600, 86_400].map((s) => s * SECOND_MS)],
}
export const LATENCY_BUCKETS = 16

/** Periods that counts are kept for, and what a series has a point for. UTC. */
export const INTERVALS = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS } as const
export type Interval = keyof typeof INTERVALS

/** Each process begins to write its counts this often. */
export const FLUSH_MS = 5_000
/** Counts that are this old are written, by all processes: a crash loses younger ones only. Half of it is for the write. */
export const COMPLETE_AFTER_MS = 2 * FLUSH_MS
/** Counts that could not be written for so long are dropped: their hour is about to be rolled up. */
export const LATEST_WRITE_MS = 10 * MINUTE_MS
/** How long after its end an hour is rolled up. */
export const ROLL_UP_AFTER_MS = 15 * MINUTE_MS
export const MINUTES_KEPT_MS = 8 * DAY_MS
export const HOURS_KEPT_MS = 400 * DAY_MS

/** Counts of one period and one combination, as they are stored. Places of latencies: `LATENCY_BOUNDS_MS`. */
export interface StatisticsRow extends Record<Count, number> {
  /** Unix milliseconds. */
  readonly atMs: number
  /** 0: all plans, without countries. */
  readonly planId: number
  /** 0: none, or not known yet; so too of carriers, and an empty country. */
  readonly routeId: number
  readonly carrierId: number
  readonly country: string
  /** `codeKey`s of FAILED and UNKNOWN messages, and how many there were of each. */
  readonly codes: readonly number[]
  readonly codeCounts: readonly number[]
  readonly currencies: readonly string[]
  /** Millionths of each currency. */
  readonly prices: readonly number[]
  /** Null: none was counted. */
  readonly accept: readonly number[] | null
  readonly submit: readonly number[] | null
  readonly receipt: readonly number[] | null
  readonly webhook: readonly number[] | null
}

const UNKNOWN_CODES = 1_000

/** One number for a status and an error code of 3 digits. */
export function codeKey(status: 'FAILED' | 'UNKNOWN', errorCode: string): number {
  return (status === 'UNKNOWN' ? UNKNOWN_CODES : 0) + Number(errorCode)
}

export function codeOf(key: number): { readonly status: 'FAILED' | 'UNKNOWN'; readonly errorCode: string } {
  return {
    status: key >= UNKNOWN_CODES ? 'UNKNOWN' : 'FAILED',
    errorCode: String(key % UNKNOWN_CODES).padStart(3, '0'),
  }
}

/** Latencies of one kind, for an answer. Percentiles are interpolated within their bucket. */
export interface LatencyFigures {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly buckets: readonly number[]
}

/** Null: none was counted. */
export function latencyFigures(kind: LatencyKind, buckets: readonly number[]): LatencyFigures | null {
  const count = buckets.reduce((sum, each) => sum + each, 0)
  if (count === 0) return null
  const bounds = LATENCY_BOUNDS_MS[kind]
  return {
    count,
    p50: percentileMs(bounds, buckets, 0.5)!,
    p99: percentileMs(bounds, buckets, 0.99)!,
    buckets,
  }
}

const MILLION = 1_000_000n

/** A sum of prices, which may exceed what one message can cost, or be negative where a price was corrected. */
export function formatSum(millionths: bigint): string {
  const size = millionths < 0n ? -millionths : millionths
  const places = String(size % MILLION)
    .padStart(6, '0')
    .replace(/0+$/, '')
  const text = places === '' ? String(size / MILLION) : `${size / MILLION}.${places}`
  return millionths < 0n ? `-${text}` : text
}
