import {
  countLatency,
  type FinalResult,
  minuteOf,
  noCounts,
  type QualityCounts,
  RECEIPT_LATENCY_BOUNDS_MS,
  SUBMIT_LATENCY_BOUNDS_MS,
  type SubmitResult,
} from './quality.ts'

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
    countLatency(SUBMIT_LATENCY_BOUNDS_MS, counts.submitLatency, latencyMs)
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
    else countLatency(RECEIPT_LATENCY_BOUNDS_MS, counts.receiptLatency, latencyMs)
  }

  /** Returns everything counted so far, and forgets it here. */
  take(): QualityMinute[] {
    const rows = [...this.#minutes.values()].flatMap((minute) => [...minute.values()])
    this.#minutes = new Map()
    this.#rows = 0
    return rows
  }

  /** Adds back counts that could not be written. */
  giveBack(rows: readonly QualityMinute[]): void {
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

const COUNTERS = [
  'accepted',
  'refused',
  'throttled',
  'noAnswer',
  'sent',
  'delivered',
  'failed',
  'unknown',
] as const
