// Made from the OpenAPI document by `npm run generate-client`.

import type { EventsOperations } from './api/events.ts'
import type { InboundMessagesOperations } from './api/inbound-messages.ts'
import type { MessagesOperations } from './api/messages.ts'
import type { SandboxOperations } from './api/sandbox.ts'
import type { StatisticsOperations } from './api/statistics.ts'
import type { WebhookDeliveriesOperations } from './api/webhook-deliveries.ts'

export type * from './api/events.ts'
export type * from './api/inbound-messages.ts'
export type * from './api/messages.ts'
export type * from './api/sandbox.ts'
export type * from './api/several-tags.ts'
export type * from './api/statistics.ts'
export type * from './api/webhook-bodies.ts'
export type * from './api/webhook-deliveries.ts'

/** Each operation of the API. */
export interface Operations
  extends EventsOperations,
    InboundMessagesOperations,
    MessagesOperations,
    SandboxOperations,
    StatisticsOperations,
    WebhookDeliveriesOperations {}

/** How each is requested: method, path and names of the query; `body` if the rest of the input is its body. */
export const OPERATIONS = {
  sendSms: 'POST /v1/sendsms body',
  preflightSms: 'POST /v1/sendsms/preflight body',
  getMessage: 'GET /v1/messages/sms/{msgId}?servicePlanId',
  getMessageAtLocation: 'GET /v1/messages/{msgId}?servicePlanId',
  listMessages:
    'GET /v1/messages/sms?servicePlanId&from&to&status&country&mccmnc&fromDate&toDate&limit&cursor',
  countMessages: 'GET /v1/messages/sms/counts?servicePlanId&from&to&status&country&mccmnc&fromDate&toDate',
  getMessageWait: 'GET /v1/messages/sms/{msgId}/wait?servicePlanId',
  listSenders: 'GET /v1/senders?servicePlanId&limit&cursor',
  getLimits: 'GET /v1/limits?servicePlanId',
  getInboundMessage: 'GET /v1/inbound/sms/{msgId}?servicePlanId',
  listInboundMessages: 'GET /v1/inbound/sms?servicePlanId&from&to&keyword&fromDate&toDate&limit&cursor',
  listEvents: 'GET /v1/events?servicePlanId&since&limit&cursor',
  listWebhookEvents:
    'GET /v1/webhooks/events?servicePlanId&state&msgId&destination&fromDate&toDate&limit&cursor',
  getWebhookEvent: 'GET /v1/webhooks/events/{eventId}?servicePlanId',
  listWebhookDestinations: 'GET /v1/webhooks/destinations?servicePlanId&limit&cursor',
  getStatistics: 'GET /v1/statistics?servicePlanId&groupBy&fromDate&toDate&interval&country&status&errorCode',
  getSandbox: 'GET /v1/sandbox?servicePlanId',
  sendTestWebhook: 'POST /v1/webhooks/test body',
  sendFromHandset: 'POST /v1/sandbox/inbound body',
  redeliverWebhookEvent: 'POST /v1/webhooks/events/{eventId}/redeliver body',
  redeliverWebhookEvents: 'POST /v1/webhooks/redeliver body',
  pauseWebhookDestination: 'POST /v1/webhooks/destinations/pause body',
  resumeWebhookDestination: 'POST /v1/webhooks/destinations/resume body',
}
