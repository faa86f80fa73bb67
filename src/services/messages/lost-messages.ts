import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import type { Database } from '../../store/database.ts'
import { findAtRest } from '../../store/projection.ts'

export interface LostMessagesOptions {
  readonly db: Database
  readonly log: Log
  /** Monotonic, milliseconds. Default: that of the process. */
  readonly clock?: (() => number) | undefined
}

const POLL_MS = 200
/** A recovery of very many messages takes some seconds. Who waits longer waits for one that fails. */
const MOST_WAIT_MS = 60_000

/** Messages of a lane that was taken over: what is still learned of them here goes into their records, once these are there. */
export class LostMessages {
  readonly #options: LostMessagesOptions
  readonly #clock: () => number
  /** By id: the plan. */
  readonly #plans = new Map<string, number>()
  #lostAtMs = 0

  constructor(options: LostMessagesOptions) {
    this.#options = options
    this.#clock = options.clock ?? (() => performance.now())
  }

  /** Those of a lane that was lost long before are forgotten: nobody has asked for them. */
  add(msgId: string, planId: number): void {
    const nowMs = this.#clock()
    if (nowMs - this.#lostAtMs > MOST_WAIT_MS) this.#plans.clear()
    this.#lostAtMs = nowMs
    this.#plans.set(msgId, planId)
  }

  has(msgId: string): boolean {
    return this.#plans.has(msgId)
  }

  /** Resolves when whoever has their lane has written these, or has not for long; rejects while the database is away. */
  async untilRecorded(msgIds: readonly string[]): Promise<void> {
    const { db, log } = this.#options
    // While the database is away nobody can recover anything: that time does not count.
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
