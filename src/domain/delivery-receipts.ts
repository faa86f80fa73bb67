import type { ServicePlan } from './configuration.ts'
import { FAILURES, SUCCESSES } from './error-codes.ts'
import { createdAtMs } from './identifiers.ts'
import { isoText } from './instants.ts'
import type { Status } from './message-states.ts'
import type { Message } from './messages.ts'

/** The public record of a message. */
export interface DeliveryReceipt {
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

export function deliveryReceipt(message: Message, plan: ServicePlan): DeliveryReceipt {
  return {
    accountId: plan.account.accountId,
    servicePlanId: plan.servicePlanId,
    msgId: message.msgId,
    channel: 'SMS',
    direction: 'MT',
    from: message.sender,
    to: message.recipient,
    body: message.body,
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

/** The text beside an errorCode; with 000 it describes the status. A code from another release gets a general text. */
export function receiptErrorMessage(status: Status, errorCode: string): string {
  const texts: Readonly<Record<string, string>> = errorCode === '000' ? SUCCESSES : FAILURES
  return texts[errorCode === '000' ? status : errorCode] ?? 'No more is known'
}

/** Exact decimals in the database, JSON numbers on the wire. */
function decimal(text: string | null): number | null {
  return text === null ? null : Number(text)
}
