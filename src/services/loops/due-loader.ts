import { setTimeout as wait } from 'node:timers/promises'
import type { SharedRoom } from '../../collections/shared-room.ts'
import type { NodeParts } from './node-parts.ts'
import { PeriodicTask } from './periodic-task.ts'

export interface DueLoaderOptions extends Pick<NodeParts, 'log'> {
  /** Logged when a look has failed. */
  readonly failure: string
  /** Whether the node's lease and role let it take anything. */
  readonly mayTake: () => boolean
  /** The room in this node's memory. */
  readonly room: SharedRoom
  /** True while the results of the work cannot be recorded. */
  readonly isFailing: () => boolean
  readonly pollMs: number
  /** Whether no other node is alive, which could queue something. */
  readonly isAlone: () => boolean
  /** Called, and awaited, when taking has failed. */
  readonly onFailed: () => Promise<unknown>
}

const DRAIN_POLL_MS = 20
/**
 * Pause after a look that found nothing queued, while this node is alone: until it runs a statement, nobody queues anything.
 * Another node may have started since the last heartbeat, so it is no longer than the pause between two of these.
 */
const REST_MS = 1_000

/** Looks repeatedly for work that is due in the database, and takes it into memory while there is room. */
export abstract class DueLoader {
  readonly #options: DueLoaderOptions
  readonly #task: PeriodicTask
  #isStopped = false
  #taken = 0
  #isWoken = false
  /** Until this time `wake` does nothing, because the look after the last `wake` took nothing. */
  #restUntilMs = Number.NEGATIVE_INFINITY

  constructor(options: DueLoaderOptions) {
    this.#options = options
    const { log, failure, pollMs } = options
    this.#task = new PeriodicTask(log, failure, pollMs, () => this.#run())
  }

  /**
   * Takes what is due. Returns the milliseconds until the next look, if it should come sooner than `pollMs`; or that nothing
   * is queued at all, not even for later.
   */
  protected abstract look(): Promise<number | 'nothing queued' | undefined>

  /** Whether this node may take work into memory now. */
  get isOpen(): boolean {
    const { isFailing, mayTake } = this.#options
    return !this.#isStopped && mayTake() && !isFailing()
  }

  start(): void {
    this.#task.start()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#task.stop()
  }

  /** Resolves when nothing is in memory any more, or after `timeoutMs`. */
  async drain(timeoutMs: number): Promise<void> {
    const deadlineMs = performance.now() + timeoutMs
    while (this.#options.room.taken > 0 && performance.now() < deadlineMs) await wait(DRAIN_POLL_MS)
  }

  /** Something is waiting. Looks at once, unless the look after the last `wake` took nothing. */
  wake(): void {
    const restMs = this.#restUntilMs - performance.now()
    if (restMs > 0) this.#task.hasten(restMs)
    else {
      this.#isWoken = true
      this.#task.wake()
    }
  }

  /** Another node has come, or this process has run a statement that may have queued something: looks within `pollMs`. */
  stir(): void {
    this.#task.hasten(this.#options.pollMs)
  }

  /** Looks once. Returns how many items were taken. */
  async runOnce(): Promise<number> {
    await this.#run()
    return this.#taken
  }

  /** Takes the items that `read` returns, at most `limit`. Reserves room for that many while it reads. */
  protected async take<Item>(
    limit: number,
    read: () => Promise<readonly Item[]>,
    into: (items: readonly Item[]) => void,
  ): Promise<number> {
    const { onFailed, room } = this.#options
    let items: readonly Item[]
    room.reserve(limit)
    try {
      items = await read()
    } catch (error) {
      await onFailed()
      throw error
    } finally {
      room.reserve(-limit)
    }
    into(items)
    this.#taken += items.length
    return items.length
  }

  async #run(): Promise<number | undefined> {
    const wasWoken = this.#isWoken
    this.#isWoken = false
    this.#taken = 0
    const found = await this.look()
    const { isAlone, pollMs } = this.#options
    if (wasWoken && this.#taken === 0) this.#restUntilMs = performance.now() + pollMs
    if (found !== 'nothing queued') return found
    return isAlone() ? Math.max(pollMs, REST_MS) : undefined
  }
}
