/** How the OpenAPI document describes an operation. */
export type OperationText = readonly [operationId: string, summary: string, description: string]

export const PAGED = 'Items come in the order of their keys.'
export const AT_ONCE =
  'The change takes effect at once on the node that answers, and within 5 seconds on every other node.'

/** Method and path below /admin/v1 of the configuration's operations, except those that a Resource describes itself. */
export const CONFIGURATION_OPERATIONS: Readonly<Record<string, OperationText>> = {
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
  'POST /secrets/reseal': [
    'resealSecrets',
    'Seal with the present key what another has sealed',
    'The first request does the configuration, each further one 10,000 messages from `nextAfter` on; the last does the configuration again. It may be repeated.',
  ],
  'GET /tokens': ['listTokens', 'List tokens', `Revoked tokens are listed too. ${PAGED}`],
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
  'POST /number-ranges/import': [
    'importNumberRanges',
    'Import number ranges',
    'Sets the networks of up to 1,000 number ranges at once, all or none.',
  ],
  'PUT /number-ranges/:prefix': [
    'setNumberRange',
    'Set the network of a number range',
    'A number belongs to the network of its longest prefix.',
  ],
  'POST /rates/import': [
    'importRates',
    'Import rates',
    'Adds up to 1,000 rates, or changes the amounts of those that exist: all or none.',
  ],
}
