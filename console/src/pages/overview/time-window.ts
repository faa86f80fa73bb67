import { TIME_SPANS, type TimeSpanName } from '../../kit/time-span.tsx'

export const INTERVALS_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const
export type Interval = keyof typeof INTERVALS_MS

/** The time that an overview shows, up to now. */
export interface TimeWindow {
  readonly fromMs: number
  /** The end of the present interval of the charts. */
  readonly toMs: number
  /** Of the charts. */
  readonly interval: Interval
  /** Of the tables, which need no points and have an answer for each group. */
  readonly tableInterval: Interval
  /** The start of the time of the same length before it. */
  readonly beforeMs: number
}

/**
 * At most 420 points for a chart. The API answers a table of many plans with at most 60 minutes, 48 hours or 31 days; the
 * window begins with an interval of the tables, so that both have the same sums.
 */
const INTERVALS: Readonly<Record<TimeSpanName, readonly [chart: Interval, table: Interval]>> = {
  '15m': ['minute', 'minute'],
  '1h': ['minute', 'minute'],
  '6h': ['minute', 'hour'],
  '24h': ['hour', 'hour'],
  '7d': ['hour', 'day'],
  '30d': ['day', 'day'],
}

/** The span as whole intervals. The present minute is one of them; a present hour or day comes on top. */
export function timeWindow(span: TimeSpanName, nowMs: number): TimeWindow {
  const [interval, tableInterval] = INTERVALS[span]
  const lengthMs = TIME_SPANS[span].ms
  const startMs = startOf(tableInterval, nowMs)
  const fromMs = startMs - lengthMs + (tableInterval === 'minute' ? INTERVALS_MS.minute : 0)
  const toMs = startOf(interval, nowMs) + INTERVALS_MS[interval]
  return { fromMs, toMs, interval, tableInterval, beforeMs: fromMs - lengthMs }
}

/** In UTC, as the API counts. */
function startOf(interval: Interval, atMs: number): number {
  return Math.floor(atMs / INTERVALS_MS[interval]) * INTERVALS_MS[interval]
}

const LEAST_KNOWN_MS = 5 * 60_000

/**
 * How much of an interval is counted, in ms; null when that is too little to say how many there are a second. Some
 * processes are up to 10 s ahead of what all have counted, which shows in less than 5 minutes.
 */
export function countedMs(atMs: number, interval: Interval, completeUntilMs: number): number | null {
  const ms = Math.min(INTERVALS_MS[interval], completeUntilMs - atMs)
  return ms === INTERVALS_MS[interval] || ms >= LEAST_KNOWN_MS ? ms : null
}
