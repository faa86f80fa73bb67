/** A reading of the database's clock: its time, and this process's monotonic clock when it was asked and when it answered. */
export interface ClockReading {
  readonly databaseMs: number
  readonly askedMs: number
  readonly answeredMs: number
}

/** A reading that took longer is too imprecise. */
const MAX_READING_MS = 1_000
/** A smaller difference is jitter of readings, and no reason to let time jump. */
const LEAST_STEP_MS = 50
/** A node whose own clock is further off is not ready. */
const MAX_OFF_MS = 5_000

/**
 * The time that all nodes use: the database's clock, read with each heartbeat and advanced by the monotonic clock in
 * between. So a node whose clock is wrong, or is set, neither expires nor delays anything. Before the first reading it is
 * the node's own clock.
 */
export class DatabaseClock {
  readonly #monotonic: () => number
  readonly #own: () => number
  /** Database time minus monotonic time. */
  #base: number | null = null

  constructor(monotonic: () => number, own: () => number) {
    this.#monotonic = monotonic
    this.#own = own
  }

  /** Unix milliseconds, whole. */
  readonly nowMs = (): number =>
    this.#base === null ? this.#own() : Math.trunc(this.#base + this.#monotonic())

  read({ databaseMs, askedMs, answeredMs }: ClockReading): void {
    if (answeredMs - askedMs > MAX_READING_MS) return
    const base = databaseMs - (askedMs + answeredMs) / 2
    const stepMs = Math.abs(base - (this.#base ?? Number.NEGATIVE_INFINITY))
    if (stepMs > Math.max(LEAST_STEP_MS, answeredMs - askedMs)) this.#base = base
  }

  /** How far the node's own clock is ahead, in milliseconds; negative when it is behind. */
  get aheadMs(): number {
    return this.#own() - this.nowMs()
  }

  get isFarOff(): boolean {
    return Math.abs(this.aheadMs) > MAX_OFF_MS
  }
}
