import { createdAtMs } from '../../domain/identifiers.ts'
import type { Accepted } from '../../domain/journal/message-facts.ts'
import { messageInProgress, messageOf } from '../../domain/journal/messages-in-progress.ts'
import type { Message } from '../../domain/messages/messages.ts'
import type { OptOutPair } from '../../store/opt-outs.ts'
import type { NewMessage, Projected } from '../../store/records.ts'

/** A send that waits for its answer. */
export interface PendingSend {
  readonly msgId: string
  readonly accepted: Accepted
  /** This node, which has reserved room for it; null: it waits in the database. */
  readonly owner: number | null
  /** The carrier of another node that it is handed to; 0: none. */
  readonly chosenCarrierId: number
  /** Its Idempotency-Key and its request, each as SHA-256. */
  readonly idempotencyKey: { readonly keyHash: Buffer; readonly requestHash: Buffer } | null
  readonly deadline: AnswerDeadline
}

/** errorCode of a message that could not be queued. */
export const NOT_QUEUED = '100'

interface Answered<Kind> {
  readonly kind: Kind
  readonly message: Message
}

export function queued({ msgId, accepted }: PendingSend): Answered<'queued'> {
  return { kind: 'queued', message: messageOf(messageInProgress(msgId, accepted)) }
}

export function failed(item: PendingSend): Answered<'failed'> {
  return { kind: 'failed', message: { ...queued(item).message, status: 'FAILED', errorCode: NOT_QUEUED } }
}

export const UNKNOWN = { kind: 'unknown' } as const

export const UNAVAILABLE = { kind: 'unavailable' } as const

/**
 * What to answer for a message that is certainly not stored. If nothing is known of its key, the key's first message may be
 * sent.
 */
export function notStored(item: PendingSend): Answered<'failed'> | typeof UNAVAILABLE {
  return item.idempotencyKey === null ? failed(item) : UNAVAILABLE
}

/** Removes everything that a later change has added. */
export function asFirstAnswered(message: Message): Message {
  return {
    ...message,
    status: 'QUEUED',
    errorCode: '000',
    mccmnc: null,
    price: null,
    ptf: null,
    currency: null,
    sentAt: null,
    updatedAt: new Date(createdAtMs(message.msgId)),
  }
}

/** The record of a message that no node has in memory. It is due at once. */
export function newRecord({
  msgId,
  accepted,
  chosenCarrierId = 0,
}: NewMessage & Partial<Pick<PendingSend, 'chosenCarrierId'>>): Projected {
  const message = messageInProgress(msgId, { ...accepted, begun: false }, chosenCarrierId)
  return { message, holder: null, delivers: false }
}

export function pairOf({ accepted: { planId, sender, recipient } }: PendingSend): OptOutPair {
  return { planId, sender, recipient }
}

/** The time by which the client that sent a message is answered, and what can be said by then. */
export class AnswerDeadline {
  readonly #timer: NodeJS.Timeout
  /** The message may be written, or is already. */
  #mayBeStored = false
  #isOver = false

  /** `onOver` is called with whether the message may be stored, or become so. */
  constructor(withinMs: number, onOver: (mayBeStored: boolean) => void) {
    const end = () => {
      this.#isOver = true
      onOver(this.#mayBeStored)
    }
    // Answers that came from the database while the process stood still are read first.
    this.#timer = setTimeout(() => setImmediate(end), withinMs)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Called just before the message is written. Returns false if it must not be, because its client has been answered. */
  mayStore(): boolean {
    this.#mayBeStored ||= !this.#isOver
    return !this.#isOver
  }

  /** The client has been answered. */
  clear(): void {
    clearTimeout(this.#timer)
  }
}
