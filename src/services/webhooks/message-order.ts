import type { Told } from '../../domain/events.ts'
import { createdAtMs } from '../../domain/message-ids.ts'
import type { ChangedMessage } from '../../domain/messages-in-progress.ts'
import type { ReceivedInbound } from '../../operations/receive-inbound.ts'
import { SlotMap } from '../../slot-map.ts'
import type { WebhookEvent } from '../../store/event-deliveries.ts'

/** How long a postponed message refuses later events. A batch that did not see it yet takes far less time to commit. */
const REFUSE_MS = 60_000
const MAX_POSTPONED = 50_000

/**
 * The events in memory, one chain for each message. Only the first of a chain is delivered, so a receiver sees a
 * message's events in order. A message whose event failed is postponed: its later events wait in the database behind it.
 */
export class MessageOrder {
  readonly #chains = new SlotMap<string, WebhookEvent[]>()
  readonly #postponed = new Map<string, number>()

  /** Number of messages. Each has at most a few events, and the later ones take no room that another message could use. */
  get size(): number {
    return this.#chains.size
  }

  hasEvent(msgId: string, seq: number): boolean {
    return this.#chains.get(msgId)?.some((event) => event.seq === seq) ?? false
  }

  /** `start`: deliver it now; `wait`: an earlier one comes first; `refuse`: an earlier one is postponed. */
  add(event: WebhookEvent, nowMs: number): 'start' | 'wait' | 'refuse' {
    const refusedUntilMs = this.#postponed.get(event.msgId)
    if (refusedUntilMs !== undefined && nowMs < refusedUntilMs) return 'refuse'
    const chain = this.#chains.get(event.msgId)
    if (chain === undefined) {
      this.#chains.set(event.msgId, [event])
      return 'start'
    }
    chain.push(event)
    return 'wait'
  }

  /** Whether it is the first event of its message here, and not one that was taken out and came again. */
  isFirst(event: WebhookEvent): boolean {
    return this.#chains.get(event.msgId)?.[0] === event
  }

  /** Whether another event waits behind the first of its message. */
  hasNext(msgId: string): boolean {
    return (this.#chains.get(msgId)?.length ?? 0) > 1
  }

  /** The first event of a message is done. Returns the next. */
  advance(msgId: string): WebhookEvent | null {
    const chain = this.#chains.get(msgId)
    if (chain === undefined) return null
    chain.shift()
    if (chain.length === 0) this.#chains.delete(msgId)
    return chain[0] ?? null
  }

  /**
   * Takes a message's events out, because the first has failed or there is no room. Until the database returns one of them,
   * later events of the message are refused: a batch that is being written may still assume that they can follow.
   */
  postpone(msgId: string, nowMs: number): WebhookEvent[] {
    if (this.#postponed.size >= MAX_POSTPONED) {
      const oldest = this.#postponed.keys().next()
      if (!oldest.done) this.#postponed.delete(oldest.value)
    }
    this.#postponed.set(msgId, nowMs + REFUSE_MS)
    return this.take(msgId)
  }

  /** Takes a message's events out, for good. */
  take(msgId: string): WebhookEvent[] {
    const chain = this.#chains.get(msgId) ?? []
    this.#chains.delete(msgId)
    return chain
  }

  clear(): void {
    this.#chains.clear()
  }

  /** The database returned an event of this message, so nothing earlier waits there. */
  forget(msgId: string): void {
    this.#postponed.delete(msgId)
  }
}

/** The events of these changes that this node delivers from memory. */
export function heldEvents(messages: readonly ChangedMessage[], holder: number): WebhookEvent[] {
  return messages
    .filter(({ held }) => held)
    .map((message) =>
      untried(message, message.seq, holder, message.updatedAt.getTime(), { direction: 'MT', message }),
    )
}

/** The same of inbound messages. */
export function heldInboundEvents(received: readonly ReceivedInbound[], holder: number): WebhookEvent[] {
  return received
    .filter(({ held }) => held)
    .map(({ inbound }) =>
      untried(inbound, 0, holder, createdAtMs(inbound.msgId), { direction: 'MO', inbound }),
    )
}

function untried(
  { planId, msgId }: { readonly planId: number; readonly msgId: string },
  seq: number,
  holder: number,
  beganAtMs: number,
  told: Told,
): WebhookEvent {
  return { planId, msgId, seq, holder, attempt: 0, earlierAttempts: 0, beganAtMs, waited: false, told }
}
