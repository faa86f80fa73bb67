// Made from the OpenAPI document by `npm run generate-client`.

import type {
  DeliveryReceipt,
  DestinationRequest,
  EventFeed,
  InboundMessageList,
  InboundSmsWebhook,
  MessageList,
  MessageStatus,
  RedeliverEventRequest,
  RedeliverEventsRequest,
  Redelivered,
  SendSmsRequest,
  TestEvent,
  TestEventRequest,
  WebhookDestination,
  WebhookDestinationList,
  WebhookEventDetail,
  WebhookEventList,
} from './schema.ts'

/** Each operation of the API: what it is given, and what it answers when it succeeds. */
export interface Operations {
  /** Send one SMS. Sends one message. The response comes once it is stored; receipts follow. */
  sendSms: { input: SendSmsRequest; answer: DeliveryReceipt }
  /** Get the delivery record of a message. The record may not be readable immediately after the send: retry a 404. */
  getMessage: {
    input: {
      /** As it was answered when the message was sent. */
      msgId: string
      /** Service plan: 24 hex digits. */
      servicePlanId: string
    }
    answer: DeliveryReceipt
  }
  /** Get the delivery record of a message (the Location of a send). The record may not be readable immediately after the send: retry a 404. */
  getMessageAtLocation: {
    input: {
      /** As it was answered when the message was sent. */
      msgId: string
      /** Service plan: 24 hex digits. */
      servicePlanId?: string | undefined
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
      /** Destination. */
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
  /** Get an inbound message. The message as it is pushed to the inbound URL, whether or not there is one. */
  getInboundMessage: {
    input: {
      /** As it was answered when the message was sent. */
      msgId: string
      /** Service plan: 24 hex digits. */
      servicePlanId: string
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
      /** {msgId}-{sequence}, as in webhook-id. */
      eventId: string
      /** Service plan: 24 hex digits. */
      servicePlanId: string
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
  /** End a pause, or have a destination tried again that failed. What waited is delivered, also what waits for its next attempt. What the operator has paused the operator resumes. */
  resumeWebhookDestination: { input: DestinationRequest; answer: WebhookDestination }
}

/** How each operation is requested: what is neither in the path nor in the query is the body. */
export const OPERATIONS = {
  sendSms: { method: 'POST', path: '/v1/sendsms', query: [], body: true },
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
  sendTestWebhook: { method: 'POST', path: '/v1/webhooks/test', query: [], body: true },
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
