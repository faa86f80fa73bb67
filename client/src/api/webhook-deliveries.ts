// Made from the OpenAPI document by `npm run generate-client`.

import type { Pagination } from './several-tags.ts'

export interface DestinationRequest {
  /** Service plan: 24 hex digits. */
  servicePlanId: string
  /** Scheme, host and port: https://example.com:8443. */
  destination: string
}

export type EventType = 'deliveryReceipt' | 'inboundMessage'

export interface RedeliverEventRequest {
  /** Service plan: 24 hex digits. */
  servicePlanId: string
}

export interface RedeliverEventsRequest {
  /** Service plan: 24 hex digits. */
  servicePlanId: string
  /** default: failed; kept: events that had no URL, and have one now. */
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

export interface WebhookAttempt {
  attempt: number
  attemptedAt: string
  latencyMs: number
  responseStatus: number | null
  error: string | null
  /** Headers that were sent, or would have been with a connection, without Host, Connection and Content-Length. ***: the signature, and values of the account's own headers and credentials, as they are configured now. Null: these cannot be decrypted. */
  requestHeaders: Record<string, string> | null
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
  /** failed: until it is redelivered; kept: there was no URL for it, when it happened or when it was to be sent. */
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
  /** failed: until it is redelivered; kept: there was no URL for it, when it happened or when it was to be sent. */
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

/** Each operation: its input, and its answer when it succeeds. */
export interface WebhookDeliveriesOperations {
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
  /** Get an event with every attempt to deliver it. Has the headers of each attempt, and the response of your receiver, up to its first 1 KiB. */
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
  /** Send a signed test event and return the result. At most one a second for each account. It has the header aldis-test: true, and is not retried. */
  sendTestWebhook: { input: TestEventRequest; answer: TestEvent }
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
