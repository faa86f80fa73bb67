import type { Database } from '../store/database.ts'
import { findNewParkedReceipts, type ParkedId } from '../store/parked-receipts.ts'

export interface ForeignReceiptsOptions {
  readonly db: Database
  readonly isAlone: () => boolean
  /** Of the database, Unix milliseconds. */
  readonly nowMs: () => number
  /** A receipt was parked, by whatever node. */
  readonly onParked: (id: ParkedId) => void
  readonly onError: (message: string, error: unknown) => void
}

const POLL_MS = 100
/** Receipts may be committed so long after the instant that they bear. */
const OVERLAP_MS = 2_000
const MAX_READ = 1_000

/**
 * A receipt that comes over another node's link finds no message in its tables while this node has that in memory, and is
 * parked there: seen here, it is applied once the message is on record.
 */
export class ForeignReceipts {
  readonly #options: ForeignReceiptsOptions
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(options: ForeignReceiptsOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#running = this.#look()
        .catch((error) => this.#options.onError('parked receipts not read', error))
        .then(() => this.start())
    }, POLL_MS)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#running
  }

  async #look(): Promise<void> {
    const { db, isAlone, nowMs, onParked } = this.#options
    if (isAlone()) return
    const since = new Date(nowMs() - OVERLAP_MS).toISOString()
    for (const id of await findNewParkedReceipts(db, since, MAX_READ)) onParked(id)
  }
}
