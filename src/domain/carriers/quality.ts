import type { QualityFloor } from '../configuration/configuration.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../instants.ts'
import { SUBMIT_RESULTS, type SubmitResult } from './statuses.ts'

/** How a carrier performs in a route: what is counted, the figures drawn from it, and when they are too bad. */

/** Messages by their last status after SENT. */
export const FINAL_RESULTS = ['delivered', 'failed', 'unknown'] as const
export type FinalResult = (typeof FINAL_RESULTS)[number]

/** Counts of one carrier in one route: submit_sm by the minute of the answer, messages by the minute of sentAt. */
export interface QualityCounts extends Record<SubmitResult | FinalResult, number> {
  /** Messages the carrier accepted whole. */
  sent: number
  /** Answers by SUBMIT_LATENCY_BOUNDS_MS. */
  submitLatency: number[]
  submitLatencyMaxMs: number
  /** Final receipts by RECEIPT_LATENCY_BOUNDS_MS. */
  receiptLatency: number[]
}

/** A message without a final receipt counts as missing one this long after it was sent. */
export const MISSING_AFTER_MINUTES = 10

export function minuteOf(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS) * MINUTE_MS
}

export function noCounts(): QualityCounts {
  return {
    accepted: 0,
    refused: 0,
    throttled: 0,
    noAnswer: 0,
    submitLatency: new Array<number>(SUBMIT_LATENCY_BOUNDS_MS.length + 1).fill(0),
    submitLatencyMaxMs: 0,
    sent: 0,
    delivered: 0,
    failed: 0,
    unknown: 0,
    receiptLatency: new Array<number>(RECEIPT_LATENCY_BOUNDS_MS.length + 1).fill(0),
  }
}

/** Percentage of the messages with a final receipt that were delivered, to a tenth; null: none has one. */
export function deliveryRate(counts: Pick<QualityCounts, FinalResult>): number | null {
  const finals = counts.delivered + counts.failed + counts.unknown
  return finals === 0 ? null : Math.round((1_000 * counts.delivered) / finals) / 10
}

/** `delivered 3 of 10 (30 %) in 60 min`, if that is less than wanted of enough messages with a final receipt; else null. */
export function tooFewDelivered(
  counts: Pick<QualityCounts, FinalResult>,
  wanted: Pick<QualityFloor, 'minDelivered' | 'minMessages' | 'windowMinutes'>,
): string | null {
  const finals = counts.delivered + counts.failed + counts.unknown
  if (finals < wanted.minMessages || counts.delivered * 100 >= wanted.minDelivered * finals) return null
  return `delivered ${counts.delivered} of ${finals} (${deliveryRate(counts)} %) in ${wanted.windowMinutes} min`
}

/** Why the counts of the floor's window put the carrier out of use, for people; null: they do not. */
export function belowFloor(counts: Pick<QualityCounts, FinalResult>, floor: QualityFloor): string | null {
  const reason = tooFewDelivered(counts, floor)
  return reason && `${reason}, floor ${floor.minDelivered} %`
}

/** A carrier in a route, by their database keys. */
export interface RouteCarrier {
  readonly routeId: number
  readonly carrierId: number
}

export interface QualityMinute extends RouteCarrier {
  /** Unix milliseconds, a whole minute. */
  readonly minuteMs: number
  readonly counts: QualityCounts
}

/** About 10 MB; the receipts of a day's minutes from ten carriers fit. */
const MAX_ROWS = 15_000
/** Keys of carriers stay below 2^21, so that a pair is one exact number. */
const ROUTE_KEYS = 2 ** 32

/** Counts that are not in the database yet: by minute, carrier and route. Bounded: what finds no room is not counted. */
export class QualityTallies {
  #minutes = new Map<number, Map<number, QualityMinute>>()
  #rows = 0
  #dropped = 0

