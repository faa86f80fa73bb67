// Made from the OpenAPI document by `npm run generate-client`.

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
  /** Destination. */
  to?: string | null | undefined
  /** Text, exactly as sent. */
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

export type MessageStatus = 'QUEUED' | 'SENT' | 'DELIVERED' | 'FAILED' | 'UNKNOWN'

export interface InboundSmsWebhook {
  /** Account that owns the message. */
  accountId: string
  /** Service plan that owns the number. */
  servicePlanId: string
  msgId: string
  channel: 'SMS'
  direction: 'MO'
  /** Sender. */
  from: string
  /** Number it was sent to. */
  to: string
  /** Keyword of the number that the text begins with. */
  keyword?: string | undefined
  body: string
  /** UTC. */
  receivedAt: string
}

export interface SendSmsRequest {
  /** 24 hex digits. */
  servicePlanId: string
  channel: 'SMS'
  /** A sender of a kind that plan and destination allow: short code of 3-8 digits, E.164 number, or up to 11 letters, digits, space . _ - & with at least one letter. */
  from: string
  /** One E.164 number. */
  to: string
  /** Text, in code points; no U+0000. */
  body: string
  /** Public https URL for delivery receipts of this message. */
  callbackUrl?: string | undefined
}

export interface ErrorBody {
  errorCode: ErrorCode
  errorMessage: string
  errors?: Fault[] | undefined
  /** Also in the x-request-id header, and in the log. */
  requestId: string
}

export type ErrorCode =
  | 'VALIDATION_ERROR'
  | 'SERVICE_PLAN_INCOMPLETE'
  | 'UNAUTHENTICATED'
  | 'SERVICE_PLAN_INACTIVE'
  | 'FORBIDDEN'
  | 'SENDER_NOT_AUTHORIZED'
  | 'SERVICE_PLAN_NOT_FOUND'
  | 'MESSAGE_NOT_FOUND'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'REQUEST_TIMEOUT'
  | 'CONFLICT'
  | 'SENDER_PENDING_APPROVAL'
  | 'MESSAGE_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'EXPECTATION_FAILED'
  | 'SENDER_STATUS_UNKNOWN'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'RATE_LIMITED'
  | 'HEADERS_TOO_LARGE'
  | 'INTERNAL_ERROR'
  | 'SERVICE_UNAVAILABLE'

export interface Fault {
  /** Field, parameter or header; `request` for the whole. */
  field: string
  code: string
  message: string
}

export interface DeliveryReceipt {
  /** Account that owns the message. */
  accountId: string | null
  /** Service plan that owns the message. */
  servicePlanId: string | null
  msgId: string
  channel: 'SMS' | 'MMS'
  /** MT. */
  direction: string
  /** Sender. */
  from: string | null
  /** Destination. */
  to: string | null
  /** Text, exactly as sent. */
  body: string | null
  status: MessageStatus
  /** 000 on success, otherwise the failure code. */
  errorCode: string
  errorMessage: string
  segments: number | null
  /** Of all segments, at most 6 decimals; null until the message is sent, or without a rate. */
  price: number | null
  /** Pass-through fee of all segments, as price. */
  ptf: number | null
  /** ISO 4217; of price and ptf. */
  currency: string | null
  /** Mobile country and network code; a receipt may correct it, and price, ptf and currency with it. */
  mccmnc: string | null
  /** ISO 3166-1 alpha-2. */
  country: string | null
  createdAt: string
  sentAt: string | null
  updatedAt: string
}

export interface MessageList {
  items: DeliveryReceipt[]
  pagination: Pagination
}

export interface Pagination {
  limit: number
  hasMore: boolean
  nextCursor: string | null
}

export interface InboundMessageList {
  items: InboundSmsWebhook[]
  pagination: Pagination
}

export interface EventFeed {
  items: (DeliveryReceiptEvent | InboundMessageEvent)[]
  /** Where to continue, now or later; it does not expire. */
  cursor: string
  /** More events can be read right away. */
  hasMore: boolean
  /** Events in between may be gone: the cursor, or since, is older than the oldest event kept. */
  gap: boolean
}

export interface DeliveryReceiptEvent {
  /** webhook-id of its webhook. */
  eventId: string
  /** Place among the events of its message: 1, 2, …; 0: an inbound message. */
  sequence: number
  occurredAt: string
  type: 'deliveryReceipt'
  data: DeliveryReceipt
}

export interface InboundMessageEvent {
  /** webhook-id of its webhook. */
  eventId: string
  /** Place among the events of its message: 1, 2, …; 0: an inbound message. */
  sequence: number
  occurredAt: string
  type: 'inboundMessage'
  data: InboundSmsWebhook
}

export interface WebhookEventList {
  items: WebhookEvent[]
  pagination: Pagination
}

