/**
 * How fast a carrier may be sent to: its configured rate, and below it what its ESME_RTHROTTLED answers allow. Halved
 * by a throttled answer, at most once a second, and recovering by 5 % a second.
 */

const RECOVERY_PER_S = 1.05
const HALVING_PAUSE_MS = 1_000
/** The rate of the last second is what is halved when no limit is configured. */
const MEASURE_MS = 1_000
const LOWEST_PER_S = 1
/** Above this a rate learned from throttling is forgotten. */
const FORGET_PER_S = 20_000

export class Throttle {
  readonly #limitPerS: number
  #ratePerS: number
  #tokens: number
  #refilledAtMs: number
  #halvedAtMs = Number.NEGATIVE_INFINITY
  #measuredSinceMs: number
  #sent = 0
  #lastPerS = 0
  #earlierPerS = 0

  /** `limitPerS` null: no limit but the carrier's own. */
  constructor(limitPerS: number | null, nowMs: number) {
    this.#limitPerS = limitPerS ?? Number.POSITIVE_INFINITY
    this.#ratePerS = this.#limitPerS
    this.#refilledAtMs = nowMs
    this.#measuredSinceMs = nowMs
    this.#tokens = 1
  }

  get ratePerS(): number {
    return this.#ratePerS
  }

  /** Takes leave to send one segment now, or tells how many milliseconds to wait for it. */
  take(nowMs: number): number {
    this.#advance(nowMs)
    if (this.#ratePerS !== Number.POSITIVE_INFINITY) {
      if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) / this.#ratePerS) * 1000)
      this.#tokens -= 1
    }
    this.#sent += 1
    return 0
  }

  /** The carrier answered ESME_RTHROTTLED. */
  throttled(nowMs: number): void {
    this.#advance(nowMs)
    if (nowMs - this.#halvedAtMs < HALVING_PAUSE_MS) return
    this.#halvedAtMs = nowMs
    // An answer speaks of what was sent a while ago.
    const measured = Math.max(this.#earlierPerS, this.#lastPerS, this.#sent)
    this.#ratePerS = Math.max(LOWEST_PER_S, Math.min(this.#ratePerS, measured) / 2)
    this.#tokens = Math.min(this.#tokens, 1)
  }

  #advance(nowMs: number): void {
    if (nowMs - this.#measuredSinceMs >= MEASURE_MS) {
      this.#earlierPerS = this.#lastPerS
      this.#lastPerS = (this.#sent * 1000) / (nowMs - this.#measuredSinceMs)
      this.#sent = 0
      this.#measuredSinceMs = nowMs
    }
    const elapsedS = Math.max(0, nowMs - this.#refilledAtMs) / 1000
    this.#refilledAtMs = nowMs
    if (this.#ratePerS === Number.POSITIVE_INFINITY) return
    // Up to a tenth of a second's worth at once: smooth enough for a carrier that counts by the second.
    this.#tokens = Math.min(this.#tokens + elapsedS * this.#ratePerS, Math.max(1, this.#ratePerS / 10))
    if (this.#ratePerS < this.#limitPerS) {
      const recovered = this.#ratePerS * RECOVERY_PER_S ** elapsedS
      this.#ratePerS = Math.min(
        recovered > FORGET_PER_S ? Number.POSITIVE_INFINITY : recovered,
        this.#limitPerS,
      )
    }
  }
}
