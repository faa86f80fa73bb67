import type { Log } from '../../log.ts'

/** Runs a task repeatedly, one run after the other, until it is stopped. A failed run is followed by the next. */
export class PeriodicTask {
  readonly #log: Log
  readonly #failure: string
  readonly #interval: number | (() => number)
  readonly #task: () => Promise<unknown>
  readonly #retryMs: number | undefined
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null
  #isStopped = true
  #isWoken = false
  #dueAtMs = Number.POSITIVE_INFINITY
  /** Bound on the pause after the current run. */
  #mostMs = Number.POSITIVE_INFINITY
  /** Runs that have failed since the last one that did not. */
  #failures = 0

  /**
   * @param failure logged for the first of several failures in a row, and for their end
   * @param interval milliseconds from the end of one run to the start of the next
   * @param task may return the milliseconds until the next run, instead of the interval
   * @param retryMs pause after a failed run; default: the interval
   */
  constructor(
    log: Log,
    failure: string,
    interval: number | (() => number),
    task: () => Promise<unknown>,
    retryMs?: number,
  ) {
    this.#log = log
    this.#failure = failure
    this.#interval = interval
    this.#task = task
    this.#retryMs = retryMs
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

  /** The next run begins within `delayMs`; during a run: within that after its end. */
  hasten(delayMs: number): void {
    if (this.#isStopped) return
    if (this.#running !== null) this.#mostMs = Math.min(this.#mostMs, delayMs)
    else if (this.#dueAtMs - performance.now() > delayMs) this.#schedule(delayMs)
  }

  /** Starts no more runs. Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#clear()
    await this.#running
  }

  #intervalMs(): number {
    return typeof this.#interval === 'number' ? this.#interval : this.#interval()
  }

  #clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #schedule(delayMs: number): void {
    this.#clear()
    this.#dueAtMs = performance.now() + delayMs
    this.#timer = setTimeout(() => this.#begin(), delayMs)
  }

  #begin(): void {
    this.#clear()
    this.#isWoken = false
    this.#mostMs = Number.POSITIVE_INFINITY
    this.#running = this.#run().then((delayMs) => {
      this.#running = null
      if (!this.#isStopped) this.#schedule(this.#isWoken ? 0 : Math.min(delayMs, this.#mostMs))
    })
  }

  /** Never rejects. */
  async #run(): Promise<number> {
    try {
      const delayMs = await this.#task()
      if (this.#failures > 0) this.#log.info({ failures: this.#failures }, `no longer: ${this.#failure}`)
      this.#failures = 0
      return typeof delayMs === 'number' ? delayMs : this.#intervalMs()
    } catch (error) {
      if (this.#failures === 0) this.#log.error({ err: error }, this.#failure)
      this.#failures += 1
      return this.#retryMs ?? this.#intervalMs()
    }
  }
}
