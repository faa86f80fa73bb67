// Made from the OpenAPI document by `npm run generate-client`.

import type {
  EventType,
  Redelivered,
  TestEvent,
  WebhookDestination,
  WebhookEvent,
  WebhookEventDetail,
} from '../api.ts'

export interface DestinationRequest {
  /** Id of the service plan, 24 hex digits. */
  servicePlanId: string
  /** Scheme, host and port: https://hooks.example.com. */
  destination: string
}

export interface RedeliverEventsRequest {
  /** Id of the service plan, 24 hex digits. */
  servicePlanId: string
  /** UUID of the message. */
  msgId?: string | undefined
  /** Scheme, host and port: https://hooks.example.com. */
  destination?: string | undefined
  /** Start of the window of the messages' createdAt, RFC 3339, inclusive. */
  fromDate?: string | undefined
  /** End of the window, RFC 3339, inclusive. */
  toDate?: string | undefined
  /** failed, or kept without a URL; default: failed. */
  state?: 'failed' | 'kept' | undefined
  /** true: only counts the events that would be redelivered; default: false. */
  dryRun?: boolean | undefined
  /** Continue after this event. */
  after?: string | undefined
}

export interface TestEventRequest {
  /** Id of the service plan, 24 hex digits. */
  servicePlanId: string
  /** Kind of event; default: deliveryReceipt. */
  type?: EventType | undefined
  /** Where to send it; default: the default DLR URL of the account; for inboundMessage, the inbound URL of the plan. */
  url?: string | undefined
}

export interface WebhookDestinationPage {
  items: WebhookDestination[]
  nextAfter: string | null
}

export interface WebhookEventPage {
  items: WebhookEvent[]
  nextAfter: string | null
}

/** Each operation: its input, and its answer when it succeeds. */
export interface WebhookAdministrationOperations {
  /** List the events of a service plan. Sorted by message, newest first. */
  listWebhookEventsOfPlan: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** UUID of the message. */
      msgId?: string | undefined
      /** Scheme, host and port: https://hooks.example.com. */
      destination?: string | undefined
      /** Start of the window of the messages' createdAt, RFC 3339, inclusive. */
      fromDate?: string | undefined
      /** End of the window, RFC 3339, inclusive. */
      toDate?: string | undefined
      /** State of the delivery. */
      state?: 'pending' | 'delivered' | 'failed' | 'kept' | undefined
    }
    answer: WebhookEventPage
  }
  /** Show an event. Returns the event and every attempt to deliver it. */
  getWebhookEventOfPlan: {
    input: {
      /** Message id, a dash, and the place among the events of the message. */
      eventId: string
    }
    answer: WebhookEventDetail
  }
  /** Redeliver an event. Delivers the event again, or a pending one now, under the same id. */
  redeliverWebhookEventOfPlan: {
    input: {
      /** Message id, a dash, and the place among the events of the message. */
      eventId: string
    }
    answer: WebhookEventDetail
  }
  /** Redeliver events of a service plan. Redelivers up to 20,000 events that failed, or were kept without a URL. Pass `nextAfter` as `after` for the rest. */
  redeliverWebhookEventsOfPlan: { input: RedeliverEventsRequest; answer: Redelivered }
  /** List the webhook destinations of a service plan. Destinations that are in trouble, paused, or have events waiting. */
  listWebhookDestinationsOfPlan: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
    }
    answer: WebhookDestinationPage
  }
  /** Pause a webhook destination. Nothing more is sent to it. Its events wait until it is resumed. */
  pauseWebhookDestinationOfPlan: { input: DestinationRequest; answer: WebhookDestination }
  /** Resume a webhook destination. Ends a pause by the customer or the operator, and closes an open breaker. */
  resumeWebhookDestinationOfPlan: { input: DestinationRequest; answer: WebhookDestination }
  /** Test a receiver with an event that never happened. Sends a signed test event at once and returns the result. One a second for each account. */
  sendTestWebhookOfPlan: { input: TestEventRequest; answer: TestEvent }
}
