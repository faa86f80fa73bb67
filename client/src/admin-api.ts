// Made from the OpenAPI document by `npm run generate-client`.

import type { AccountsOperations } from './admin-api/accounts.ts'
import type { AlarmsOperations } from './admin-api/alarms.ts'
import type { AuditLogOperations } from './admin-api/audit-log.ts'
import type { CarriersOperations } from './admin-api/carriers.ts'
import type { ConfigurationOperations } from './admin-api/configuration.ts'
import type { InboundMessageSearchOperations } from './admin-api/inbound-message-search.ts'
import type { InboundNumbersOperations } from './admin-api/inbound-numbers.ts'
import type { MessageSearchOperations } from './admin-api/message-search.ts'
import type { NodesOperations } from './admin-api/nodes.ts'
import type { NumberRangesOperations } from './admin-api/number-ranges.ts'
import type { OperatorTokensOperations } from './admin-api/operator-tokens.ts'
import type { OptOutsOperations } from './admin-api/opt-outs.ts'
import type { PlanLimitsOperations } from './admin-api/plan-limits.ts'
import type { QualityOperations } from './admin-api/quality.ts'
import type { QueueOperations } from './admin-api/queue.ts'
import type { RatesOperations } from './admin-api/rates.ts'
import type { RoutesOperations } from './admin-api/routes.ts'
import type { RoutingRulesOperations } from './admin-api/routing-rules.ts'
import type { SecretsOperations } from './admin-api/secrets.ts'
import type { SenderRulesOperations } from './admin-api/sender-rules.ts'
import type { SendersOperations } from './admin-api/senders.ts'
import type { SendsmsUsersOperations } from './admin-api/sendsms-users.ts'
import type { ServicePlansOperations } from './admin-api/service-plans.ts'
import type { StatisticsOperations } from './admin-api/statistics.ts'
import type { TokensOperations } from './admin-api/tokens.ts'
import type { WebhookAdministrationOperations } from './admin-api/webhook-administration.ts'

export type * from './admin-api/accounts.ts'
export type * from './admin-api/alarms.ts'
export type * from './admin-api/audit-log.ts'
export type * from './admin-api/carriers.ts'
export type * from './admin-api/configuration.ts'
export type * from './admin-api/inbound-message-search.ts'
export type * from './admin-api/inbound-numbers.ts'
export type * from './admin-api/message-search.ts'
export type * from './admin-api/nodes.ts'
export type * from './admin-api/number-ranges.ts'
export type * from './admin-api/operator-tokens.ts'
export type * from './admin-api/opt-outs.ts'
export type * from './admin-api/plan-limits.ts'
export type * from './admin-api/quality.ts'
export type * from './admin-api/queue.ts'
export type * from './admin-api/rates.ts'
export type * from './admin-api/routes.ts'
export type * from './admin-api/routing-rules.ts'
export type * from './admin-api/secrets.ts'
export type * from './admin-api/sender-rules.ts'
export type * from './admin-api/senders.ts'
export type * from './admin-api/sendsms-users.ts'
export type * from './admin-api/service-plans.ts'
export type * from './admin-api/several-tags.ts'
export type * from './admin-api/statistics.ts'
export type * from './admin-api/tokens.ts'
export type * from './admin-api/webhook-administration.ts'

export type {
  CapUsage,
  CountryPause,
  CountsByStatus,
  ErrorBody,
  ErrorCode,
  EventType,
  Fault,
  LimitCount,
  Redelivered,
  Statistics,
  StatisticsBounds,
  StatisticsFigures,
  StatisticsGroup,
  StatisticsLatencies,
  StatisticsLatency,
  StatisticsPoint,
  StatisticsPrice,
  StatisticsSeries,
  StatusCounts,
  TestEvent,
  WebhookAttempt,
  WebhookDestination,
  WebhookEvent,
  WebhookEventDetail,
} from './api.ts'

/** Each operation of the API. */
export interface Operations
  extends AccountsOperations,
    AlarmsOperations,
    AuditLogOperations,
    CarriersOperations,
    ConfigurationOperations,
    InboundMessageSearchOperations,
    InboundNumbersOperations,
    MessageSearchOperations,
    NodesOperations,
    NumberRangesOperations,
    OperatorTokensOperations,
    OptOutsOperations,
    PlanLimitsOperations,
    QualityOperations,
    QueueOperations,
    RatesOperations,
    RoutesOperations,
    RoutingRulesOperations,
    SecretsOperations,
    SenderRulesOperations,
    SendersOperations,
    SendsmsUsersOperations,
    ServicePlansOperations,
    StatisticsOperations,
    TokensOperations,
    WebhookAdministrationOperations {}

