import { monitorEventLoopDelay } from 'node:perf_hooks'

/** A sample wakes the thread. Each 10 ms, as is usual, that was an eighth of the CPU of a node without messages. */
const SAMPLE_MS = 50

/** How late this thread's event loop was with what was due, since the last `reset`. All figures in seconds. */
export class EventLoopLag {
  readonly #delays = monitorEventLoopDelay({ resolution: SAMPLE_MS })

  constructor() {
    this.#delays.enable()
  }

  percentile(percent: number): number {
    return this.#lag(this.#delays.percentile(percent))
  }

  get min(): number {
    return this.#lag(this.#delays.min)
  }

  get max(): number {
    return this.#lag(this.#delays.max)
  }

  get mean(): number {
    return this.#lag(this.#delays.mean)
  }

  get stddev(): number {
    return this.#delays.count === 0 ? 0 : this.#delays.stddev / 1e9
  }

  reset(): void {
    this.#delays.reset()
  }

  /** A sample is the whole time since the sample before. */
  #lag(nanoseconds: number): number {
    return this.#delays.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - SAMPLE_MS / 1_000)
  }
}
