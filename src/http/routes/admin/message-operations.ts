import type { OperationText } from './configuration-operations.ts'

/** Method and path below /admin/v1 of the operations that show routes, carriers, messages and webhooks at work. */
export const MESSAGE_OPERATIONS: Readonly<Record<string, OperationText>> = {
  'GET /route-explanation': [
    'explainRoute',
    'Explain the route of a message',
    'Returns which carrier a message would take, why, and what it would cost. Nothing is sent.',
  ],
  'GET /quality': [
    'getQuality',
    'Show the quality of carriers',
    'Returns the answers, receipts and latencies of each carrier in each route.',
  ],
  'GET /quality/pauses': [
    'listQualityPauses',
    'List quality pauses',
    'Returns the carriers that the quality floor of a route has taken out of use.',
  ],
  'DELETE /quality/pauses/:route/:carrier': [
    'endQualityPause',
    'End a quality pause',
    'The route uses the carrier again, and judges it by messages sent since.',
  ],
  'GET /queue': [
    'getQueue',
    'Show what waits',
    'Returns the waiting messages by route, carrier and cause, and the waiting webhooks by cause.',
  ],
  'GET /messages': [
    'listMessagesOfPlans',
    'List messages of all service plans, or of one',
    'Newest first. A page may have fewer items than the limit: go on until `nextAfter` is null.',
  ],
  'GET /messages/:msgId': [
    'inspectMessage',
    'Show a message and its history',
    'Returns every attempt, segment, receipt and webhook of the message, and a timeline of them.',
  ],
  'GET /inbound-messages': [
    'listInboundMessagesOfPlan',
    'List the inbound messages of a service plan',
    'Newest first; from one sender, to one number, or by keyword where given.',
  ],
  'GET /inbound-messages/:msgId': [
    'inspectInboundMessage',
    'Show an inbound message',
    'Returns the message and the carrier that delivered it.',
  ],
  'GET /webhook-events': [
    'listWebhookEventsOfPlan',
    'List the events of a service plan',
    'Those of the newest message first; by state, message, destination and time where given.',
  ],
  'GET /webhook-events/:eventId': [
    'inspectWebhookEvent',
    'Show an event',
    'Returns the event and every attempt to deliver it.',
  ],
  'POST /webhook-events/:eventId/redeliver': [
    'redeliverWebhookEventOfPlan',
    'Redeliver an event',
    'Delivers the event again, or a pending one now, under the same id.',
  ],
  'POST /webhook-redeliveries': [
    'redeliverWebhookEventsOfPlan',
    'Redeliver events of a service plan',
    'Delivers up to 20,000 events that failed, or were kept without a URL. Pass `nextAfter` as `after` for the rest.',
  ],
  'GET /webhook-destinations': [
    'listWebhookDestinationsOfPlan',
    'List the webhook destinations of a service plan',
    'Those that are in trouble, paused, or have events waiting.',
  ],
  'POST /webhook-destinations/pause': [
    'pauseWebhookDestinationOfPlan',
    'Pause a webhook destination',
    'Nothing more is sent to it. Its events wait until it is resumed.',
  ],
  'POST /webhook-destinations/resume': [
    'resumeWebhookDestinationOfPlan',
    'Resume a webhook destination',
    'Ends a pause, whoever made it, and closes an open breaker.',
  ],
  'POST /webhook-tests': [
    'sendTestWebhookOfPlan',
    'Send a test event',
    'Sends a signed test event at once and returns the result. One a second for each account.',
  ],
  'GET /unowned-inbound-messages': [
    'listUnownedInboundMessages',
    'List unowned inbound messages',
    'Messages to numbers that no service plan has, newest first.',
  ],
}
