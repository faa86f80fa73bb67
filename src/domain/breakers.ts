import { endpointKey } from './endpoints.ts'

/** Consecutive failures of an endpoint that open its breaker. */
export const BREAKER_THRESHOLD = 20

/** Milliseconds between two probes of a destination whose breaker is open. */
export const PROBE_INTERVAL_MS = 60_000

/** Endpoints whose failures are counted. A forgotten endpoint starts again from zero, so its breaker opens later. */
const MAX_ENDPOINTS = 10_000

/** Counts each endpoint's failures since its last success. Bounded: the endpoint whose last failure is the oldest makes room. */
export class FailureCounts {
  readonly #most: number
  readonly #counts = new Map<string, number>()

  constructor(most: number = MAX_ENDPOINTS) {
    this.#most = most
  }

  /** Endpoints whose last attempt failed. */
  get size(): number {
    return this.#counts.size
  }

  /** Returns the failures in a row, this one included. */
  failed(planId: number, destination: string): number {
    const key = endpointKey({ planId, destination })
    const count = (this.#counts.get(key) ?? 0) + 1
    // Inserting the key again makes it the newest.
    this.#counts.delete(key)
    this.#counts.set(key, count)
    if (this.#counts.size > this.#most) this.#counts.delete(this.#counts.keys().next().value as string)
    return count
  }

  succeeded(planId: number, destination: string): void {
    if (this.#counts.size > 0) this.#counts.delete(endpointKey({ planId, destination }))
  }
}
