import type { SharedRoom } from '../../collections/shared-room.ts'
import { SlotMap } from '../../collections/slot-map.ts'
import type { WebhookEvent } from '../../store/event-deliveries.ts'

/**
 * How long a message refuses later events after its events were requeued in the database. A batch that did not see it yet
 * takes far less time to commit.
 */
const REFUSE_MS = 60_000
/** Messages that are remembered after their events were written. */
const MAX_REQUEUED = 50_000

/** Events of a message that are taken out, to wait in the database. */
interface Requeued {
  readonly events: readonly WebhookEvent[]
  /** Until then the message refuses later events. Monotonic clock. */
  refusesUntilMs: number
}

/**
 * The events in memory, one chain for each message. Only the first of a chain is delivered, so a receiver sees a
 * message's events in order. A message whose event failed is requeued: its later events wait in the database behind it.
 */
export class MessageOrder {
  readonly #chains = new SlotMap<string, WebhookEvent[]>()
  readonly #requeued = new Map<string, Requeued>()
  readonly #room: SharedRoom

  /** A message takes one place: it has at most a few events, and the later ones take no room that another could use. */
  constructor(room: SharedRoom) {
    this.#room = room
  }

  hasEvent(msgId: string, sequence: number): boolean {
    return this.#chains.get(msgId)?.some((event) => event.sequence === sequence) ?? false
  }

  /** `start`: deliver it now; `wait`: an earlier one comes first; `refuse`: an earlier one is requeued. */
  add(event: WebhookEvent, nowMs: number): 'start' | 'wait' | 'refuse' {
    const requeued = this.#requeued.get(event.msgId)
    if (requeued !== undefined && nowMs < requeued.refusesUntilMs) return 'refuse'
    const chain = this.#chains.get(event.msgId)
    if (chain === undefined) {
      this.#chains.set(event.msgId, [event])
      this.#room.change(1)
      return 'start'
    }
    chain.push(event)
    return 'wait'
  }

  /** Whether it is the first event of its message here, and not one that was taken out and came again. */
  isFirst(event: WebhookEvent): boolean {
    return this.#chains.get(event.msgId)?.[0] === event
  }

  /** The first event of a message is done. Returns the next. */
  advance(msgId: string): WebhookEvent | null {
    const chain = this.#chains.get(msgId)
    if (chain === undefined) return null
    chain.shift()
    if (chain.length === 0) this.drop(msgId)
    return chain[0] ?? null
  }

  /**
   * Takes a message's events out, for the caller to requeue: the first has failed, or there is no room. Until one of them is taken again,
   * later events of the message are refused: a batch that is being written may still assume that they can follow. A stalled
   * database may write that batch late, so the time counts from `written`.
   */
  takeOut(msgId: string): Requeued {
    const requeued = { events: this.drop(msgId), refusesUntilMs: Number.POSITIVE_INFINITY }
    // The one requeued last is at the end.
    this.#requeued.delete(msgId)
    this.#requeued.set(msgId, requeued)
    return requeued
  }

  /** The database has these events. Before that, no message is forgotten: its later events would overtake these. */
  written(requeued: Requeued, nowMs: number): void {
    requeued.refusesUntilMs = nowMs + REFUSE_MS
    for (const [msgId, { refusesUntilMs }] of this.#requeued) {
      if (this.#requeued.size <= MAX_REQUEUED || refusesUntilMs === Number.POSITIVE_INFINITY) return
      this.#requeued.delete(msgId)
    }
  }

  /** Takes a message's events out, for good. */
  drop(msgId: string): WebhookEvent[] {
    const chain = this.#chains.get(msgId) ?? []
    if (this.#chains.delete(msgId)) this.#room.change(-1)
    return chain
  }

  dropAll(): void {
    this.#room.change(-this.#room.taken)
    this.#chains.clear()
  }

  /** An event of this message was taken from the database, so nothing earlier waits there. */
  loaded(msgId: string): void {
    this.#requeued.delete(msgId)
  }
}
