import type { Log } from '../../log.ts'
import type { Database } from '../../store/database.ts'
import { findNewParkedReceipts, type ParkedPlace } from '../../store/parked-receipts.ts'
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
/** A receipt is committed that soon after it is parked; a later one waits for the record of its message. */
const OVERLAP_MS = 1_000
const PAGE = 1_000
const MAX_PAGES = 20

/**
 * A receipt over another node's link is parked while this node has its message in memory. This node reads on in what others
 * park, and applies such a receipt once the message has its record.
 */
export class ForeignReceipts {
  readonly #options: ForeignReceiptsOptions
  readonly #task: PeriodicTask
  /** What is older has been looked at. */
  #lookedUntilMs = 0

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
    this.#lookedUntilMs = this.#options.nowMs()
    this.#task.start()
  }

  async stop(): Promise<void> {
    await this.#task.stop()
  }

  async #look(): Promise<void> {
    const { db, lease, nowMs, recorder } = this.#options
    const untilMs = nowMs()
    let after: ParkedPlace = {
      parked_at: new Date(this.#lookedUntilMs - OVERLAP_MS).toISOString(),
      parked_id: 0,
    }
    for (let pages = lease.isAlone ? 0 : MAX_PAGES; pages > 0; pages -= 1) {
      const receipts = await findNewParkedReceipts(db, after, PAGE)
      for (const receipt of receipts) recorder.parked(receipt)
      if (receipts.length < PAGE) break
      after = receipts.at(-1)!
    }
    this.#lookedUntilMs = untilMs
  }
}
