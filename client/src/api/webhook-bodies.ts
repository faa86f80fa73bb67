// Made from the OpenAPI document by `npm run generate-client`.

import type { InboundSmsWebhook, MessageStatus } from './several-tags.ts'

export interface DeliveryReceiptWebhook {
  /** Account that owns the message. */
  accountId?: string | null | undefined
  /** Service plan that owns the message. */
  servicePlanId?: string | null | undefined
  msgId: string
  channel?: 'SMS' | 'MMS' | undefined
  /** MT. */
  direction?: string | undefined
  /** Sender. */
  from?: string | null | undefined
  /** Recipient. */
  to?: string | null | undefined
  /** Text, exactly as sent; null: discarded, because the message has ended. */
  body?: string | null | undefined
  status: MessageStatus
  /** 000 on success, otherwise the failure code. */
  errorCode?: string | undefined
  errorMessage?: string | undefined
  segments?: number | null | undefined
  /** Of all segments, at most 6 decimals; null until the message is sent, or without a rate. */
  price?: number | null | undefined
  /** Pass-through fee of all segments, as price. */
  ptf?: number | null | undefined
  /** ISO 4217; of price and ptf. */
  currency?: string | null | undefined
  /** Mobile country and network code; a receipt may correct it, and price, ptf and currency with it. */
  mccmnc?: string | null | undefined
  /** ISO 3166-1 alpha-2. */
  country?: string | null | undefined
  createdAt?: string | undefined
  sentAt?: string | null | undefined
  updatedAt?: string | undefined
}

export interface LimitReachedWebhook {
  /** capReached or countryPaused; others may follow. */
  type: string
  accountId: string
  servicePlanId: string
  /** UTC. */
  at: string
  /** For people. */
  text: string
  /** The country that is paused. */
  country?: string | undefined
  /** When the pause ends. */
  until?: string | undefined
  /** How much of the cap is used. */
  percent?: number | undefined
  cap?: ReachedCap | undefined
}

export interface ReachedCap {
  per: 'day' | 'month'
  /** The day, or the first of the month, UTC. */
  begins: string
  messages: number | null
  /** Decimal. */
  cost: string | null
  currency: string | null
}

/** What is POSTed to a receiver, by type of event. */
export interface WebhookBodies {
  /** The status of an outbound message changed. To the message's callbackUrl, or else the account's default DLR URL. */
  deliveryReceipt: DeliveryReceiptWebhook
  /** An inbound message was received. To the service plan's inbound URL. */
  inboundMessage: InboundSmsWebhook
  /** A limit of a service plan was reached. To the service plan's inbound URL, if the plan asks for it. */
  limitReached: LimitReachedWebhook
}