  /** Events that found no room since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped
    this.#dropped = 0
    return dropped
  }

  /** `latencyMs` null: no answer came. */
  submitted(atMs: number, pair: RouteCarrier, result: SubmitResult, latencyMs: number | null): void {
    const counts = this.#counts(minuteOf(atMs), pair)
    if (counts === null) return
    counts[result] += 1
    if (latencyMs === null) return
    counts.submitLatency[latencyBucket(SUBMIT_LATENCY_BOUNDS_MS, latencyMs)]! += 1
    if (latencyMs > counts.submitLatencyMaxMs) counts.submitLatencyMaxMs = latencyMs
  }

  sent(sentAtMs: number, pair: RouteCarrier): void {
    const counts = this.#counts(minuteOf(sentAtMs), pair)
    if (counts !== null) counts.sent += 1
  }

  /** `again`: it was UNKNOWN before, and is no longer. */
  finished(
    sentAtMs: number,
    pair: RouteCarrier,
    result: FinalResult,
    latencyMs: number,
    again: boolean,
  ): void {
    const counts = this.#counts(minuteOf(sentAtMs), pair)
    if (counts === null) return
    counts[result] += 1
    if (again) counts.unknown -= 1
    else counts.receiptLatency[latencyBucket(RECEIPT_LATENCY_BOUNDS_MS, latencyMs)]! += 1
  }

  /** Returns everything counted so far, and drops it here. */
  take(): QualityMinute[] {
    const rows = [...this.#minutes.values()].flatMap((minute) => [...minute.values()])
    this.#minutes = new Map()
    this.#rows = 0
    return rows
  }

  /** Adds back counts that could not be written. */
  restore(rows: readonly QualityMinute[]): void {
    for (const row of rows) {
      const counts = this.#counts(row.minuteMs, row)
      if (counts !== null) add(counts, row.counts)
    }
  }

  #counts(minuteMs: number, { routeId, carrierId }: RouteCarrier): QualityCounts | null {
    let minute = this.#minutes.get(minuteMs)
    const key = carrierId * ROUTE_KEYS + routeId
    const known = minute?.get(key)
    if (known !== undefined) return known.counts
    if (this.#rows >= MAX_ROWS) {
      this.#dropped += 1
      return null
    }
    if (minute === undefined) {
      minute = new Map()
      this.#minutes.set(minuteMs, minute)
    }
    const row = { minuteMs, routeId, carrierId, counts: noCounts() }
    minute.set(key, row)
    this.#rows += 1
    return row.counts
  }
}

function add(counts: QualityCounts, more: QualityCounts): void {
  for (const name of COUNTERS) counts[name] += more[name]
  for (const [bucket, count] of more.submitLatency.entries()) counts.submitLatency[bucket]! += count
  for (const [bucket, count] of more.receiptLatency.entries()) counts.receiptLatency[bucket]! += count
  counts.submitLatencyMaxMs = Math.max(counts.submitLatencyMaxMs, more.submitLatencyMaxMs)
}

const COUNTERS = [...SUBMIT_RESULTS, 'sent', ...FINAL_RESULTS] as const

/** Upper bounds; one more bucket holds anything above. The columns of quality_minutes have this many places. */
export const SUBMIT_LATENCY_BOUNDS_MS: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000,
]
export const RECEIPT_LATENCY_BOUNDS_MS: readonly number[] = [
  ...[0.2, 0.5, 1, 2, 5, 10, 20, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 4, 12, 72].map((hours) => hours * HOUR_MS),
]

/** The bucket of a latency: the first whose bound is not below it. */
export function latencyBucket(bounds: readonly number[], latencyMs: number): number {
  let bucket = 0
  while (bucket < bounds.length && latencyMs > bounds[bucket]!) bucket += 1
  return bucket
}

/**
 * The latency in ms below which `share` (0..1) of the counted ones are, interpolated linearly in its bucket. `most` is
 * the greatest latency, if known; otherwise anything above the last bound counts as that bound. Null: none was counted.
 */
export function percentileMs(
  bounds: readonly number[],
  counts: readonly number[],
  share: number,
  most = bounds.at(-1)!,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = share * total
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && left <= count) {
      const lower = Math.min(bounds[bucket - 1] ?? 0, most)
      const upper = Math.min(bounds[bucket] ?? most, most)
      return Math.round(lower + (upper - lower) * (left / count))
    }
    left -= count
  }
  return most
}
