import type { Log } from '../../log.ts'

export interface PeriodicTaskOptions {
  /** A number it gives is in how many milliseconds it is due again; without one: after the interval. */
  readonly run: () => Promise<unknown>
  /** From the end of one run to the next, milliseconds. */
  readonly intervalMs: number | (() => number)
  /** From a run that failed to the next; default: the interval. */
  readonly retryMs?: number
  readonly log: Log
  /** What is logged of the first of several failures in a row. */
  readonly failure: string
}

/** Does something again and again: one run after the other, until it is stopped. A run that fails is followed by the next. */
export class PeriodicTask {
  readonly #options: PeriodicTaskOptions
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null
  #isStopped = true
  #isWoken = false
  #isFailing = false

  constructor(options: PeriodicTaskOptions) {
    this.#options = options
  }

  /** The first run is due after `delayMs`; default: after the interval. Does nothing where it has started. */
  start(delayMs: number = this.#intervalMs()): void {
    if (!this.#isStopped) return
    this.#isStopped = false
    this.#schedule(delayMs)
  }

  /** The first run is now; resolves when it is over. */
  async startNow(): Promise<void> {
    this.#isStopped = false
    this.#begin()
    await this.#running
  }

  /** Runs now, or again as soon as the run that has begun is over. */
  wake(): void {
    if (this.#isStopped) return
    if (this.#running !== null) this.#isWoken = true
    else this.#begin()
  }

  /** Nothing begins after this; resolves when the run that has begun is over. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#clear()
    await this.#running
  }

  #intervalMs(): number {
    const { intervalMs } = this.#options
    return typeof intervalMs === 'number' ? intervalMs : intervalMs()
  }

  #clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #schedule(delayMs: number): void {
    this.#clear()
    this.#timer = setTimeout(() => this.#begin(), delayMs)
  }

  #begin(): void {
    this.#clear()
    this.#isWoken = false
    this.#running = this.#run().then((delayMs) => {
      this.#running = null
      if (!this.#isStopped) this.#schedule(this.#isWoken ? 0 : delayMs)
    })
  }

  /** Never rejects. */
  async #run(): Promise<number> {
    try {
      const delayMs = await this.#options.run()
      this.#isFailing = false
      return typeof delayMs === 'number' ? delayMs : this.#intervalMs()
    } catch (error) {
      const { log, failure } = this.#options
      if (!this.#isFailing) log.error({ err: error }, failure)
      this.#isFailing = true
      return this.#options.retryMs ?? this.#intervalMs()
    }
  }
}