/** How each is requested: method, path and names of the query; `body` if the rest of the input is its body. */
export const OPERATIONS = {
  createAccount: 'POST /admin/v1/accounts body',
  listAccounts: 'GET /admin/v1/accounts?limit&after&search',
  getAccount: 'GET /admin/v1/accounts/{accountId}',
  updateAccount: 'PATCH /admin/v1/accounts/{accountId} body',
  deleteAccount: 'DELETE /admin/v1/accounts/{accountId}',
  rotateWebhookSecret: 'POST /admin/v1/accounts/{accountId}/webhook-secret/rotate',
  deletePreviousWebhookSecret: 'DELETE /admin/v1/accounts/{accountId}/webhook-secret/previous',
  createServicePlan: 'POST /admin/v1/service-plans body',
  listServicePlans: 'GET /admin/v1/service-plans?limit&after&accountId&route&search',
  getServicePlan: 'GET /admin/v1/service-plans/{servicePlanId}',
  updateServicePlan: 'PATCH /admin/v1/service-plans/{servicePlanId} body',
  deleteServicePlan: 'DELETE /admin/v1/service-plans/{servicePlanId}',
  getPlanLimits: 'GET /admin/v1/service-plans/{servicePlanId}/limits',
  endCountryPause: 'DELETE /admin/v1/service-plans/{servicePlanId}/pauses/{country}',
  createToken: 'POST /admin/v1/tokens body',
  listTokens: 'GET /admin/v1/tokens?limit&after&accountId&servicePlanId',
  getToken: 'GET /admin/v1/tokens/{tokenId}',
  revokeToken: 'DELETE /admin/v1/tokens/{tokenId}',
  createOperatorToken: 'POST /admin/v1/operator-tokens body',
  listOperatorTokens: 'GET /admin/v1/operator-tokens?limit&after',
  getOperatorToken: 'GET /admin/v1/operator-tokens/{operatorTokenId}',
  revokeOperatorToken: 'DELETE /admin/v1/operator-tokens/{operatorTokenId}',
  listAuditLog: 'GET /admin/v1/audit-log?limit&after&objectType&objectId&token&operation&fromDate&toDate',
  listSenders: 'GET /admin/v1/service-plans/{servicePlanId}/senders?limit&after',
  getSender: 'GET /admin/v1/service-plans/{servicePlanId}/senders/{sender}',
  setSender: 'PUT /admin/v1/service-plans/{servicePlanId}/senders/{sender} body',
  deleteSender: 'DELETE /admin/v1/service-plans/{servicePlanId}/senders/{sender}',
  createInboundNumber: 'POST /admin/v1/inbound-numbers body',
  listInboundNumbers: 'GET /admin/v1/inbound-numbers?limit&after&servicePlanId',
  getInboundNumber: 'GET /admin/v1/inbound-numbers/{number}',
  updateInboundNumber: 'PATCH /admin/v1/inbound-numbers/{number} body',
  deleteInboundNumber: 'DELETE /admin/v1/inbound-numbers/{number}',
  createSendsmsUser: 'POST /admin/v1/sendsms-users body',
  listSendsmsUsers: 'GET /admin/v1/sendsms-users?limit&after&servicePlanId',
  getSendsmsUser: 'GET /admin/v1/sendsms-users/{username}',
  updateSendsmsUser: 'PATCH /admin/v1/sendsms-users/{username} body',
  deleteSendsmsUser: 'DELETE /admin/v1/sendsms-users/{username}',
  createOptOut: 'POST /admin/v1/opt-outs body',
  listOptOuts: 'GET /admin/v1/opt-outs?limit&after&servicePlanId&from&to',
  deleteOptOut: 'DELETE /admin/v1/opt-outs?servicePlanId&from&to',
  importOptOuts: 'POST /admin/v1/opt-outs/import body',
  getConfiguration: 'GET /admin/v1/configuration',
  applyConfiguration: 'POST /admin/v1/configuration/apply?dryRun&prune&confirm body',
  createCarrier: 'POST /admin/v1/carriers body',
  listCarriers: 'GET /admin/v1/carriers?limit&after',
  getCarrier: 'GET /admin/v1/carriers/{carrier}',
  updateCarrier: 'PATCH /admin/v1/carriers/{carrier} body',
  deleteCarrier: 'DELETE /admin/v1/carriers/{carrier}',
  listCarrierBinds: 'GET /admin/v1/carriers/{carrier}/binds',
  createRoute: 'POST /admin/v1/routes body',
  listRoutes: 'GET /admin/v1/routes?limit&after&carrier',
  getRoute: 'GET /admin/v1/routes/{route}',
  updateRoute: 'PATCH /admin/v1/routes/{route} body',
  deleteRoute: 'DELETE /admin/v1/routes/{route}',
  explainRoute: 'GET /admin/v1/route-explanation?servicePlanId&from&to&body',
  getQuality: 'GET /admin/v1/quality?carrier&route&minutes&series',
  listQualityPauses: 'GET /admin/v1/quality/pauses',
  endQualityPause: 'DELETE /admin/v1/quality/pauses/{route}/{carrier}',
  getStatisticsOfPlans:
    'GET /admin/v1/statistics?servicePlanId&carrier&route&groupBy&fromDate&toDate&interval&country&status&errorCode',
  getQueue: 'GET /admin/v1/queue',
  listAlarms: 'GET /admin/v1/alarms',
  sendTestAlarm: 'POST /admin/v1/alarms/test',
  listNodes: 'GET /admin/v1/nodes',
  resealSecrets: 'POST /admin/v1/secrets/reseal body',
  createRoutingRule: 'POST /admin/v1/routing-rules body',
  listRoutingRules: 'GET /admin/v1/routing-rules?limit&after&servicePlanId&route',
  getRoutingRule: 'GET /admin/v1/routing-rules/{ruleId}',
  updateRoutingRule: 'PATCH /admin/v1/routing-rules/{ruleId} body',
  deleteRoutingRule: 'DELETE /admin/v1/routing-rules/{ruleId}',
  importNumberRanges: 'POST /admin/v1/number-ranges/import body',
  setNumberRange: 'PUT /admin/v1/number-ranges/{prefix} body',
  getNumberRange: 'GET /admin/v1/number-ranges/{prefix}',
  deleteNumberRange: 'DELETE /admin/v1/number-ranges/{prefix}',
  listNumberRanges: 'GET /admin/v1/number-ranges?limit&after&mccmnc',
  importRates: 'POST /admin/v1/rates/import body',
  createRate: 'POST /admin/v1/rates body',
  listRates: 'GET /admin/v1/rates?limit&after&servicePlanId&prefix&country&mccmnc',
  getRate: 'GET /admin/v1/rates/{rateId}',
  updateRate: 'PATCH /admin/v1/rates/{rateId} body',
  deleteRate: 'DELETE /admin/v1/rates/{rateId}',
  createSenderRule: 'POST /admin/v1/sender-rules body',
  listSenderRules: 'GET /admin/v1/sender-rules?limit&after&servicePlanId&country',
  getSenderRule: 'GET /admin/v1/sender-rules/{ruleId}',
  updateSenderRule: 'PATCH /admin/v1/sender-rules/{ruleId} body',
  deleteSenderRule: 'DELETE /admin/v1/sender-rules/{ruleId}',
  getMessageOfPlans: 'GET /admin/v1/messages/{msgId}',
  listMessagesOfPlans:
    'GET /admin/v1/messages?limit&after&servicePlanId&from&to&status&country&mccmnc&fromDate&toDate&errorCode&carrier&carrierMessageId',
  countMessagesOfPlans:
    'GET /admin/v1/messages/counts?servicePlanId&from&to&status&country&mccmnc&fromDate&toDate&errorCode&carrier&carrierMessageId',
  listInboundMessagesOfPlan:
    'GET /admin/v1/inbound-messages?limit&after&servicePlanId&from&to&keyword&fromDate&toDate',
  getInboundMessageOfPlan: 'GET /admin/v1/inbound-messages/{msgId}',
  listUnownedInboundMessages: 'GET /admin/v1/unowned-inbound-messages?limit&after',
  giveUnownedInboundMessage: 'POST /admin/v1/unowned-inbound-messages/{msgId}/give body',
  listWebhookEventsOfPlan:
    'GET /admin/v1/webhook-events?limit&after&servicePlanId&msgId&destination&fromDate&toDate&state',
  getWebhookEventOfPlan: 'GET /admin/v1/webhook-events/{eventId}',
  redeliverWebhookEventOfPlan: 'POST /admin/v1/webhook-events/{eventId}/redeliver',
  redeliverWebhookEventsOfPlan: 'POST /admin/v1/webhook-redeliveries body',
  listWebhookDestinationsOfPlan: 'GET /admin/v1/webhook-destinations?limit&after&servicePlanId',
  pauseWebhookDestinationOfPlan: 'POST /admin/v1/webhook-destinations/pause body',
  resumeWebhookDestinationOfPlan: 'POST /admin/v1/webhook-destinations/resume body',
  sendTestWebhookOfPlan: 'POST /admin/v1/webhook-tests body',
}
