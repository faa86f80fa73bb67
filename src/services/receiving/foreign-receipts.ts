import type { Log } from '../../log.ts'
import { Batcher } from '../../operations/batches.ts'
import type { Database } from '../../store/database.ts'
import { findNewParkedReceipts, type ParkedPlace } from '../../store/parked-receipts.ts'
import type { IncomingReceipt } from '../../store/receipts.ts'
import type { ReceiptsInProgress } from '../messages/receipts-in-progress.ts'
import type { ReceiptItem, Recorder } from '../messages/recorder.ts'
import type { NodeLease } from '../node/node-lease.ts'
import { PeriodicTask } from '../node/periodic-task.ts'

/** Receipts that come over the bind of one process, for messages that another has in progress. */

/** What became of a receipt at another worker. `unknown`: no message there has its id. */
export type HandedReceipt = 'recorded' | 'refused' | 'unknown'

export interface SiblingReceiptsOptions {
  readonly inProgress: Pick<ReceiptsInProgress, 'receipt' | 'isKnown'>
  readonly recorder: Pick<Recorder, 'receipt'>
  /** Asks the other workers. Resolves with the answers that come in time. Absent: there are no other workers. */
  readonly ask?:
    | ((rows: readonly IncomingReceipt[]) => Promise<readonly (readonly HandedReceipt[])[]>)
    | undefined
}

/** Receipts that wait to be offered. With more than this, they go through the tables. */
const MOST_WAITING = 5_000
const MAX_BATCH = 500

/**
 * Receipts that come over one worker's bind, for messages that another worker has in progress. The workers of one parent hand
 * them to each other. Through the tables, where they are parked until the message has its record, they cost four times as
 * much. A receipt is answered when its owner has committed it.
 */
export class SiblingReceipts {
  readonly #options: SiblingReceiptsOptions
  readonly #offers: Batcher<IncomingReceipt, HandedReceipt>

  constructor(options: SiblingReceiptsOptions) {
    this.#options = options
    this.#offers = new Batcher({ write: (rows) => this.#offer(rows), maxBatch: MAX_BATCH, maxInFlight: 4 })
  }

  /** Takes a receipt that came over a bind of this process. */
  receipt(item: ReceiptItem): void {
    const { ask, inProgress, recorder } = this.#options
    const { row, done } = item
    const isOffered = ask !== undefined && !row.unread && this.#offers.waiting < MOST_WAITING
    if (!isOffered || inProgress.isKnown(row)) {
      recorder.receipt(item)
      return
    }
    void this.#offers.add(row).then((answer) => {
      if (answer === 'unknown') recorder.receipt(item)
      else done?.(answer === 'recorded')
    })
  }

  /** Takes receipts that another worker received. Resolves when those of messages in progress here are committed. */
  take(rows: readonly IncomingReceipt[]): Promise<HandedReceipt[]> {
    return Promise.all(rows.map((row) => this.#take(row)))
  }

  async #take(row: IncomingReceipt): Promise<HandedReceipt> {
    const { inProgress, recorder } = this.#options
    // The answer to its submit_sm may have been sent before it, so everything received by now is read first.
    if (!inProgress.isKnown(row)) await behindPoll()
    const { promise, resolve } = Promise.withResolvers<HandedReceipt>()
    const done = (recorded: boolean) => resolve(recorded ? 'recorded' : 'refused')
    const known = inProgress.receipt(row, done)
    if (known !== 'told' && known.length === 0 && !inProgress.isKnown(row)) return 'unknown'
    if (known !== 'told') recorder.receipt({ row, done })
    return await promise
  }

  /** One worker that has the message is enough, because no two have the same one. */
  async #offer(rows: readonly IncomingReceipt[]): Promise<readonly HandedReceipt[]> {
    const answers = await this.#options.ask!(rows)
    return rows.map(
      (_, place) => answers.map((of) => of[place]).find((answer) => answer !== 'unknown') ?? 'unknown',
    )
  }
}

/** Resolves when the event loop has polled the sockets once more. */
async function behindPoll(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
}

export interface ForeignReceiptsOptions {
  readonly db: Database
  readonly lease: Pick<NodeLease, 'isAlone'>
  /** Of the database, Unix milliseconds. */
  readonly nowMs: () => number
  readonly recorder: Pick<Recorder, 'parked'>
  readonly log: Log
}

const POLL_MS = 100
/** A receipt is committed within this time after it is parked. A later one waits for its message's record. */
const OVERLAP_MS = 1_000
const PAGE = 1_000
const MAX_PAGES = 20

/**
 * A receipt may arrive over another node's link while this node has its message in memory. The other node parks it. This node
 * reads what others park, and applies such a receipt once the message has its record.
 */
export function foreignReceipts({ db, lease, nowMs, recorder, log }: ForeignReceiptsOptions): PeriodicTask {
  /** Older receipts have been looked at; null before the first look. Maintenance applies those parked before that. */
  let lookedUntilMs: number | null = null
  const run = async () => {
    const untilMs = nowMs()
    lookedUntilMs ??= untilMs
    const fromMs = lookedUntilMs - OVERLAP_MS
    let after: ParkedPlace = { parkedAt: new Date(fromMs).toISOString(), parkedId: 0 }
    for (let pages = lease.isAlone ? 0 : MAX_PAGES; pages > 0; pages -= 1) {
      const receipts = await findNewParkedReceipts(db, after, PAGE)
      for (const receipt of receipts) recorder.parked(receipt)
      if (receipts.length < PAGE) break
      after = receipts.at(-1)!
    }
    lookedUntilMs = untilMs
  }
  return new PeriodicTask({ run, intervalMs: POLL_MS, log, failure: 'parked receipts not read' })
}
