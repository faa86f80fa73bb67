import { percentileMs } from '../carriers/latencies.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../durations.ts'

/** What is counted of messages over time, and by what it is told apart. docs/statistics.md explains the figures. */

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
export const BUCKETS = 16

/** Periods that counts are kept for, and what a series has a point for. UTC. */
export const INTERVALS = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS } as const
export type Interval = keyof typeof INTERVALS

/** Each process writes its counts this often. */
export const FLUSH_MS = 5_000
/** Counts that are this old are written, by all processes: a crash loses younger ones only. Half of it is for the write. */
export const SETTLED_AFTER_MS = 2 * FLUSH_MS
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
