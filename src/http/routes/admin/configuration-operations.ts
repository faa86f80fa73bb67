/** How the OpenAPI document describes an operation. */
export type OperationText = readonly [operationId: string, summary: string, description: string]

const KEPT = 'Omitted fields keep their values.'
const PAGED = 'Items come in the order of their keys.'
const AT_ONCE =
  'The change takes effect at once on the node that answers, and within 5 seconds on every other node.'

/** Method and path below /admin/v1 of what operators set up. */
export const CONFIGURATION_OPERATIONS: Readonly<Record<string, OperationText>> = {
  'POST /accounts': [
    'createAccount',
    'Create an account',
    'The account owns service plans and tokens. Its webhook secret is shown in this answer only.',
  ],
  'GET /accounts': ['listAccounts', 'List accounts', PAGED],
  'GET /accounts/:accountId': [
    'getAccount',
    'Show an account',
    'Secrets are never shown: of headers the names, of URLs no credentials.',
  ],
  'PATCH /accounts/:accountId': ['changeAccount', 'Change an account', `${KEPT} ${AT_ONCE}`],
  'DELETE /accounts/:accountId': [
    'deleteAccount',
    'Delete an account',
    'An account that has service plans or live tokens cannot be deleted: 409.',
  ],
  'POST /accounts/:accountId/webhook-secret/rotate': [
    'rotateWebhookSecret',
    'Rotate the webhook secret of an account',
    'Returns a new secret, shown in this answer only. Webhooks are signed with both secrets until the rotation is ended.',
  ],
  'DELETE /accounts/:accountId/webhook-secret/previous': [
    'removePreviousWebhookSecret',
    'End the rotation of a webhook secret',
    'Webhooks are signed with the newest secret only from now on.',
  ],
  'POST /service-plans': [
    'createServicePlan',
    'Create a service plan',
    'Messages are sent and received under a service plan. It can send once it has a route.',
  ],
  'GET /service-plans': ['listServicePlans', 'List service plans', PAGED],
  'GET /service-plans/:servicePlanId': [
    'getServicePlan',
    'Show a service plan',
    'Returns its settings and whether it can send.',
  ],
  'PATCH /service-plans/:servicePlanId': ['changeServicePlan', 'Change a service plan', `${KEPT} ${AT_ONCE}`],
  'DELETE /service-plans/:servicePlanId': [
    'deleteServicePlan',
    'Delete a service plan',
    'A service plan that is in use cannot be deleted: 409.',
  ],
  'POST /secrets/reseal': [
    'resealSecrets',
    'Seal with the present key what another has sealed',
    'The first request does the configuration, each further one 10,000 messages from `nextAfter` on; the last does the configuration again. It may be repeated.',
  ],
  'POST /tokens': [
    'createToken',
    'Issue a token',
    'Customers call the API with it. The token is shown in this answer only; the database keeps its hash.',
  ],
  'GET /tokens': ['listTokens', 'List tokens', `Revoked tokens are listed too. ${PAGED}`],
  'GET /tokens/:tokenId': ['getToken', 'Show a token', 'Returns its settings and a hint, never its secret.'],
  'DELETE /tokens/:tokenId': [
    'revokeToken',
    'Revoke a token',
    'This is final. Every node refuses the token within 5 seconds.',
  ],
  'PUT /service-plans/:servicePlanId/senders/:sender': [
    'setSender',
    'Subscribe a service plan to a sender',
    'The status is approved, pending or denied. Only an approved sender may be used.',
  ],
  'GET /service-plans/:servicePlanId/senders/:sender': [
    'getSender',
    'Show a sender subscription',
    'Returns the status of the sender for this service plan.',
  ],
  'DELETE /service-plans/:servicePlanId/senders/:sender': [
    'deleteSender',
    'End a sender subscription',
    `The service plan may not send from this sender any more. ${AT_ONCE}`,
  ],
  'GET /service-plans/:servicePlanId/senders': ['listSenders', 'List the senders of a service plan', PAGED],
  'POST /inbound-numbers': [
    'createInboundNumber',
    'Assign an inbound number',
    'Messages to this number belong to the service plan.',
  ],
  'GET /inbound-numbers': ['listInboundNumbers', 'List inbound numbers', PAGED],
  'GET /inbound-numbers/:number': [
    'getInboundNumber',
    'Show an inbound number',
    'Returns its service plan and its keywords.',
  ],
  'PATCH /inbound-numbers/:number': ['changeInboundNumber', 'Change an inbound number', KEPT],
  'DELETE /inbound-numbers/:number': [
    'deleteInboundNumber',
    'Release an inbound number',
    'Messages to it belong to nobody from now on; they are kept as unowned.',
  ],
  'POST /opt-outs': [
    'addOptOut',
    'Add an opt-out',
    'The service plan sends nothing more from this sender to this recipient. 200 when it existed already.',
  ],
  'POST /opt-outs/import': [
    'importOptOuts',
    'Import opt-outs',
    'Up to 1,000 at once, all or none. Opt-outs that exist already are kept.',
  ],
  'GET /opt-outs': [
    'listOptOuts',
    'List the opt-outs of a service plan',
    `Of one sender or recipient where given. ${PAGED}`,
  ],
  'DELETE /opt-outs': [
    'removeOptOut',
    'Remove an opt-out',
    'The recipient may get messages from this sender again.',
  ],
  'POST /carriers': [
    'createCarrier',
    'Create a carrier',
    'The service connects and binds at once, unless the state says otherwise. The password is never shown again.',
  ],
  'GET /carriers': ['listCarriers', 'List carriers', PAGED],
  'GET /carriers/:carrier': [
    'getCarrier',
    'Show a carrier',
    'Returns its settings, except its password, and the state of its binds.',
  ],
  'PATCH /carriers/:carrier': [
    'changeCarrier',
    'Change a carrier',
    `${KEPT} Binds are renewed where the change needs it.`,
  ],
  'DELETE /carriers/:carrier': [
    'deleteCarrier',
    'Delete a carrier',
    'A carrier that a route uses cannot be deleted: 409.',
  ],
  'POST /routes': [
    'createRoute',
    'Create a route',
    'A route lists carriers by priority and weight. Service plans and routing rules lead to routes.',
  ],
  'GET /routes': ['listRoutes', 'List routes', PAGED],
  'GET /routes/:route': ['getRoute', 'Show a route', 'Returns its carriers and its quality floor.'],
  'PATCH /routes/:route': ['changeRoute', 'Change a route', `${KEPT} Carriers replace those of before.`],
  'DELETE /routes/:route': [
    'deleteRoute',
    'Delete a route',
    'A route that a service plan or routing rule uses cannot be deleted: 409.',
  ],
  'POST /routing-rules': [
    'createRoutingRule',
    "Override the plan's route",
    'For messages of a service plan, from a sender, or to a network, prefix or country. The most specific rule applies.',
  ],
  'GET /routing-rules': ['listRoutingRules', 'List routing rules', PAGED],
  'GET /routing-rules/:ruleId': [
    'getRoutingRule',
    'Show a routing rule',
    'Returns what it applies to and its route.',
  ],
  'PATCH /routing-rules/:ruleId': [
    'changeRoutingRule',
    'Change the route of a routing rule',
    'What the rule applies to cannot be changed.',
  ],
  'DELETE /routing-rules/:ruleId': [
    'deleteRoutingRule',
    'Delete a routing rule',
    `Messages take the next rule that applies, or the route of their plan. ${AT_ONCE}`,
  ],
  'POST /number-ranges/import': [
    'importNumberRanges',
    'Import number ranges',
    'Sets the networks of up to 1,000 number ranges at once, all or none.',
  ],
  'GET /number-ranges': ['listNumberRanges', 'List number ranges', PAGED],
  'PUT /number-ranges/:prefix': [
    'setNumberRange',
    'Set the network of a number range',
    'A number belongs to the network of its longest prefix.',
  ],
  'GET /number-ranges/:prefix': [
    'getNumberRange',
    'Show a number range',
    'Returns the network of the prefix.',
  ],
  'DELETE /number-ranges/:prefix': [
    'deleteNumberRange',
    'Delete a number range',
    'Its numbers belong to the network of the next shorter prefix, if any.',
  ],
  'POST /rates': [
    'createRate',
    'Create a rate',
    'Sets what a segment costs to a network, prefix or country, or anywhere. The most specific rate applies.',
  ],
  'POST /rates/import': [
    'importRates',
    'Import rates',
    'Adds up to 1,000 rates, or changes the amounts of those that exist: all or none.',
  ],
  'GET /rates': ['listRates', 'List rates', PAGED],
  'GET /rates/:rateId': ['getRate', 'Show a rate', 'Returns what it applies to and its amounts.'],
  'PATCH /rates/:rateId': [
    'changeRate',
    'Change the amounts of a rate',
    `${KEPT} Messages that were charged before keep their price.`,
  ],
  'DELETE /rates/:rateId': [
    'deleteRate',
    'Delete a rate',
    'Messages that were charged by it keep their price.',
  ],
  'POST /sender-rules': [
    'createSenderRule',
    'Create a sender rule',
    'Sets which kinds of sender are allowed for recipients in a country.',
  ],
  'GET /sender-rules': ['listSenderRules', 'List sender rules', PAGED],
  'GET /sender-rules/:ruleId': [
    'getSenderRule',
    'Show a sender rule',
    'Returns its country and the kinds of sender that it allows.',
  ],
  'PATCH /sender-rules/:ruleId': [
    'changeSenderRule',
    'Change the kinds of sender that a rule allows',
    AT_ONCE,
  ],
  'DELETE /sender-rules/:ruleId': [
    'deleteSenderRule',
    'Delete a sender rule',
    'Senders are judged by the next rule that applies, if any, and by the service plan.',
  ],
}
