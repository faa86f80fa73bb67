// Made from the OpenAPI document by `npm run generate-client`.

import type { DeliveryReceipt, InboundSmsWebhook } from './several-tags.ts'

export interface DeliveryReceiptEvent {
  /** webhook-id of its webhook. */
  eventId: string
  /** Place among the events of its message: 1, 2, …; 0: an inbound message. */
  sequence: number
  occurredAt: string
  type: 'deliveryReceipt'
  data: DeliveryReceipt
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

export interface InboundMessageEvent {
  /** webhook-id of its webhook. */
  eventId: string
  /** Place among the events of its message: 1, 2, …; 0: an inbound message. */
  sequence: number
  occurredAt: string
  type: 'inboundMessage'
  data: InboundSmsWebhook
}

/** Each operation: its input, and its answer when it succeeds. */
export interface EventsOperations {
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
}
