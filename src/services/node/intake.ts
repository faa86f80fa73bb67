import type { SharedRoom } from '../../domain/shared-room.ts'
import { PeriodicTask, type PeriodicTaskOptions } from './periodic-task.ts'

export interface IntakeOptions extends Pick<PeriodicTaskOptions, 'log' | 'failure'> {
  /** Of this node's memory. */
  readonly room: SharedRoom
  /** Takes what is due. Returns in how many milliseconds it should look again, if sooner than `pollMs`. */
  readonly look: () => Promise<number | undefined>
  readonly pollMs: number
}

/** Looks again and again for what waits in the database, and takes it into memory while there is room for it. */
export class Intake {
  readonly #options: IntakeOptions
  readonly #task: PeriodicTask
  #taken = 0
  #isWoken = false
  /** Until then nothing wakes it: what it was woken for before found no room. */
  #restUntilMs = Number.NEGATIVE_INFINITY

  constructor(options: IntakeOptions) {
    this.#options = options
    this.#task = new PeriodicTask({ ...options, run: () => this.#look(), intervalMs: options.pollMs })
  }

  start(): void {
    this.#task.start()
  }

  async stop(): Promise<void> {
    await this.#task.stop()
  }

  /** Something waits now: looks at once, unless it was woken before and took nothing. */
  wake(): void {
    if (performance.now() < this.#restUntilMs) return
    this.#isWoken = true
    this.#task.wake()
  }

  /** Takes what `read` gives, at most `limit`, for which there is room. Nothing else finds that room meanwhile. */
  async take<Item>(
    limit: number,
    read: () => Promise<readonly Item[]>,
    into: (items: readonly Item[]) => void,
  ): Promise<number> {
    const { room } = this.#options
    let items: readonly Item[]
    room.reserved += limit
    try {
      items = await read()
    } finally {
      room.reserved -= limit
    }
    into(items)
    this.#taken += items.length
    return items.length
  }

  async #look(): Promise<number | undefined> {
    const wasWoken = this.#isWoken
    this.#isWoken = false
    this.#taken = 0
    const nextMs = await this.#options.look()
    if (wasWoken && this.#taken === 0) this.#restUntilMs = performance.now() + this.#options.pollMs
    return nextMs
  }
}
