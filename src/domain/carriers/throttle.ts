/**
 * How fast a carrier may be sent to: its configured rate, and below that what its ESME_RTHROTTLED answers teach. A
 * throttled answer sets the rate to what the carrier accepted in the last second, which is its limit. The rate then grows
 * again: slowly near the limit, and faster the longer the limit is not met
 * (docs/adr/0009-a-carriers-limit-is-measured.md).
 */

import { SECOND_MS } from '../instants.ts'

/** Accepted segments are counted in parts of a second, so that a second can be looked back on at any time. */
const SLOTS = 10
const SLOT_MS = SECOND_MS / SLOTS
/** At most one cut in this time, so that each second is measured at one rate. */
const REDUCTION_PAUSE_MS = SECOND_MS
/** A share of what was accepted, because a limit is met exactly only by luck. */
const REDUCED_TO = 0.97
const LARGEST_REDUCTION = 0.5
const LOWEST_PER_S = 1
/** Above this a rate learned from throttling is forgotten. */
const FORGET_PER_S = 20_000

/** Growth per second, by the rate as a share of the ceiling (where throttling was last met). */
const GROWTH = [
  { below: 0.97, perS: 1.05 },
  { below: 1.03, perS: 1.01 },
  { below: 1.1, perS: 1.05 },
  { below: Number.POSITIVE_INFINITY, perS: 1.25 },
] as const
/** Growth per second until a rate is found at which the carrier accepts anything. */
const SEARCH_PER_S = 3

/** After this many throttled answers in a row, the carrier is assumed to accept nothing and is tried rarely. */
const CLOSED_AFTER = 10
const CLOSED_PER_S = 10

export class CarrierThrottle {
  readonly #limitPerS: number
  #ratePerS: number
  #tokens = 1
  #refilledAtMs: number
  #reducedAtMs = Number.NEGATIVE_INFINITY
  /** Rate at which throttling was last met; null: none was, or it is still being looked for. */
  #ceilingPerS: number | null = null
  /** The last cut was of a burst: what is measured soon after it partly includes that burst. */
  #reducedInBurst = false
  #throttledInARow = 0
  /** Whether the rate has held anything back since it was last advanced: only a rate that is used may grow. */
  #used = false
  readonly #accepted = new SlidingCount()
  readonly #sent = new SlidingCount()

  /** `limitPerS` null: no limit but the carrier's own. */
  constructor(limitPerS: number | null, nowMs: number) {
    this.#limitPerS = limitPerS ?? Number.POSITIVE_INFINITY
    this.#ratePerS = this.#limitPerS
    this.#refilledAtMs = nowMs
  }

  get ratePerS(): number {
    return this.#ratePerS
  }

  /** The carrier's own limit is felt: the rate is below the configured one. */
  get isReduced(): boolean {
    return this.#ratePerS < this.#limitPerS
  }

