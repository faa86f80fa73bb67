import type { ServicePlan } from '../configuration/configuration.ts'
import { receiptErrorMessage } from '../error-codes.ts'
import { createdAtMs } from '../identifiers.ts'
import { isoText } from '../instants.ts'
import { decimal } from '../routing/rates.ts'
import type { Message, Status } from './messages.ts'

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
