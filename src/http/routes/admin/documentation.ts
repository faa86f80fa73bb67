import type { RouteOptions } from 'fastify'

/** Method and path below /admin/v1 -> operationId and summary of the OpenAPI document. */
const OPERATIONS: Readonly<Record<string, readonly [operationId: string, summary: string]>> = {
  'POST /accounts': ['createAccount', 'Create an account; its webhook secret is shown this once'],
  'GET /accounts': ['listAccounts', 'List accounts'],
  'GET /accounts/:accountId': ['getAccount', 'Show an account'],
  'PATCH /accounts/:accountId': ['changeAccount', 'Change an account; what is not given stays'],
  'DELETE /accounts/:accountId': ['deleteAccount', 'Delete an account without plans and live tokens'],
  'POST /accounts/:accountId/webhook-secret/rotate': [
    'rotateWebhookSecret',
    'Make a new webhook secret, shown this once; the present one signs beside it',
  ],
  'DELETE /accounts/:accountId/webhook-secret/previous': [
    'removePreviousWebhookSecret',
    'End a rotation: only the newest secret signs',
  ],
  'POST /service-plans': ['createServicePlan', 'Create a service plan'],
  'GET /service-plans': ['listServicePlans', 'List service plans'],
  'GET /service-plans/:servicePlanId': ['getServicePlan', 'Show a service plan'],
  'PATCH /service-plans/:servicePlanId': [
    'changeServicePlan',
    'Change a service plan; what is not given stays',
  ],
  'DELETE /service-plans/:servicePlanId': ['deleteServicePlan', 'Delete a service plan that nothing uses'],
  'POST /tokens': ['createToken', 'Issue a token; it is shown this once'],
  'GET /tokens': ['listTokens', 'List tokens, revoked ones too'],
  'GET /tokens/:tokenId': ['getToken', 'Show a token, not its secret'],
  'DELETE /tokens/:tokenId': ['revokeToken', 'Revoke a token for good, on every node within 5 s'],
  'PUT /service-plans/:servicePlanId/senders/:sender': [
    'setSender',
    'Subscribe a plan to a sender: approved, pending or denied',
  ],
  'GET /service-plans/:servicePlanId/senders/:sender': ['getSender', 'Show a sender subscription'],
  'DELETE /service-plans/:servicePlanId/senders/:sender': ['deleteSender', 'End a sender subscription'],
  'GET /service-plans/:servicePlanId/senders': ['listSenders', 'List the senders of a plan'],
  'POST /inbound-numbers': ['createInboundNumber', 'Give a number to a service plan'],
  'GET /inbound-numbers': ['listInboundNumbers', 'List inbound numbers'],
  'GET /inbound-numbers/:number': ['getInboundNumber', 'Show an inbound number'],
  'PATCH /inbound-numbers/:number': [
    'changeInboundNumber',
    'Change an inbound number; what is not given stays',
  ],
  'DELETE /inbound-numbers/:number': ['deleteInboundNumber', 'Take a number from its plan'],
  'POST /opt-outs': ['addOptOut', 'Send nothing more from a sender of a plan to a person'],
  'POST /opt-outs/import': ['importOptOuts', 'Add up to 1,000 opt-outs, all or none; what is there stays'],
  'GET /opt-outs': ['listOptOuts', 'List the opt-outs of a plan, of one sender or person where given'],
  'DELETE /opt-outs': ['removeOptOut', 'Allow messages from a sender to a person again'],
  'POST /carriers': ['createCarrier', 'Create a carrier'],
  'GET /carriers': ['listCarriers', 'List carriers'],
  'GET /carriers/:carrier': ['getCarrier', 'Show a carrier, not its password'],
  'PATCH /carriers/:carrier': ['changeCarrier', 'Change a carrier; what is not given stays'],
  'DELETE /carriers/:carrier': ['deleteCarrier', 'Delete a carrier that no route uses'],
  'POST /routes': ['createRoute', 'Create a route'],
  'GET /routes': ['listRoutes', 'List routes'],
  'GET /routes/:route': ['getRoute', 'Show a route'],
  'PATCH /routes/:route': ['changeRoute', 'Change a route; what is not given stays'],
  'DELETE /routes/:route': ['deleteRoute', 'Delete a route that no plan and no rule uses'],
  'GET /route-explanation': [
    'explainRoute',
    'Say which carrier a message would take, why, and what it would cost; nothing is sent',
  ],
  'POST /routing-rules': [
    'createRoutingRule',
    'Lead messages over another route than that of their plan: by plan, sender, and mccmnc, prefix or country',
  ],
  'GET /routing-rules': ['listRoutingRules', 'List routing rules'],
  'GET /routing-rules/:ruleId': ['getRoutingRule', 'Show a routing rule'],
  'PATCH /routing-rules/:ruleId': ['changeRoutingRule', 'Lead a routing rule to another route'],
  'DELETE /routing-rules/:ruleId': ['deleteRoutingRule', 'Delete a routing rule'],
  'POST /number-ranges/import': [
    'importNumberRanges',
    'Set the networks of up to 1,000 number ranges, all or none',
  ],
  'GET /number-ranges': ['listNumberRanges', 'List number ranges'],
  'PUT /number-ranges/:prefix': ['setNumberRange', 'Set the network of a number range'],
  'GET /number-ranges/:prefix': ['getNumberRange', 'Show a number range'],
  'DELETE /number-ranges/:prefix': ['deleteNumberRange', 'Delete a number range'],
  'POST /rates': ['createRate', 'Say what a segment costs: to a network, prefix, country, or anywhere'],
  'POST /rates/import': [
    'importRates',
    'Add up to 1,000 rates, or change the amounts of those that are there: all or none',
  ],
  'GET /rates': ['listRates', 'List rates'],
  'GET /rates/:rateId': ['getRate', 'Show a rate'],
  'PATCH /rates/:rateId': ['changeRate', 'Change the amounts of a rate; what is not given stays'],
  'DELETE /rates/:rateId': ['deleteRate', 'Delete a rate; what was charged by it stays'],
  'POST /sender-rules': [
    'createSenderRule',
    'Say which kinds of sender are allowed for recipients in a country',
  ],
  'GET /sender-rules': ['listSenderRules', 'List sender rules'],
  'GET /sender-rules/:ruleId': ['getSenderRule', 'Show a sender rule'],
  'PATCH /sender-rules/:ruleId': ['changeSenderRule', 'Change which kinds of sender a rule allows'],
  'DELETE /sender-rules/:ruleId': ['deleteSenderRule', 'Delete a sender rule'],
  'GET /quality': ['getQuality', 'Show how carriers do in each route: answers, receipts, latencies'],
  'GET /quality/pauses': ['listQualityPauses', 'List carriers that their quality floor has taken out of use'],
  'DELETE /quality/pauses/:route/:carrier': [
    'endQualityPause',
    'Put a carrier back into use in a route; it is judged by messages sent since',
  ],
  'GET /queue': ['getQueue', 'Show what waits: messages by route, carrier and cause, and webhooks by cause'],
  'GET /messages': [
    'listMessagesOfPlans',
    'List messages of all plans or of one, newest first; a page may have fewer than limit: go on until nextAfter is null',
  ],
  'GET /messages/:msgId': ['inspectMessage', 'Show a message and all that happened to it'],
  'GET /inbound-messages': [
    'listInboundMessagesOfPlan',
    'List the inbound messages of a plan, newest first; from one person, to one number, or by keyword where given',
  ],
  'GET /inbound-messages/:msgId': ['inspectInboundMessage', 'Show an inbound message'],
  'GET /webhook-events': [
    'listWebhookEventsOfPlan',
    'List the events of a plan, those of the newest message first; by state, message, destination and time where given',
  ],
  'GET /webhook-events/:eventId': ['inspectWebhookEvent', 'Show an event and every attempt to deliver it'],
  'POST /webhook-events/:eventId/redeliver': [
    'redeliverWebhookEventOfPlan',
    'Deliver an event again, or now, under the id that it has',
  ],
  'POST /webhook-redeliveries': [
    'redeliverWebhookEventsOfPlan',
    'Deliver what failed, or was kept without a URL: up to 20,000 events, the rest with nextAfter',
  ],
  'GET /webhook-destinations': [
    'listWebhookDestinationsOfPlan',
    'List the destinations of a plan that are in trouble or have deliveries waiting',
  ],
  'POST /webhook-destinations/pause': [
    'pauseWebhookDestinationOfPlan',
    'Send nothing more to a destination of a plan; its events wait',
  ],
  'POST /webhook-destinations/resume': [
    'resumeWebhookDestinationOfPlan',
    'Deliver to a destination of a plan again, whoever has paused it, or its breaker is open',
  ],
  'POST /webhook-tests': [
    'sendTestWebhookOfPlan',
    'Send a signed test event at once, and say what came of it; one a second for each account',
  ],
  'GET /unowned-inbound-messages': [
    'listUnownedInboundMessages',
    'List inbound messages to numbers that nobody owns',
  ],
}

/** What the OpenAPI document says of a route beside its schemas. */
export function documentationOf({ method, url, prefix }: RouteOptions & { prefix: string }): object {
  const [operationId, summary] = OPERATIONS[`${method} ${url.slice(prefix.length)}`] ?? []
  if (operationId === undefined) return {}
  return { operationId, summary }
}
