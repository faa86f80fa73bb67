/** A message that is being accepted, in the forms in which others take it. */
import type { Accepted } from '../domain/journal-entries.ts'
import { createdAtMs } from '../domain/message-ids.ts'
import type { Message } from '../domain/messages.ts'
import type { Dispatch } from '../store/dispatches.ts'
import type { NewMessage } from '../store/messages.ts'

export function acceptedFact(row: NewMessage, optedOut: boolean): Accepted {
  return {
    kind: 'accepted',
    planId: row.plan_id,
    sender: row.sender,
    recipient: row.recipient,
    body: row.body,
    segments: row.segments,
    country: row.country,
    callbackUrl: row.callback_url,
    optedOut,
    begun: row.begun,
    routeId: row.route_id ?? 0,
    expiresAtMs: row.created_ms + row.validity_ms,
  }
}

export function messageOf(row: NewMessage, status: 'QUEUED' | 'FAILED', errorCode: string): Message {
  return {
    planId: row.plan_id,
    msgId: row.msg_id,
    status,
    sender: row.sender,
    recipient: row.recipient,
    body: row.body,
    segments: row.segments,
    callbackUrl: row.callback_url,
    country: row.country,
    mccmnc: null,
    errorCode,
    price: null,
    ptf: null,
    currency: null,
    sentAt: null,
    updatedAt: new Date(row.created_ms),
  }
}

/** Everything a later change has added is taken away again. */
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

export function dispatchOf(row: NewMessage, holder: number, optedOut: boolean): Dispatch {
  return {
    holder,
    planId: row.plan_id,
    msgId: row.msg_id,
    sender: row.sender,
    recipient: row.recipient,
    body: row.body,
    segments: row.segments,
    attempt: 0,
    submittedSegments: 0n,
    cut: null,
    startedOver: false,
    deliveredSegments: 0n,
    status: 'QUEUED',
    ambiguous: false,
    carrierId: null,
    optedOut,
    expiresAt: new Date(row.created_ms + row.validity_ms),
  }
}
