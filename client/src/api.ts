// Made from the OpenAPI document by `npm run generate-client`.

export interface CountsByStatus {
  QUEUED: number
  SENT: number
  DELIVERED: number
  FAILED: number
  UNKNOWN: number
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
  /** Recipient. */
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

export interface DeliveryReceiptEvent {
  /** webhook-id of its webhook. */
  eventId: string
  /** Place among the events of its message: 1, 2, …; 0: an inbound message. */
  sequence: number
  occurredAt: string
  type: 'deliveryReceipt'
  data: DeliveryReceipt
}

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

export interface DestinationRequest {
  /** Service plan: 24 hex digits. */
  servicePlanId: string
  /** Scheme, host and port: https://example.com:8443. */
  destination: string
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

export interface EventFeed {
  items: (DeliveryReceiptEvent | InboundMessageEvent)[]
  /** Where to continue, now or later; it does not expire. */
  cursor: string
  /** More events can be read right away. */
  hasMore: boolean
  /** Events in between may be gone: the cursor, or since, is older than the oldest event kept. */
  gap: boolean
}

export type EventType = 'deliveryReceipt' | 'inboundMessage'

export interface Fault {
  /** Field, parameter or header; `request` for the whole. */
  field: string
  code: string
  message: string
}

export interface HandsetMessage {
  servicePlanId: string
  from: string
  to: string
  encoding: 'GSM7' | 'UCS2'
  /** deliver_sm that carried the text. */
  parts: number
}

export interface HandsetMessageRequest {
  /** Service plan: 24 hex digits. */
  servicePlanId: string
  /** Number of the handset, E.164. */
  from: string
  /** Inbound number of the service plan. */
  to: string
  /** Text, in code points; no U+0000. */
  body: string
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

export interface InboundMessageList {
  items: InboundSmsWebhook[]
  pagination: Pagination
}

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

export interface MessageList {
  items: DeliveryReceipt[]
  pagination: Pagination
}

export type MessageStatus = 'QUEUED' | 'SENT' | 'DELIVERED' | 'FAILED' | 'UNKNOWN'

export interface OwnSender {
  /** The from of a send. */
  sender: string
  /** short-code, e164 or alphanumeric. */
  kind: string | null
  /** Of the subscription; other: one that a send is answered 422 for. */
  status: 'approved' | 'pending' | 'denied' | 'other'
  /** Whether a send from it is accepted, unless a rule for the country of the recipient forbids its kind. */
  allowed: boolean
}

export interface OwnSenderList {
  items: OwnSender[]
  pagination: Pagination
}

export interface Pagination {
  limit: number
  hasMore: boolean
  nextCursor: string | null
}

export interface Preflight {
  /** What a send would be answered; null: it would be accepted. */
  refusal: SendRefusal | null
  /** Null if the plan or the text is not valid. */
  text: PreflightText | null
  sender: PreflightSender
  recipient: PreflightRecipient
  /** Null unless the plan has one, the sender is allowed and the recipient is valid. */
  route: PreflightRoute | null
  /** Null if the recipient or the text is not valid, or no rate applies. */
  charge: PreflightCharge | null
  /** The send would go to the simulator instead of a carrier, and cost nothing. Null if the plan is not valid. */
  sandbox: boolean | null
  /** On the process that answers; null if the plan is not valid. */
  headroom: PreflightHeadroom | null
  /** Null without one in the request. */
  callbackUrl: PreflightCallbackUrl | null
  /** Fields that a send ignores; at most 50. */
  unknownFields: UnknownField[]
}

export interface PreflightCallbackUrl {
  allowed: boolean
  /** of the fault. */
  code: string | null
  message: string | null
}

export interface PreflightCharge {
  /** of all segments, as the record will have it. */
  price: number | null
  /** pass-through fee of all segments. */
  ptf: number | null
  /** ISO 4217. */
  currency: string
}

export interface PreflightHeadroom {
  /** that may be sent now; null: there is no rate limit. */
  messages: number | null
  /** whose rate limit it is: account or plan. */
  limitedBy: string | null
}

export interface PreflightRecipient {
  valid: boolean
  /** the number as a send has to write it. */
  msisdn: string | null
  /** ISO 3166-1 alpha-2. */
  country: string | null
  /** of the number ranges; a receipt may correct it. */
  mccmnc: string | null
  /** a send would be accepted, and fail at once. */
  optedOut: boolean | null
}

export interface PreflightRoute {
  name: string
  /** the rule, or that it is the plan's own route. */
  reason: string
  /** Whether a carrier of it takes messages now; false: the send would be accepted, and the message would wait. */
  available: boolean
}

export interface PreflightSender {
  /** short-code, e164 or alphanumeric. */
  kind: string | null
  allowed: boolean | null
  /** why it is not allowed. */
  errorCode: string | null
  errorMessage: string | null
}

export interface PreflightText {
  encoding: 'GSM7' | 'UCS2'
  /** As the record counts them. */
  segments: number
  /** The text that each segment carries. */
  segmentTexts: string[]
  /** Of a text in UCS-2: the characters that the GSM 7-bit alphabet lacks, each once. */
  ucs2Characters: Ucs2Character[]
  /** What smart encoding could replace, if the plan has it. Nothing is replaced if the text then still needs UCS-2. */
  smartReplacements: SmartReplacement[]
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
  /** true: only counts the events that would be redelivered; default: false. */
  dryRun?: boolean | undefined
  /** nextAfter of the previous response. */
  after?: string | undefined
}

export interface Redelivered {
  /** Events that are to be delivered now, or would be. */
  redelivered: number
  /** Where to continue with the same request; null: that was all. */
  nextAfter: string | null
}

export interface Sandbox {
  servicePlanId: string
  /** the inbound numbers of the plan; at most 1,000. */
  numbers: SandboxNumber[]
  /** by the last digits of a destination. */
  outcomes: SandboxOutcome[]
}

export interface SandboxDelay {
  least: number
  most: number
}

export interface SandboxNumber {
  number: string
  keywords: string[]
}

export interface SandboxOutcome {
  /** of the destination; null: any others. */
  lastDigits: string | null
  summary: string
  /** that the message gets; SENT if no receipt comes. */
  status: MessageStatus
  /** null: every submit is accepted. */
  refusal: SandboxRefusal | null
  /** in the order in which they are sent. */
  receipts: SandboxReceipt[]
  /** milliseconds from the submit to the first receipt; null: there is none. */
  receiptDelayMs: SandboxDelay | null
}

export interface SandboxReceipt {
  /** such as DELIVRD. */
  state: string
  /** err: of the receipt. */
  error: string
}

export interface SandboxRefusal {
  /** of submit_sm_resp, such as ESME_RTHROTTLED. */
  commandStatus: string
  /** how many submits of a message get it; null: all. */
  attempts: number | null
}

export interface SendRefusal {
  /** HTTP status of the response to the send. */
  status: number
  errorCode: ErrorCode
  errorMessage: string
  errors?: Fault[] | undefined
}

export interface SendSmsRequest {
  /** 24 hex digits. */
  servicePlanId: string
  channel: 'SMS'
  /** A sender of a type that plan and recipient allow: short code of 3-8 digits, E.164 number, or up to 11 letters, digits, space . _ - & with at least one letter. */
  from: string
  /** One E.164 number. */
  to: string
  /** Text, in code points; no U+0000. */
  body: string
  /** Public https URL for delivery receipts of this message. */
  callbackUrl?: string | undefined
}

export interface SmartReplacement {
  characters: string
  replacement: string
  /** of the first in the body, in code points from 0. */
  position: number
}

export interface Statistics {
  /** as asked for, at the start of an interval. */
  from: string
  /** exclusive, at the end of an interval; not later than the present one. */
  to: string
  interval: 'minute' | 'hour' | 'day'
  groupBy: ('servicePlanId' | 'carrier' | 'route' | 'country' | 'status' | 'errorCode')[]
  /** what happened before this is counted; processes write their counts every 10 s, and a crash loses those of at most that long. */
  completeUntil: string
  /** upper bounds of the buckets, ms. */
  latencyBoundsMs: StatisticsBounds
  /** The largest groups first, at most 50 and 1500 points in all; then, with group null, all others together. */
  series: StatisticsSeries[]
}

export interface StatisticsBounds {
  accept: number[]
  submit: number[]
  receipt: number[]
  webhook: number[]
}

export interface StatisticsFigures {
  accepted: number
  /** taken whole by a carrier. */
  sent: number
  delivered: number
  failed: number
  /** also those that got a final status later. */
  unknown: number
  /** null, as what follows, by status or error code. */
  inbound: number | null
  /** of sent messages. */
  segments: number | null
  /** of sent messages, in each currency. */
  prices: StatisticsPrice[] | null
  /** accept: from the request to its commit; submit: from then to the carrier’s answer to the last segment; receipt: from then to the receipt that changed the status; webhook: from the change to its 2xx. */
  latencyMs: StatisticsLatencies | null
}

export interface StatisticsGroup {
  servicePlanId?: string | null | undefined
  carrier?: string | null | undefined
  route?: string | null | undefined
  country?: string | null | undefined
  status?: string | null | undefined
  errorCode?: string | null | undefined
}

export interface StatisticsLatencies {
  accept: StatisticsLatency | null
  submit: StatisticsLatency | null
  receipt: StatisticsLatency | null
  webhook: StatisticsLatency | null
}

export interface StatisticsLatency {
  count: number
  /** ms, interpolated within its bucket. */
  p50: number
  /** ms; above the last bound, that bound. */
  p99: number
  /** 16 counts: up to each of latencyBoundsMs, and above the last. */
  buckets: number[]
}

export interface StatisticsPoint {
  /** start of the interval. */
  at: string
  accepted: number
  /** taken whole by a carrier. */
  sent: number
  delivered: number
  failed: number
  /** also those that got a final status later. */
  unknown: number
  /** null, as what follows, by status or error code. */
  inbound: number | null
  /** of sent messages. */
  segments: number | null
  /** of sent messages, in each currency. */
  prices: StatisticsPrice[] | null
  /** accept: from the request to its commit; submit: from then to the carrier’s answer to the last segment; receipt: from then to the receipt that changed the status; webhook: from the change to its 2xx. */
  latencyMs: StatisticsLatencies | null
}

export interface StatisticsPrice {
  currency: string
  /** exact decimal. */
  price: string
}

export interface StatisticsSeries {
  /** A value for each of groupBy; null: none, or not known yet; # and a number: deleted. */
  group: StatisticsGroup | null
  totals: StatisticsFigures
  points: StatisticsPoint[]
}

export interface StatusCounts {
  /** Messages that match; at most the newest 1000. */
  counted: number
  /** More match than were counted. */
  hasMore: boolean
  counts: CountsByStatus
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

export interface TestEventRequest {
  /** Service plan: 24 hex digits. */
  servicePlanId: string
  /** default: deliveryReceipt. */
  type?: EventType | undefined
  /** When absent: the account's default DLR URL, or the plan's inbound URL. */
  url?: string | undefined
}

export interface Ucs2Character {
  character: string
  /** such as U+2019. */
  codePoint: string
  /** of the first in the body, in code points from 0. */
  position: number
}

export interface UnknownField {
  field: string
  /** the field that may be meant. */
  suggestion: string | null
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

export interface WebhookDestinationList {
  items: WebhookDestination[]
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
  /** Latest time of the next attempt; an event parked for its destination goes as soon as that recovers. Null: none is planned. */
  nextAttemptAt: string | null
  /** Scheme, host and port; known once it was delivered, or an attempt has failed. */
  destination: string | null
  /** HTTP status of the last attempt. */
  responseStatus: number | null
  /** Error of the last attempt; null: it was answered 2xx. */
  error: string | null
}

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
  /** Latest time of the next attempt; an event parked for its destination goes as soon as that recovers. Null: none is planned. */
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

export interface WebhookEventList {
  items: WebhookEvent[]
  pagination: Pagination
}

/** What is POSTed to a receiver, by type of event. */
export interface WebhookBodies {
  /** The status of an outbound message changed. To the message's callbackUrl, or else the account's default DLR URL. */
  deliveryReceipt: DeliveryReceiptWebhook
  /** An inbound message was received. To the service plan's inbound URL. */
  inboundMessage: InboundSmsWebhook
}

/** Each operation of the API: its input, and its answer when it succeeds. */
export interface Operations {
  /** Send one SMS. Sends one message. The response comes once it is stored; receipts follow. */
  sendSms: { input: SendSmsRequest; answer: DeliveryReceipt }
  /** Tell what a send would do, without sending. Takes the body of a send. Sends and stores nothing, and does not count against the rate limits of sends. What the send would be refused for is part of the response. */
  preflightSms: { input: SendSmsRequest; answer: Preflight }
  /** Get the delivery record of a message. The record may not be readable immediately after the send: retry a 404. */
  getMessage: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** As it was answered when the message was sent. */
      msgId: string
    }
    answer: DeliveryReceipt
  }
  /** Get the delivery record of a message (the Location of a send). The record may not be readable immediately after the send: retry a 404. */
  getMessageAtLocation: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId?: string | undefined
      /** As it was answered when the message was sent. */
      msgId: string
    }
    answer: DeliveryReceipt
  }
  /** List messages, newest first. Needs servicePlanId and at least one filter or a cursor. */
  listMessages: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** Sender. */
      from?: string | undefined
      /** Recipient. */
      to?: string | undefined
      /** Current status. */
      status?: MessageStatus | undefined
      /** ISO 3166-1 alpha-2. */
      country?: string | undefined
      /** Mobile country code and network code. */
      mccmnc?: string | undefined
      /** Start of the createdAt window, inclusive. */
      fromDate?: string | undefined
      /** End, inclusive; at most 31 days after fromDate. */
      toDate?: string | undefined
      /** Values above 100 are 100. */
      limit?: number | undefined
      /** nextCursor of the previous page, unchanged. */
      cursor?: string | undefined
    }
    answer: MessageList
  }
  /** Count messages by status. Needs servicePlanId and at least one filter. Counts the newest 1,000 that match. */
  countMessages: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** Sender. */
      from?: string | undefined
      /** Recipient. */
      to?: string | undefined
      /** Current status. */
      status?: MessageStatus | undefined
      /** ISO 3166-1 alpha-2. */
      country?: string | undefined
      /** Mobile country code and network code. */
      mccmnc?: string | undefined
      /** Start of the createdAt window, inclusive. */
      fromDate?: string | undefined
      /** End, inclusive; at most 31 days after fromDate. */
      toDate?: string | undefined
    }
    answer: StatusCounts
  }
  /** List the senders of a service plan, by name. Returns every sender that the plan is subscribed to. A send from any other sender is answered 403. */
  listSenders: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** Values above 100 are 100. */
      limit?: number | undefined
      /** nextCursor of the previous page, unchanged. */
      cursor?: string | undefined
    }
    answer: OwnSenderList
  }
  /** Get an inbound message. The message as it is pushed to the inbound URL, whether or not there is one. */
  getInboundMessage: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** As it was answered when the message was sent. */
      msgId: string
    }
    answer: InboundSmsWebhook
  }
  /** List inbound messages, newest first. Needs servicePlanId and at least one filter or a cursor. */
  listInboundMessages: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** Sender. */
      from?: string | undefined
      /** Number it was sent to. */
      to?: string | undefined
      /** Keyword it matched, in any case. */
      keyword?: string | undefined
      /** Start of the receivedAt window, inclusive. */
      fromDate?: string | undefined
      /** End, inclusive; at most 31 days after fromDate. */
      toDate?: string | undefined
      /** Values above 100 are 100. */
      limit?: number | undefined
      /** nextCursor of the previous page, unchanged. */
      cursor?: string | undefined
    }
    answer: InboundMessageList
  }
  /** Read a plan's events in their order, oldest first. Every change of status and every inbound message, whether or not it was pushed to a URL. */
  listEvents: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** Without a cursor: begin with events from this time on; default: the oldest event that is kept. */
      since?: string | undefined
      /** Values above 1000 are 1000; long texts make a page shorter. */
      limit?: number | undefined
      /** cursor of the previous page, unchanged. */
      cursor?: string | undefined
    }
    answer: EventFeed
  }
  /** List the events of a plan and their state, newest message first. Says whether each event was delivered, and where to. Events without a URL are listed too. */
  listWebhookEvents: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** State of the delivery. */
      state?: 'pending' | 'delivered' | 'failed' | 'kept' | undefined
      /** Of one message. */
      msgId?: string | undefined
      /** Scheme, host and port: https://example.com:8443. */
      destination?: string | undefined
      /** Start of the messages' createdAt window, inclusive. */
      fromDate?: string | undefined
      /** End, inclusive; at most 31 days after fromDate. */
      toDate?: string | undefined
      /** Values above 100 are 100. */
      limit?: number | undefined
      /** nextCursor of the previous page, unchanged. */
      cursor?: string | undefined
    }
    answer: WebhookEventList
  }
  /** Get an event with every attempt to deliver it. Has the response of your receiver to each attempt, up to its first 1 KiB. */
  getWebhookEvent: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** {msgId}-{sequence}, as in webhook-id. */
      eventId: string
    }
    answer: WebhookEventDetail
  }
  /** List destinations that are in trouble, paused, or have waiting events, by name. A destination is the scheme, host and port of a URL. One that works, and has nothing waiting, is not listed. */
  listWebhookDestinations: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
      /** Values above 100 are 100. */
      limit?: number | undefined
      /** nextCursor of the previous page, unchanged. */
      cursor?: string | undefined
    }
    answer: WebhookDestinationList
  }
  /** Show statistics. Counts, prices and latencies over time, of one service plan or of all that the token may read. Each count is at the time when it happened. */
  getStatistics: {
    input: {
      /** Service plan; default: all that the token may read. */
      servicePlanId?: string | undefined
      /** One or two of servicePlanId, country, status, errorCode, with a comma between. */
      groupBy?: string | undefined
      /** Start, RFC 3339, inclusive; default: 24 hours before toDate. */
      fromDate?: string | undefined
      /** End, RFC 3339, exclusive; default: now. */
      toDate?: string | undefined
      /** minute (of the last 8 days), hour or day, in UTC; default: minute up to 3 hours, hour up to 10 days, then day. */
      interval?: string | undefined
      /** Country (ISO 3166-1 alpha-2). */
      country?: string | undefined
      /** Count only changes to this status. */
      status?: string | undefined
      /** Count only changes with this error code, 3 digits. */
      errorCode?: string | undefined
    }
    answer: Statistics
  }
  /** Show what a sandbox plan simulates. Returns the inbound numbers of the plan, and what becomes of a message by the last digits of its destination. Only for sandbox plans. */
  getSandbox: {
    input: {
      /** Service plan: 24 hex digits. */
      servicePlanId: string
    }
    answer: Sandbox
  }
  /** Send a signed test event and return the result. At most one a second for each account. It has the header aldis-test: true, and is not retried. */
  sendTestWebhook: { input: TestEventRequest; answer: TestEvent }
  /** Send a message from a simulated handset. The simulator delivers it to a number of the plan as a carrier does, a long text in parts. It is then an inbound message like any other. Only for sandbox plans. */
  sendFromHandset: { input: HandsetMessageRequest; answer: HandsetMessage }
  /** Redeliver an event. The event keeps its id, the count of its attempts continues, and its schedule starts again. A pending event becomes due now. */
  redeliverWebhookEvent: {
    input: {
      /** {msgId}-{sequence}, as in webhook-id. */
      eventId: string
    } & RedeliverEventRequest
    answer: WebhookEventDetail
  }
  /** Redeliver all events of a plan that failed, or were kept. Redelivers up to 10,000 in one request; nextAfter says where to continue. */
  redeliverWebhookEvents: { input: RedeliverEventsRequest; answer: Redelivered }
  /** Stop delivering a plan's events to a destination. They wait, without end, until it is resumed. */
  pauseWebhookDestination: { input: DestinationRequest; answer: WebhookDestination }
  /** Resume a destination that is paused or has failed. Its waiting events are delivered now, including those that wait for their next attempt. Only the operator can resume what the operator has paused. */
  resumeWebhookDestination: { input: DestinationRequest; answer: WebhookDestination }
}

