import type { Database } from '../store/database.ts'
import { findRecorded } from '../store/projection.ts'

const POLL_MS = 200
/** A recovery of very many messages takes some seconds. Who waits longer waits for one that fails. */
const MOST_WAIT_MS = 60_000

/** Messages of a lane that was taken over: what is still learned of them here goes into their records, once these are there. */
export class LostMessages {
  readonly #db: Database
  readonly #onError: (message: string, error: unknown) => void
  /** By id: the plan. */
  readonly #plans = new Map<string, number>()
  #sinceMs = 0

  constructor(db: Database, onError: (message: string, error: unknown) => void) {
    this.#db = db
    this.#onError = onError
  }

  add(msgId: string, planId: number): void {
    this.#plans.set(msgId, planId)
    this.#sinceMs = performance.now()
  }

  has(msgId: string): boolean {
    return this.#plans.has(msgId)
  }

  /** Resolves when whoever has their lane has written these. */
  async untilRecorded(msgIds: readonly string[]): Promise<void> {
    for (;;) {
      const ids = msgIds.flatMap((msgId) => {
        const planId = this.#plans.get(msgId)
        return planId === undefined ? [] : [{ planId, msgId }]
      })
      if (ids.length === 0) return
      for (const msgId of await findRecorded(this.#db, ids)) this.#plans.delete(msgId)
      if (performance.now() - this.#sinceMs > MOST_WAIT_MS) {
        this.#onError('messages of a lost lane without a record', new Error(`${this.#plans.size} messages`))
        this.#plans.clear()
      }
      if (ids.some(({ msgId }) => this.#plans.has(msgId)))
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }
}
