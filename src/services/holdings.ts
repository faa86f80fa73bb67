import type { Database } from '../store/database.ts'
import { freeDispatches, listHeldDispatches } from '../store/dispatches.ts'
import { listHeldEvents } from '../store/event-deliveries.ts'
import type { MessagesInProgress } from './messages-in-progress.ts'
import type { NodeLease } from './node-lease.ts'
import type { Recorder } from './recorder.ts'
import type { Submitter } from './submitter.ts'
import type { WebhookDeliverer } from './webhook-deliverer.ts'

export interface HoldingsOptions {
  readonly db: Database
  readonly lease: NodeLease
  readonly submitter: Submitter
  readonly recorder: Recorder
  /** What became of these may wait for the journal, or for their record. */
  readonly inProgress: Pick<MessagesInProgress, 'has'>
  readonly deliverer: WebhookDeliverer
  readonly onError: (message: string, error: unknown) => void
  readonly intervalMs?: number | undefined
}

/** Both queue tables are read whole, so not often. */
const INTERVAL_MS = 60_000

/**
 * Compares what the tables say this node has in memory with what it has. The two part when the answer to a statement
 * was lost: the row names this node, and nobody would ever take it up. A row that is missing in memory twice in a row,
 * so that it is not merely on its way in or out, is freed.
 */
export class Holdings {
  readonly #options: HoldingsOptions
  #suspects = new Set<string>()
  /** Ids of leases that are over, of which the comparison is still to be made. */
  readonly #former = new Set<number>()
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(options: HoldingsOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#running = this.runOnce()
        .catch((error) => this.#options.onError('holdings not compared', error))
        .then(() => this.start())
    }, this.#options.intervalMs ?? INTERVAL_MS)
  }

  async runOnce(): Promise<void> {
    const { db, lease, deliverer } = this.#options
    const { nodeId } = lease
    for (const former of [...this.#former]) await this.#disown(former)
    const messages = await this.#unknown(nodeId)
    const events = (await listHeldEvents(db, nodeId)).filter(({ msg_id }) => !deliverer.holds(msg_id))
    const suspects = new Set([...messages, ...events.map(eventKey)])
    const lost = messages.filter((msgId) => this.#suspects.has(msgId))
    if (lost.length > 0) await freeDispatches(db, nodeId, lost)
    deliverer.disown(
      events
        .filter((event) => this.#suspects.has(eventKey(event)))
        .map((event) => ({ ...event, holder: nodeId })),
    )
    this.#suspects = suspects
  }

  /** The lease under this id is over: what it is said to hold and this process has not, it never sent. Freed at once. */
  leaseEnded(nodeId: number): void {
    this.#former.add(nodeId)
    this.#disown(nodeId).catch((error) => this.#options.onError('holdings not compared', error))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#running
  }

  /** Once nothing more is taken up: frees what others would have to take for sent. Not where the database is away. */
  async giveUp(): Promise<void> {
    const { lease, recorder } = this.#options
    if (lease.nodeId !== 0 && !recorder.failing) await this.#disown(lease.nodeId)
  }

  async #disown(nodeId: number): Promise<void> {
    const lost = await this.#unknown(nodeId)
    if (lost.length > 0) await freeDispatches(this.#options.db, nodeId, lost)
    this.#former.delete(nodeId)
  }

  /** What the table says is in memory, and is not. */
  async #unknown(nodeId: number): Promise<string[]> {
    const { db, inProgress, submitter, recorder } = this.#options
    const held = await listHeldDispatches(db, nodeId)
    const unwritten = recorder.unwrittenMessages()
    const isKnown = (msgId: string) => submitter.holds(msgId) || unwritten.has(msgId) || inProgress.has(msgId)
    return held.filter((msgId) => !isKnown(msgId))
  }
}

function eventKey({ msg_id, seq }: { msg_id: string; seq: number }): string {
  return `${msg_id}-${seq}`
}