/** How each operation is requested: what is neither in the path nor in the query is the body. */
export const OPERATIONS = {
  sendSms: { method: 'POST', path: '/v1/sendsms', query: [], body: true },
  preflightSms: { method: 'POST', path: '/v1/sendsms/preflight', query: [], body: true },
  getMessage: { method: 'GET', path: '/v1/messages/sms/{msgId}', query: ['servicePlanId'], body: false },
  getMessageAtLocation: {
    method: 'GET',
    path: '/v1/messages/{msgId}',
    query: ['servicePlanId'],
    body: false,
  },
  listMessages: {
    method: 'GET',
    path: '/v1/messages/sms',
    query: [
      'servicePlanId',
      'from',
      'to',
      'status',
      'country',
      'mccmnc',
      'fromDate',
      'toDate',
      'limit',
      'cursor',
    ],
    body: false,
  },
  countMessages: {
    method: 'GET',
    path: '/v1/messages/sms/counts',
    query: ['servicePlanId', 'from', 'to', 'status', 'country', 'mccmnc', 'fromDate', 'toDate'],
    body: false,
  },
  listSenders: {
    method: 'GET',
    path: '/v1/senders',
    query: ['servicePlanId', 'limit', 'cursor'],
    body: false,
  },
  getInboundMessage: {
    method: 'GET',
    path: '/v1/inbound/sms/{msgId}',
    query: ['servicePlanId'],
    body: false,
  },
  listInboundMessages: {
    method: 'GET',
    path: '/v1/inbound/sms',
    query: ['servicePlanId', 'from', 'to', 'keyword', 'fromDate', 'toDate', 'limit', 'cursor'],
    body: false,
  },
  listEvents: {
    method: 'GET',
    path: '/v1/events',
    query: ['servicePlanId', 'since', 'limit', 'cursor'],
    body: false,
  },
  listWebhookEvents: {
    method: 'GET',
    path: '/v1/webhooks/events',
    query: ['servicePlanId', 'state', 'msgId', 'destination', 'fromDate', 'toDate', 'limit', 'cursor'],
    body: false,
  },
  getWebhookEvent: {
    method: 'GET',
    path: '/v1/webhooks/events/{eventId}',
    query: ['servicePlanId'],
    body: false,
  },
  listWebhookDestinations: {
    method: 'GET',
    path: '/v1/webhooks/destinations',
    query: ['servicePlanId', 'limit', 'cursor'],
    body: false,
  },
  getStatistics: {
    method: 'GET',
    path: '/v1/statistics',
    query: ['servicePlanId', 'groupBy', 'fromDate', 'toDate', 'interval', 'country', 'status', 'errorCode'],
    body: false,
  },
  getSandbox: { method: 'GET', path: '/v1/sandbox', query: ['servicePlanId'], body: false },
  sendTestWebhook: { method: 'POST', path: '/v1/webhooks/test', query: [], body: true },
  sendFromHandset: { method: 'POST', path: '/v1/sandbox/inbound', query: [], body: true },
  redeliverWebhookEvent: {
    method: 'POST',
    path: '/v1/webhooks/events/{eventId}/redeliver',
    query: [],
    body: true,
  },
  redeliverWebhookEvents: { method: 'POST', path: '/v1/webhooks/redeliver', query: [], body: true },
  pauseWebhookDestination: { method: 'POST', path: '/v1/webhooks/destinations/pause', query: [], body: true },
  resumeWebhookDestination: {
    method: 'POST',
    path: '/v1/webhooks/destinations/resume',
    query: [],
    body: true,
  },
} as const