export interface WebhookEvent {
  /** webhook-id of its webhooks. */
  eventId: string
  servicePlanId: string
  msgId: string
  /** 1, 2, … for the changes of status; 0: an inbound message. */
  sequence: number
  type: EventType
  /** The status it announces; null for an inbound message. */
  messageStatus: string | null
  /** failed: until it is redelivered; kept: there was no URL when it happened. */
  state: 'pending' | 'delivered' | 'failed' | 'kept'
  occurredAt: string
  /** When it was last answered 2xx. */
  deliveredAt: string | null
  attempts: number
  /** At the latest: what waits for its destination goes when that is back. Null: none is planned. */
  nextAttemptAt: string | null
  /** Scheme, host and port; known once it was delivered, or an attempt has failed. */
  destination: string | null
  /** HTTP status of the last attempt. */
  responseStatus: number | null
  /** Error of the last attempt; null: it was answered 2xx. */
  error: string | null
}

export type EventType = 'deliveryReceipt' | 'inboundMessage'

export interface WebhookEventDetail {
  /** webhook-id of its webhooks. */
  eventId: string
  servicePlanId: string
  msgId: string
  /** 1, 2, … for the changes of status; 0: an inbound message. */
  sequence: number
  type: EventType
  /** The status it announces; null for an inbound message. */
  messageStatus: string | null
  /** failed: until it is redelivered; kept: there was no URL when it happened. */
  state: 'pending' | 'delivered' | 'failed' | 'kept'
  occurredAt: string
  /** When it was last answered 2xx. */
  deliveredAt: string | null
  attempts: number
  /** At the latest: what waits for its destination goes when that is back. Null: none is planned. */
  nextAttemptAt: string | null
  /** Scheme, host and port; known once it was delivered, or an attempt has failed. */
  destination: string | null
  /** HTTP status of the last attempt. */
  responseStatus: number | null
  /** Error of the last attempt; null: it was answered 2xx. */
  error: string | null
  /** Oldest first. */
  attemptRecords: WebhookAttempt[]
}

export interface WebhookAttempt {
  attempt: number
  attemptedAt: string
  latencyMs: number
  responseStatus: number | null
  error: string | null
  /** The first 1 KiB of the answer. */
  responseHead: string | null
}

export interface WebhookDestinationList {
  items: WebhookDestination[]
  pagination: Pagination
}

export interface WebhookDestination {
  /** Scheme, host and port. */
  destination: string
  /** open: it failed too often, one event a minute is tried; paused: nothing is sent; recovering: what waited is. */
  state: 'delivering' | 'open' | 'paused' | 'recovering'
  since: string | null
  /** Of the last failure that opened it. */
  error: string | null
  /** customer or operator. */
  pausedBy: string | null
  /** Events that wait for their next attempt after a failure; at most 10,000 are counted. */
  waiting: number
  /** Events put aside until the destination takes them, the first of each message; at most 10,000 are counted. */
  parked: number
  /** Events given up; at most 10,000 are counted. */
  failed: number
}

export interface TestEventRequest {
  /** Service plan: 24 hex digits. */
  servicePlanId: string
  /** default: deliveryReceipt. */
  type?: EventType | undefined
  /** When absent: the account's default DLR URL, or the plan's inbound URL. */
  url?: string | undefined
}

export interface TestEvent {
  /** webhook-id of the test event; it belongs to no message. */
  eventId: string
  /** Where it went, without credentials; a configured URL is shown without its query. */
  url: string
  /** It was answered 2xx. */
  delivered: boolean
  responseStatus: number | null
  /** From the DNS look-up to the end of the answer. */
  latencyMs: number
  /** Why it was not delivered. */
  error: string | null
  /** The first 1 KiB of the answer. */
  responseHead: string | null
}

export interface RedeliverEventRequest {
  /** Service plan: 24 hex digits. */
  servicePlanId: string
}

export interface RedeliverEventsRequest {
  /** Service plan: 24 hex digits. */
  servicePlanId: string
  /** default: failed; kept: events that had no URL when they happened, and have one now. */
  state?: 'failed' | 'kept' | undefined
  /** Of one message. */
  msgId?: string | undefined
  /** Scheme, host and port: https://example.com:8443. */
  destination?: string | undefined
  /** Of messages' createdAt, inclusive. */
  fromDate?: string | undefined
  /** Inclusive. */
  toDate?: string | undefined
  /** nextAfter of the previous response. */
  after?: string | undefined
}

export interface Redelivered {
  /** Events that are to be delivered now. */
  redelivered: number
  /** Where to continue with the same request; null: that was all. */
  nextAfter: string | null
}

export interface DestinationRequest {
  /** Service plan: 24 hex digits. */
  servicePlanId: string
  /** Scheme, host and port: https://example.com:8443. */
  destination: string
}

/** What is POSTed to a receiver, by type of event. */
export interface WebhookBodies {
  /** The status of an outbound message changed. To the message's callbackUrl, or else the account's default DLR URL. */
  deliveryReceipt: DeliveryReceiptWebhook
  /** An inbound message was received. To the service plan's inbound URL. */
  inboundMessage: InboundSmsWebhook
}
