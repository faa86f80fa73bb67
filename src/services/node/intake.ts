import type { SharedRoom } from '../../domain/shared-room.ts'
import { PeriodicTask, type PeriodicTaskOptions } from './periodic-task.ts'

export interface IntakeOptions extends Pick<PeriodicTaskOptions, 'log' | 'failure'> {
  /** The room in this node's memory. */
  readonly room: SharedRoom
  /** Takes what is due. Returns the milliseconds until it should look again, if sooner than `pollMs`. */
  readonly look: () => Promise<number | undefined>
  readonly pollMs: number
}

/** Looks repeatedly for work that waits in the database, and takes it into memory while there is room. */
export class Intake {
  readonly #options: IntakeOptions
  readonly #task: PeriodicTask
  #taken = 0
  #isWoken = false
  /** Until then `wake` does nothing, because the last woken look took nothing. */
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

  /** Something is waiting. Looks at once, unless the last woken look took nothing. */
  wake(): void {
    if (performance.now() < this.#restUntilMs) return
    this.#isWoken = true
    this.#task.wake()
  }

  /** Takes the items that `read` returns, at most `limit`. Room for that many is reserved meanwhile. */
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