  /** Segments that may be sent at once: a tenth of a second's worth, smooth enough for a carrier that counts by the second. */
  get burst(): number {
    return Math.max(1, this.#pacePerS / 10)
  }

  /** Milliseconds until a segment may be sent; 0: now. */
  waitMs(nowMs: number): number {
    this.#advance(nowMs)
    if (this.#ratePerS === Number.POSITIVE_INFINITY || this.#tokens >= 1) return 0
    this.#used = true
    return Math.ceil(((1 - this.#tokens) / this.#pacePerS) * SECOND_MS)
  }

  /** Segments sent in the last second. */
  sentLastSecond(nowMs: number): number {
    return this.#sent.lastSecond(nowMs)
  }

  /** A segment was sent. */
  sent(nowMs: number): void {
    this.#sent.add(nowMs)
    if (this.#ratePerS !== Number.POSITIVE_INFINITY) this.#tokens -= 1
  }

  /** The carrier has accepted a segment. */
  accepted(nowMs: number): void {
    this.#accepted.add(nowMs)
    this.#throttledInARow = 0
  }

  /** The carrier answered ESME_RTHROTTLED to a segment sent at `sentAtMs`. */
  throttled(nowMs: number, sentAtMs: number): void {
    this.#advance(nowMs)
    this.#throttledInARow += 1
    this.#tokens = Math.min(this.#tokens, 0)
    // What was sent before the last cut says nothing about the rate since.
    const sinceReductionMs = nowMs - this.#reducedAtMs
    if (sentAtMs < this.#reducedAtMs || sinceReductionMs < REDUCTION_PAUSE_MS) return
    this.#reducedAtMs = nowMs
    const accepted = this.#accepted.lastSecond(nowMs)
    const sent = this.#sent.lastSecond(nowMs)
    const sentBefore = this.#sent.secondBefore(nowMs)
    const present = Math.min(this.#ratePerS, Math.max(sent, sentBefore))
    const reduced = Math.max(accepted * REDUCED_TO, present * LARGEST_REDUCTION)
    this.#ratePerS = Math.min(
      Math.max(LOWEST_PER_S, Math.min(reduced, present * REDUCED_TO)),
      this.#limitPerS,
    )
    // Throttling in a burst tells little, and a carrier that takes nothing tells nothing: the limit is looked for.
    const isBurst = sentBefore < sent / 2
    const isTelling =
      accepted > 0 && !isBurst && !(this.#reducedInBurst && sinceReductionMs < 2 * REDUCTION_PAUSE_MS)
    this.#reducedInBurst = isBurst
    this.#ceilingPerS = isTelling ? this.#ratePerS / REDUCED_TO : null
  }

  /** Segments sent per second for now. */
  get #pacePerS(): number {
    return this.#throttledInARow >= CLOSED_AFTER ? Math.min(this.#ratePerS, CLOSED_PER_S) : this.#ratePerS
  }

  #advance(nowMs: number): void {
    const elapsedS = Math.max(0, nowMs - this.#refilledAtMs) / SECOND_MS
    this.#refilledAtMs = nowMs
    if (this.#ratePerS === Number.POSITIVE_INFINITY) return
    const pace = this.#pacePerS
    this.#tokens = Math.min(this.#tokens + elapsedS * pace, this.burst)
    if (this.#used && this.#throttledInARow < CLOSED_AFTER) this.#grow(elapsedS)
    this.#used = false
  }

  #grow(elapsedS: number): void {
    if (this.#ratePerS >= this.#limitPerS) return
    const part = this.#ceilingPerS === null ? 0 : this.#ratePerS / this.#ceilingPerS
    const perS = this.#ceilingPerS === null ? SEARCH_PER_S : GROWTH.find(({ below }) => part < below)!.perS
    const grown = this.#ratePerS * perS ** Math.min(elapsedS, 1)
    this.#ratePerS = Math.min(grown > FORGET_PER_S ? Number.POSITIVE_INFINITY : grown, this.#limitPerS)
  }
}

/** Counts what happened in the last seconds. */
class SlidingCount {
  readonly #counts = new Array<number>(3 * SLOTS).fill(0)
  #slot = 0

  add(nowMs: number): void {
    this.#advance(nowMs)
    this.#counts[this.#slot % this.#counts.length]! += 1
  }

  lastSecond(nowMs: number): number {
    return this.#sum(nowMs, 0)
  }

  secondBefore(nowMs: number): number {
    return this.#sum(nowMs, SLOTS)
  }

  /** The present slot is not over: the oldest one is counted for the time that the present one lacks. */
  #sum(nowMs: number, from: number): number {
    this.#advance(nowMs)
    const missing = 1 - (nowMs % SLOT_MS) / SLOT_MS
    let sum = this.#back(from + SLOTS) * missing - (from === 0 ? 0 : this.#back(from) * missing)
    for (let back = from; back < from + SLOTS; back += 1) sum += this.#back(back)
    return sum
  }

  #back(slots: number): number {
    const { length } = this.#counts
    return this.#counts[(this.#slot - slots + 2 * length) % length]!
  }

  #advance(nowMs: number): void {
    const slot = Math.floor(nowMs / SLOT_MS)
    const { length } = this.#counts
    if (slot - this.#slot >= length) this.#counts.fill(0)
    else for (let next = this.#slot + 1; next <= slot; next += 1) this.#counts[next % length] = 0
    this.#slot = Math.max(slot, this.#slot)
  }
}
