import { setTimeout as wait } from 'node:timers/promises'
import { findAtRest } from '../../store/projection.ts'
import type { NodeParts } from '../loops/node-parts.ts'

export interface LostMessagesOptions extends Pick<NodeParts, 'db' | 'log'> {
  /** Monotonic, milliseconds. Default: the clock of the process. */
  readonly clock?: (() => number) | undefined
}

const POLL_MS = 200
/** Recovering very many messages takes some seconds. A longer wait means that the recovery fails. */
const MOST_WAIT_MS = 60_000

/** Messages of a lane that was taken over. News of them goes into their records, once the new owner has written those. */
export class LostMessages {
  readonly #options: LostMessagesOptions
  readonly #clock: () => number
  /** The plan of each message, by message id. */
  readonly #plans = new Map<string, number>()
  #lostAtMs = 0

  constructor(options: LostMessagesOptions) {
    this.#options = options
    this.#clock = options.clock ?? (() => performance.now())
  }

  /** Messages of lanes lost long ago are dropped: nobody has asked for them. */
  add(msgId: string, planId: number): void {
    const nowMs = this.#clock()
    if (nowMs - this.#lostAtMs > MOST_WAIT_MS) this.#plans.clear()
    this.#lostAtMs = nowMs
    this.#plans.set(msgId, planId)
  }

  has(msgId: string): boolean {
    return this.#plans.has(msgId)
  }

  /** Resolves when the new owner has written these messages, or when that takes too long. Rejects while the database is away. */
  async untilRecorded(msgIds: readonly string[]): Promise<void> {
    const { db, log } = this.#options
    // While the database is away nobody can recover a lane, so that time does not count.
    for (let sinceMs: number | null = null; ; ) {
      const ids = msgIds.flatMap((msgId) => {
        const planId = this.#plans.get(msgId)
        return planId === undefined ? [] : [{ planId, msgId }]
      })
      if (ids.length === 0) return
      for (const msgId of await findAtRest(db, ids)) this.#plans.delete(msgId)
      const missing = ids.filter(({ msgId }) => this.#plans.has(msgId))
      if (missing.length === 0) return
      sinceMs ??= this.#clock()
      if (this.#clock() - sinceMs > MOST_WAIT_MS) {
        log.error(
          { err: new Error(`${missing.length} messages`) },
          'messages of a lost lane without a record',
        )
        for (const { msgId } of missing) this.#plans.delete(msgId)
        return
      }
      await wait(POLL_MS)
    }
  }
}
