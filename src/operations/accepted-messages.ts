/** A message that is being accepted, in the forms that others need. */

import { createdAtMs } from '../domain/identifiers.ts'
import type { Accepted } from '../domain/message-facts.ts'
import type { Message } from '../domain/messages.ts'
import { messageInProgress, messageOf } from '../domain/messages-in-progress.ts'
import type { Queryable } from '../store/database.ts'
import { takeIdempotencyKeys } from '../store/idempotency-keys.ts'
import type { NewMessage } from '../store/messages.ts'
import type { OptOutPair } from '../store/opt-outs.ts'
import type { Projected } from '../store/records.ts'

export interface Item {
  readonly msgId: string
  readonly accepted: Accepted
  /** This node, which has reserved room for it; null: it waits in the database. */
  readonly owner: number | null
  /** The carrier of another node that it is handed to; 0: none. */
  readonly chosenCarrierId: number
  /** Its Idempotency-Key and its request, each as SHA-256. */
  readonly key: { readonly keyHash: Buffer; readonly requestHash: Buffer } | null
  readonly deadline: AnswerDeadline
}

/** errorCode of a message that could not be queued. */
export const NOT_QUEUED = '100'

interface Answered<Kind> {
  readonly kind: Kind
  readonly message: Message
}

export function queued({ msgId, accepted }: Item): Answered<'queued'> {
  return { kind: 'queued', message: messageOf(messageInProgress(msgId, accepted)) }
}

export function failed(item: Item): Answered<'failed'> {
  return { kind: 'failed', message: { ...queued(item).message, status: 'FAILED', errorCode: NOT_QUEUED } }
}

export const UNKNOWN = { kind: 'unknown' } as const

export const UNAVAILABLE = { kind: 'unavailable' } as const

/**
 * What to answer for a message that is certainly not stored. If nothing is known of its key, the key's first message may be
 * sent.
 */
export function notStored(item: Item): Answered<'failed'> | typeof UNAVAILABLE {
  return item.key === null ? failed(item) : UNAVAILABLE
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
}: NewMessage & Partial<Pick<Item, 'chosenCarrierId'>>): Projected {
  const message = messageInProgress(msgId, { ...accepted, begun: false }, chosenCarrierId)
  return { message, holder: null, delivers: false }
}

export function pairOf({ accepted: { planId, sender, recipient } }: Item): OptOutPair {
  return { planId, sender, recipient }
}

export function keyOf(planId: number, { keyHash }: { readonly keyHash: Buffer }): string {
  return `${planId}:${keyHash.toString('hex')}`
}

/** How long an Idempotency-Key is remembered. */
export const IDEMPOTENCY_LIFETIME_MS = 24 * 3_600_000

/** `first`: the items that are first with their key, or have none. `busy`: another transaction is taking their key. */
export interface OfKeys {
  readonly first: readonly Item[]
  readonly busy: ReadonlySet<Item>
}

export const NO_KEYS: OfKeys = { first: [], busy: new Set() }

/** Takes the keys of these items, except those whose senders have been answered. */
export async function firstOfKeys(tx: Queryable, all: readonly Item[]): Promise<OfKeys> {
  const items = all.filter(({ deadline }) => deadline.go())
  const firsts = new Map<string, Item>()
  for (const item of items) {
    const key = item.key && keyOf(item.accepted.planId, item.key)
    if (key !== null && !firsts.has(key)) firsts.set(key, item)
  }
  if (firsts.size === 0) return { first: items, busy: NO_KEYS.busy }
  const keys = [...firsts.values()].map(({ msgId, accepted, key }) => ({
    ...key!,
    msgId,
    planId: accepted.planId,
  }))
  const { taken, busy } = await takeIdempotencyKeys(tx, keys, IDEMPOTENCY_LIFETIME_MS, NOT_QUEUED)
  const isBusy = ({ accepted, key }: Item) =>
    key !== null && busy.has(firsts.get(keyOf(accepted.planId, key))!.msgId)
  return {
    first: items.filter(({ msgId, key }) => key === null || taken.has(msgId)),
    busy: busy.size === 0 ? NO_KEYS.busy : new Set(items.filter(isBusy)),
  }
}

/** The time by which the sender of a message is answered, and what can be said by then. */
export class AnswerDeadline {
  readonly #timer: NodeJS.Timeout
  #hasGone = false
  #isOver = false

  /** `onOver` is called with whether the message has gone to the database. */
  constructor(withinMs: number, onOver: (hasGone: boolean) => void) {
    const end = () => {
      this.#isOver = true
      onOver(this.#hasGone)
    }
    // Answers that came from the database while the process stood still are read first.
    this.#timer = setTimeout(() => setImmediate(end), withinMs)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Called when the message goes to the database. Returns false if it must not, because its sender has been answered. */
  go(): boolean {
    this.#hasGone ||= !this.#isOver
    return !this.#isOver
  }

  /** The sender has been answered. */
  clear(): void {
    clearTimeout(this.#timer)
  }
}
