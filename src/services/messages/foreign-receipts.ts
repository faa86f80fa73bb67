import type { Log } from '../../log.ts'
import type { Database } from '../../store/database.ts'
import { findNewParkedReceipts } from '../../store/parked-receipts.ts'
import type { NodeLease } from '../node/node-lease.ts'
import { PeriodicTask } from '../node/periodic-task.ts'
import type { Recorder } from './recorder.ts'

export interface ForeignReceiptsOptions {
  readonly db: Database
  readonly lease: Pick<NodeLease, 'isAlone'>
  /** Of the database, Unix milliseconds. */
  readonly nowMs: () => number
  readonly recorder: Pick<Recorder, 'parked'>
  readonly log: Log
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
  readonly #task: PeriodicTask

  constructor(options: ForeignReceiptsOptions) {
    this.#options = options
    this.#task = new PeriodicTask({
      run: () => this.#look(),
      intervalMs: POLL_MS,
      log: options.log,
      failure: 'parked receipts not read',
    })
  }

  start(): void {
    this.#task.start()
  }

  async stop(): Promise<void> {
    await this.#task.stop()
  }

  async #look(): Promise<void> {
    const { db, lease, nowMs, recorder } = this.#options
    if (lease.isAlone) return
    const since = new Date(nowMs() - OVERLAP_MS).toISOString()
    for (const id of await findNewParkedReceipts(db, since, MAX_READ)) recorder.parked(id)
  }
}
