import type { ServicePlan } from '../configuration/configuration.ts'
import { receiptErrorMessage } from '../error-codes.ts'
import { createdAtMs } from '../identifiers.ts'
import { DAY_MS, HOUR_MS, isoText } from '../instants.ts'
import { decimal } from '../routing/rates.ts'

/** The public status of an MT message. What changes it: message-states.ts. */

export const MESSAGE_STATUSES = ['QUEUED', 'SENT', 'DELIVERED', 'FAILED', 'UNKNOWN'] as const
export type Status = (typeof MESSAGE_STATUSES)[number]

/** How many of these messages have each status. */
export function countByStatus(messages: readonly { readonly status: Status }[]): Record<Status, number> {
  const counts = { QUEUED: 0, SENT: 0, DELIVERED: 0, FAILED: 0, UNKNOWN: 0 }
  for (const { status } of messages) counts[status] += 1
  return counts
}

/** How long Aldis tries to submit a message before it is FAILED, counted from acceptance: the maximum, and the default of plans. */
export const VALIDITY_MS = DAY_MS

/** How long a message may wait for a carrier. `wanted`: by its sender; undefined: as long as usual. */
export function validityMs(plan: ServicePlan, wanted = plan.validitySeconds): number {
  return Math.min(wanted, plan.maxValiditySeconds) * 1_000
}

/** Of a text, in code points. */
export const MAX_BODY_CHARACTERS = 1600

/** How long an UNKNOWN message may still get a final status. */
export const UNKNOWN_REVERSIBLE_MS = 72 * HOUR_MS

/** How long after the longest validity (24 h) a message waits for a final receipt before it is overdue. */
export const RECEIPT_GRACE_MS = 48 * HOUR_MS

/**
 * Days that submissions are kept, to match receipts: these arrive until the longest validity (24 h) and RECEIPT_GRACE_MS are
 * over, and change an UNKNOWN message for UNKNOWN_REVERSIBLE_MS more. That is 6 days, plus two to spare.
 */
export const SUBMISSION_DAYS = 8

/** An outbound (MT) message as stored. Times are Dates; createdAt is the millisecond inside msgId. */
export interface Message {
  readonly planId: number
  readonly msgId: string
  readonly status: Status
  readonly sender: string
  readonly recipient: string
  /** Empty: discarded, because no message is sent without a text. */
  readonly body: string
  readonly segments: number
  readonly callbackUrl: string | null
  readonly country: string | null
  readonly mccmnc: string | null
  readonly errorCode: string
  readonly price: string | null
  readonly ptf: string | null
  readonly currency: string | null
  readonly sentAt: Date | null
  readonly updatedAt: Date
}

/** Whether no receipt changes the status any more. */
export function isFinal(status: Status): boolean {
  return status === 'DELIVERED' || status === 'FAILED'
}

/** Whether the message is not submitted any more, and no receipt is missing. UNKNOWN may still change. */
export function hasEnded(status: Status): boolean {
  return status !== 'QUEUED' && status !== 'SENT'
}

/** What a caller asks to send, after validation and authorisation. */
export interface Draft {
  readonly sender: string
  readonly recipient: string
  readonly body: string
  readonly callbackUrl: string | null
}

/** A message as the API and webhooks show it: the schema `DeliveryReceipt`. */
export interface PublicMessage {
  accountId: string | null
  servicePlanId: string | null
  msgId: string
  channel: 'SMS'
  direction: 'MT'
  from: string | null
  to: string | null
  body: string | null
  status: Status
  errorCode: string
  errorMessage: string
  segments: number | null
  price: number | null
  ptf: number | null
  currency: string | null
  mccmnc: string | null
  country: string | null
  createdAt: string
  sentAt: string | null
  updatedAt: string
}

export function publicMessage(message: Message, plan: ServicePlan): PublicMessage {
  return {
    accountId: plan.account.accountId,
    servicePlanId: plan.servicePlanId,
    msgId: message.msgId,
    channel: 'SMS',
    direction: 'MT',
    from: message.sender,
    to: message.recipient,
    body: message.body === '' ? null : message.body,
    status: message.status,
    errorCode: message.errorCode,
    errorMessage: receiptErrorMessage(message.status, message.errorCode),
    segments: message.segments,
    price: decimal(message.price),
    ptf: decimal(message.ptf),
    currency: message.currency,
    mccmnc: message.mccmnc,
    country: message.country,
    createdAt: isoText(createdAtMs(message.msgId)),
    sentAt: message.sentAt === null ? null : isoText(message.sentAt.getTime()),
    updatedAt: isoText(message.updatedAt.getTime()),
  }
}

/** The body of the inbound webhook. */
export interface InboundSmsWebhook {
  readonly accountId: string
  readonly servicePlanId: string
  readonly msgId: string
  readonly channel: 'SMS'
  readonly direction: 'MO'
  readonly from: string
  readonly to: string
  /** Only when the message matched a configured keyword. */
  readonly keyword?: string
  readonly body: string
  /** RFC 3339, UTC. */
  readonly receivedAt: string
}

/** `plan` owns the number the message was sent to. receivedAt is the millisecond inside msgId. */
export function toInboundWebhook(
  inbound: { msgId: string; sender: string; recipient: string; body: string; keyword: string | null },
  plan: ServicePlan,
): InboundSmsWebhook {
  return {
    accountId: plan.account.accountId,
    servicePlanId: plan.servicePlanId,
    msgId: inbound.msgId,
    channel: 'SMS',
    direction: 'MO',
    from: inbound.sender,
    to: inbound.recipient,
    ...(inbound.keyword === null ? {} : { keyword: inbound.keyword }),
    body: inbound.body,
    receivedAt: new Date(createdAtMs(inbound.msgId)).toISOString(),
  }
}
