import type { Logger } from 'pino'

/** The time that a part has to stop even if the time of all is up. */
const LEAST_STOP_MS = 250
const LATE = Symbol('late')

/** The parts that are running. They are stopped in the reverse order. */
export class ShutdownStack {
  readonly #log: Logger
  readonly #timeoutMs: number
  readonly #stops: { name: string; stop: () => unknown }[] = []
  #stopping: Promise<void> | null = null

  constructor(log: Logger, timeoutMs: number) {
    this.#log = log
    this.#timeoutMs = timeoutMs
  }

  add(name: string, stop: () => unknown): void {
    this.#stops.push({ name, stop })
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    const deadlineMs = performance.now() + this.#timeoutMs
    for (const { name, stop } of this.#stops.reverse()) {
      // Each part has bounds of its own. This one is for a database that neither answers nor refuses.
      const { promise: late, resolve } = Promise.withResolvers<typeof LATE>()
      const timer = setTimeout(resolve, Math.max(deadlineMs - performance.now(), LEAST_STOP_MS), LATE)
      try {
        if ((await Promise.race([stop(), late])) === LATE)
          this.#log.error({ part: name }, 'component did not stop in time')
      } catch (error) {
        this.#log.error({ err: error, part: name }, 'component did not stop cleanly')
      } finally {
        clearTimeout(timer)
      }
    }
  }
}
