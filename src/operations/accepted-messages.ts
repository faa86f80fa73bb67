/** A message that is being accepted, in the forms that others need. */

import { createdAtMs } from '../domain/identifiers.ts'
import type { Accepted } from '../domain/journal-entries.ts'
import type { Message } from '../domain/messages.ts'
import { messageInProgress, messageOf } from '../domain/messages-in-progress.ts'
import type { NewMessage } from '../store/messages.ts'
import type { OptOutPair } from '../store/opt-outs.ts'
import type { Projected } from '../store/records.ts'
import type { AnswerDeadline } from './answer-deadlines.ts'

export interface Item {
  readonly msgId: string
  readonly accepted: Accepted
  /** This node, which has reserved room for it; null: it waits in the database. */
  readonly holder: number | null
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
  return { plan_id: planId, sender, recipient }
}

export function textOf({ plan_id, sender, recipient }: OptOutPair): string {
  return JSON.stringify([plan_id, sender, recipient])
}

export function keyOf(planId: number, { keyHash }: { readonly keyHash: Buffer }): string {
  return `${planId}:${keyHash.toString('hex')}`
}
