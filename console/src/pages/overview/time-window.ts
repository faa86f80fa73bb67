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
 * At most 420 points for a chart. The API answers a table of many plans with at most 61 minutes, 25 hours or 8 days; the
 * window begins with an interval of the tables, so that both have the same sums.
 */
function intervalsOf(lengthMs: number): readonly [chart: Interval, table: Interval] {
  const { hour, day } = INTERVALS_MS
  if (lengthMs <= hour) return ['minute', 'minute']
  if (lengthMs <= 6 * hour) return ['minute', 'hour']
  if (lengthMs <= day) return ['hour', 'hour']
  return lengthMs <= 7 * day ? ['hour', 'day'] : ['day', 'day']
}

/** A length up to now as whole intervals. The present minute is one of them; a present hour or day comes on top. */
export function timeWindow(lengthMs: number, nowMs: number): TimeWindow {
  const [interval, tableInterval] = intervalsOf(lengthMs)
  const startMs = startOf(tableInterval, nowMs)
  const fromMs = startMs - lengthMs + (tableInterval === 'minute' ? INTERVALS_MS.minute : 0)
  const toMs = startOf(interval, nowMs) + INTERVALS_MS[interval]
  return { fromMs, toMs, interval, tableInterval, beforeMs: fromMs - lengthMs }
}

const MOST_DAYS_OF_PLANS = 8

/** The part of the window that the API adds up by plan or country over all plans: the last days of a long one. */
export function windowOfPlans(window: TimeWindow): TimeWindow {
  if (window.tableInterval !== 'day') return window
  const earliestMs = startOf('day', window.toMs - 1) - (MOST_DAYS_OF_PLANS - 1) * INTERVALS_MS.day
  return { ...window, fromMs: Math.max(window.fromMs, earliestMs) }
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
