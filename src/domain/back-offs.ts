import { BoundedMap } from '../collections/bounded-map.ts'
import { endpointKey } from './webhook-targets.ts'

/** Recipients we are backing off from, each with the end of its back-off in milliseconds. */
export class BackOffs extends BoundedMap<string, number> {
  /** Milliseconds left; 0 when there is no back-off or it is over. */
  leftMs(key: string, nowMs: number): number {
    if (this.size === 0) return 0
    const untilMs = this.get(key)
    if (untilMs === undefined) return 0
    if (untilMs > nowMs) return untilMs - nowMs
    this.delete(key)
    return 0
  }
}

/** Binds that one message may cost before such an answer is taken as the message's own fault. */
const MOST_REBINDS = 3
/** Messages that are counted; the one whose answer came first makes room. */
const MAX_MESSAGES = 1_000

/**
 * Which messages were answered with a status that blames the session, and in how many sessions. A carrier that means
 * something else by it may answer one message like this every time. Without this count, that message would rebind
 * everybody's link until its validity is over.
 */
export class RebindCounts {
  readonly #seen: BoundedMap<string, { count: number; session: object | null }>

  constructor(most: number = MAX_MESSAGES) {
    this.#seen = new BoundedMap(most)
  }

  /** Records such an answer. False when the message got one in three other sessions before: the fault is not the link's. */
  blamesLink(msgId: string, session: object | null): boolean {
    const before = this.#seen.get(msgId)
    // An answer to another of its segments.
    if (before !== undefined && before.session === session) return true
    const count = before?.count ?? 0
    if (count >= MOST_REBINDS) return false
    this.#seen.set(msgId, { count: count + 1, session })
    return true
  }

  /** Its submission is over. */
  forget(msgId: string): void {
    if (this.#seen.size > 0) this.#seen.delete(msgId)
  }
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

  /** Endpoints whose last attempt failed. */
  get size(): number {
    return this.#counts.size
  }

  /** Returns the failures in a row, this one included. */
  failed(planId: number, destination: string): number {
    const key = endpointKey({ planId, destination })
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    return count
  }

  succeeded(planId: number, destination: string): void {
    if (this.#counts.size > 0) this.#counts.delete(endpointKey({ planId, destination }))
  }
}

/**
 * Why a carrier's link is down. closed: the carrier ended the session without answering the bind, or right after
 * answering it; refused: it refused the bind, or it is there but takes no submits; unreached: anything else.
 */
export type LinkFailure = 'unreached' | 'closed' | 'refused' | 'unauthorized'

/** The longest pause before the next bind, milliseconds. */
const MOST_MS: Readonly<Record<LinkFailure, number>> = {
  // Sending resumes at most this long after the carrier is back.
  unreached: 5_000,
  closed: 60_000,
  refused: 60_000,
  // Some carriers lock an account after too many binds.
  unauthorized: 300_000,
}
/** A restarting carrier also closes sessions, for half a minute or so: this many closes in a row are no refusal. */
const QUICK_CLOSES = 8

/**
 * The longest pause before the next bind, in milliseconds, after a pause of `lastMs`; 0 means that the link was in order.
 * It doubles from `firstMs` up to a bound that depends on the failure. `closes`: how many sessions in a row were closed,
 * this one included. A carrier that was away for long and refuses the first binds on its return is retried soon: while it
 * was away, the pause grew no longer than that of `unreached`.
 */
export function nextPauseMs(
  failure: LinkFailure,
  { lastMs, firstMs, closes }: { lastMs: number; firstMs: number; closes: number },
): number {
  const isQuick = failure === 'closed' && closes <= QUICK_CLOSES
  return Math.min(Math.max(firstMs, 2 * lastMs), MOST_MS[isQuick ? 'unreached' : failure])
}
