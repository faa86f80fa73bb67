import type { Log } from '../../log.ts'

export interface PeriodicTaskOptions {
  /** May return the milliseconds until the next run, which otherwise follows after the interval. */
  readonly run: () => Promise<unknown>
  /** From the end of one run to the start of the next, milliseconds. */
  readonly intervalMs: number | (() => number)
  /** Pause after a failed run. Default: the interval. */
  readonly retryMs?: number
  readonly log: Log
  /** Logged for the first of several failures in a row. */
  readonly failure: string
}

/** Runs a task repeatedly, one run after the other, until it is stopped. A failed run is followed by the next. */
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

  /** The first run is due after `delayMs`; default: after the interval. No effect if already started. */
  start(delayMs: number = this.#intervalMs()): void {
    if (!this.#isStopped) return
    this.#isStopped = false
    this.#schedule(delayMs)
  }

  /** Runs at once. Resolves when that first run is over. */
  async startNow(): Promise<void> {
    this.#isStopped = false
    this.#begin()
    await this.#running
  }

  /** Runs now, or again as soon as the current run is over. */
  wake(): void {
    if (this.#isStopped) return
    if (this.#running !== null) this.#isWoken = true
    else this.#begin()
  }

  /** Starts no more runs. Resolves when the current run has ended. */
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
