import type { Log } from '../../log.ts'
import type { Database } from '../../store/database.ts'
import { listHeldEvents } from '../../store/event-deliveries.ts'
import type { NodeLease } from '../node/node-lease.ts'
import { PeriodicTask } from '../node/periodic-task.ts'
import type { WebhookDeliverer } from '../webhooks/webhook-deliverer.ts'

export interface HoldingsOptions {
  readonly db: Database
  readonly lease: NodeLease
  readonly deliverer: WebhookDeliverer
  readonly log: Log
  readonly intervalMs?: number | undefined
}

/** The table is read whole, so not often. */
const INTERVAL_MS = 60_000

/**
 * Compares the events that the table says this node has in memory with those that it has. The two part when the answer to a
 * statement was lost: the row names this node, and nobody would ever take it up. A row that is missing in memory twice in a
 * row, so that it is not merely on its way in or out, is given back.
 */
export class Holdings {
  readonly #options: HoldingsOptions
  readonly #task: PeriodicTask
  #suspects = new Set<string>()

  constructor(options: HoldingsOptions) {
    this.#options = options
    this.#task = new PeriodicTask({
      run: () => this.runOnce(),
      intervalMs: options.intervalMs ?? INTERVAL_MS,
      log: options.log,
      failure: 'holdings not compared',
    })
  }

  start(): void {
    this.#task.start()
  }

  async runOnce(): Promise<void> {
    const { db, deliverer, lease } = this.#options
    const { nodeId } = lease
    const events = (await listHeldEvents(db, nodeId)).filter(({ msg_id }) => !deliverer.holds(msg_id))
    const lost = events.filter((event) => this.#suspects.has(keyOf(event)))
    deliverer.disown(lost.map((event) => ({ ...event, holder: nodeId })))
    this.#suspects = new Set(events.map(keyOf))
  }

  async stop(): Promise<void> {
    await this.#task.stop()
  }
}

function keyOf({ msg_id, seq }: { msg_id: string; seq: number }): string {
  return `${msg_id}-${seq}`
}
