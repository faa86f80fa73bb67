import { BoundedMap } from '../../collections/bounded-map.ts'
import { HOUR_MS, JITTER, jittered, MINUTE_MS, SECOND_MS } from '../instants.ts'
import { type Endpoint, endpointKey } from './targets.ts'

/**
 * When an event is tried again, and the numbers of a destination's breaker. `Destinations` opens and closes breakers;
 * `Deliverer` asks the breaker first, then `afterAttempt`.
 */

/** Milliseconds before attempt 1, 2, 3 …, each counted from the end of the attempt before it. */
export const ATTEMPT_DELAYS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]

/** The end of an event's schedule, when a parked event gets its last attempt: the sum of the delays without jitter, rounded up. */
export const SCHEDULE_MS: number = 76 * HOUR_MS

/** An event without room waits in the database until its endpoint has some, or for this long: its node may be gone by then. */
export const CROWDED_MS = 10 * MINUTE_MS

/**
 * Jitter shortens a schedule by at most 20 % (15 h). If more than that is left after the last delay, probes of the destination
 * must have used up delays early, and one more attempt is made at the end.
 */
const MOST_EARLY_MS = JITTER * SCHEDULE_MS

/** What becomes of an event after an attempt. */
export type Decision = { kind: 'delivered' } | { kind: 'again'; delayMs: number } | { kind: 'failed' }

/** What became of the attempt. `gone`: 410. */
export interface AttemptOutcome {
  ok: boolean
  gone: boolean
  retryAfterMs: number | null
}

/** `own`: the URL is the message's own callbackUrl. `leftMs`: until SCHEDULE_MS after its schedule began. */
export interface AttemptCircumstances {
  own: boolean
  leftMs: number
  random: number
}

/** A 410 from a message's own URL is about this event alone, and ends it; from a configured URL it is about the destination. */
export function isOwnUrlGone({ gone }: Pick<AttemptOutcome, 'gone'>, own: boolean): boolean {
  return gone && own
}

/**
 * 2xx ends the event, and so does a 410 of its message's own URL; anything else is retried until the schedule is over.
 * `failedBefore`: failed attempts of the schedule before this one. A probe of the destination counts too, although it does
 * not wait for its delay. If probes use up the delays early, one more attempt is made when the schedule ends.
 */
export function afterAttempt(
  failedBefore: number,
  outcome: AttemptOutcome,
  { own, leftMs, random }: AttemptCircumstances,
): Decision {
  if (outcome.ok) return { kind: 'delivered' }
  if (isOwnUrlGone(outcome, own)) return { kind: 'failed' }
  const baseMs = ATTEMPT_DELAYS_MS[failedBefore + 1]
  if (baseMs !== undefined) return { kind: 'again', delayMs: scheduledDelayMs(baseMs, outcome, random) }
  return leftMs > MOST_EARLY_MS ? { kind: 'again', delayMs: leftMs } : { kind: 'failed' }
}

/**
 * The schedule's delay ±20 %. A Retry-After replaces it, clamped to [base, 2 × base], so that a receiver can slow us down
 * but cannot hurry us or make us wait for ever.
 */
function scheduledDelayMs(baseMs: number, { retryAfterMs }: AttemptOutcome, random: number): number {
  if (retryAfterMs !== null) return Math.min(Math.max(retryAfterMs, baseMs), 2 * baseMs)
  return jittered(baseMs, random)
}

/** Ten days: more than any retry waits, and far from overflow. */
const MAX_RETRY_AFTER_MS = 240 * HOUR_MS

/**
 * Reads a Retry-After field (RFC 9110 §10.2.3): seconds, or an HTTP-date compared with `nowMs`. Returns milliseconds from
 * now, at least 0, or null when absent or unreadable.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null
  const text = value.trim()
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text) * SECOND_MS, MAX_RETRY_AFTER_MS)
  // IMF-fixdate only, as senders must generate it: Date.parse alone reads "1-2" as a date.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return null
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? null : Math.min(Math.max(atMs - nowMs, 0), MAX_RETRY_AFTER_MS)
}

/** Consecutive failures of an endpoint that open its breaker. */
export const BREAKER_THRESHOLD = 20

/** Milliseconds between two probes of a destination whose breaker is open. */
export const PROBE_INTERVAL_MS = 60_000

/** Endpoints whose failures are counted. A forgotten endpoint starts again from zero, so its breaker opens later. */
const MAX_ENDPOINTS = 10_000

/** Counts each endpoint's failures since its last success. The endpoint whose last failure is the oldest makes room. */
export class FailureCounts {
  readonly #counts: BoundedMap<string, number>

  constructor(most: number = MAX_ENDPOINTS) {
    this.#counts = new BoundedMap(most)
  }

  /** Returns the failures in a row, this one included. */
  count(endpoint: Endpoint): number {
    const key = endpointKey(endpoint)
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    return count
  }

  clear(endpoint: Endpoint): void {
    if (this.#counts.size > 0) this.#counts.delete(endpointKey(endpoint))
  }
}
