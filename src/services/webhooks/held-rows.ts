import type { EventHolder } from '../../domain/events.ts'
import { type Database, isOutcomeUnknown, transactionsUnderWay } from '../../store/database.ts'
import { listHeldEvents, type RequeuedEvent } from '../../store/event-deliveries.ts'

export interface HeldRowsOptions {
  readonly db: Database
  /** Who holds the events that are written now. */
  readonly holder: () => EventHolder
  readonly nodeId: () => number
  readonly isInMemory: (msgId: string, sequence: number) => boolean
  readonly requeue: (events: readonly RequeuedEvent[]) => void
}

interface LostAnswer {
  /** Transactions that were in flight at the first look and may still be. Null before that look. */
  earlier: readonly string[] | null
}

/**
 * The rows of events that name this node as their holder. When the answer to a statement that writes such rows is lost, they
 * may not be in memory, and nobody would deliver them. As soon as no such statement is in flight any more, here or in the
 * database, the rows are compared with memory, and those that are not in memory are requeued.
 */
export class HeldRows {
  readonly #options: HeldRowsOptions
  #inFlight = 0
  /** The latest lost answer. Null while the rows are known to match memory. */
  #lost: LostAnswer | null = null

  constructor(options: HeldRowsOptions) {
    this.#options = options
  }

  /** Runs a statement that writes events. After a lost answer, this node holds none of them until the rows are compared. */
  async write<T>(write: (holder: EventHolder) => Promise<T>): Promise<T> {
    const holder = this.#options.holder()
    return this.#lost === null
      ? await this.take(() => write(holder))
      : await write({ ...holder, nodeId: null })
  }

  /** Runs a statement that makes this node the holder of events. */
  async take<T>(statement: () => Promise<T>): Promise<T> {
    this.#inFlight += 1
    try {
      return await statement()
    } catch (error) {
      if (isOutcomeUnknown(error)) this.#lost = { earlier: null }
      throw error
    } finally {
      this.#inFlight -= 1
    }
  }

  /** After a lost answer: compares the rows, or checks whether that can be done yet. Nothing may be taken meanwhile. */
  async reconcile(): Promise<void> {
    const { db, isInMemory, nodeId, requeue } = this.#options
    const lost = this.#lost
    if (lost === null || this.#inFlight > 0) return
    const { earlier } = lost
    const now = await transactionsUnderWay(db)
    lost.earlier = earlier?.filter((one) => now.includes(one)) ?? now
    // This takes two looks, because at the first a session may not have read the statement yet.
    if (earlier === null || lost.earlier.length > 0) return
    const rows = await listHeldEvents(db, nodeId())
    const missing = rows.filter(({ msgId, sequence }) => !isInMemory(msgId, sequence))
    requeue(missing.map((event) => ({ ...event, delayMs: 0, destination: null })))
    this.#lost = null
  }
}
