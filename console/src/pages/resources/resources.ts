import type { OperationId } from './operations.ts'
import type { Filters, ResourceSearch } from './search.ts'
import type { Values } from './values.ts'

/** What the pages know of each kind of object beyond the API's own description of its operations. */
export interface Resource {
  /** "service plan" */
  readonly noun: string
  readonly title: string
  readonly path: string
  readonly list: OperationId
  readonly create: OperationId
  /** None if it cannot be changed. */
  readonly update?: OperationId
  readonly remove: OperationId
  readonly import?: OperationId
  /** What finds it by its name, if its key is an id. */
  readonly named?: 'account' | 'service plan'
  /** None if only lists show it. */
  readonly get?: string
  /** The field that is its key, and the parameter of the operations on one. */
  readonly key: { readonly field: string; readonly parameter: string }
  /** Filters of the list that are parameters of operations on one object too. */
  readonly scope?: readonly (keyof Filters)[]
  /** Of the list. The first one opens the object. */
  readonly columns: readonly string[]
  /** Optional fields that stand among the required ones. */
  readonly front?: readonly string[]
  readonly usedBy?: readonly Use[]
  readonly builtIn?: BuiltIn
  /** The field of what creating answers that is shown this once. */
  readonly secret?: string
  readonly acts?: readonly Act[]
  /** "Revoke" instead of "Delete". */
  readonly removal?: string
}

/** Who uses an object. */
export interface Use {
  readonly resource: ResourceName
  /** The filter of the list of users, and what the form of a new one begins with. */
  readonly query: (item: Values) => Filters
  /** Which of them are users, if not all. */
  readonly isUser?: (user: Values) => boolean
  /** They go with the object; others have to go before it. */
  readonly isOwned?: true
}

/** An object that is part of the service. */
interface BuiltIn {
  readonly isIt: (item: Values) => boolean
  /** What it is, and why it has no form. */
  readonly text: string
  /** Fields that mean nothing of it. */
  readonly without: readonly string[]
}

/** Something else to do with an object. */
export interface Act {
  readonly label: string
  readonly operation: OperationId
  readonly secret?: string
  readonly isPossible?: (item: Values) => boolean
}

export type ResourceName = keyof typeof TABLE

const byId = (field: string) => ({ field, parameter: field })
const ofPlan = ({ servicePlanId }: Values) => ({ servicePlanId }) as Filters
const isLive = ({ revokedAt }: Values) => revokedAt === null
const isSandbox = ({ name }: Values) => name === 'sandbox'

const TABLE = {
  account: {
    noun: 'account',
    title: 'Accounts',
    named: 'account',
    path: '/admin/accounts',
    list: 'listAccounts',
    get: 'getAccount',
    create: 'createAccount',
    update: 'updateAccount',
    remove: 'deleteAccount',
    key: byId('accountId'),
    columns: ['name', 'accountId', 'defaultDlrUrl', 'rateLimit', 'createdAt'],
    front: ['defaultDlrUrl'],
    secret: 'webhookSecret',
    acts: [
      { label: 'Rotate the webhook secret', operation: 'rotateWebhookSecret', secret: 'webhookSecret' },
      {
        label: 'Delete the previous webhook secret',
        operation: 'deletePreviousWebhookSecret',
        isPossible: ({ previousWebhookSecretLive }) => previousWebhookSecretLive === true,
      },
    ],
    usedBy: [
      { resource: 'plan', query: ({ accountId }) => ({ accountId }) as Filters },
      { resource: 'token', query: ({ accountId }) => ({ accountId }) as Filters, isUser: isLive },
    ],
  },
  plan: {
    noun: 'service plan',
    title: 'Service plans',
    named: 'service plan',
    path: '/admin/plans',
    list: 'listServicePlans',
    get: 'getServicePlan',
    create: 'createServicePlan',
    update: 'updateServicePlan',
    remove: 'deleteServicePlan',
    key: byId('servicePlanId'),
    columns: ['name', 'servicePlanId', 'accountId', 'active', 'route', 'inboundUrl', 'rateLimit'],
    front: ['route', 'inboundUrl', 'active', 'sandbox'],
    usedBy: [
      {
        resource: 'token',
        query: ({ accountId, servicePlanId }) => ({ accountId, servicePlanId }) as Filters,
        isUser: isLive,
      },
      { resource: 'sender', query: ofPlan },
      { resource: 'number', query: ofPlan },
      { resource: 'sendsms-user', query: ofPlan },
      { resource: 'sender-rule', query: ofPlan, isOwned: true },
      { resource: 'routing-rule', query: ofPlan, isOwned: true },
      { resource: 'rate', query: ofPlan, isOwned: true },
    ],
  },
  token: {
    noun: 'token',
    title: 'Tokens',
    path: '/admin/tokens',
    list: 'listTokens',
    get: 'getToken',
    create: 'createToken',
    remove: 'revokeToken',
    removal: 'Revoke',
    key: byId('tokenId'),
    columns: ['name', 'accountId', 'hint', 'servicePlanIds', 'scopes', 'expiresAt', 'revokedAt'],
    front: ['servicePlanIds', 'scopes', 'expiresAt'],
    secret: 'token',
  },
  'operator-token': {
    noun: 'operator token',
    title: 'Operator tokens',
    path: '/admin/operator-tokens',
    list: 'listOperatorTokens',
    get: 'getOperatorToken',
    create: 'createOperatorToken',
    remove: 'revokeOperatorToken',
    removal: 'Revoke',
    key: byId('operatorTokenId'),
    columns: ['name', 'role', 'hint', 'createdAt', 'revokedAt'],
    secret: 'token',
  },
  sender: {
    noun: 'sender',
    title: 'Senders',
    path: '/admin/senders',
    list: 'listSenders',
    get: 'getSender',
    create: 'setSender',
    update: 'setSender',
    remove: 'deleteSender',
    key: byId('sender'),
    scope: ['servicePlanId'],
    columns: ['sender', 'status', 'createdAt'],
  },
  'sender-rule': {
    noun: 'sender rule',
    title: 'Sender rules',
    path: '/admin/sender-rules',
    list: 'listSenderRules',
    get: 'getSenderRule',
    create: 'createSenderRule',
    update: 'updateSenderRule',
    remove: 'deleteSenderRule',
    key: byId('ruleId'),
    columns: ['ruleId', 'country', 'servicePlanId', 'senderTypes'],
    front: ['servicePlanId'],
  },
  number: {
    noun: 'inbound number',
    title: 'Inbound numbers',
    path: '/admin/numbers',
    list: 'listInboundNumbers',
    get: 'getInboundNumber',
    create: 'createInboundNumber',
    update: 'updateInboundNumber',
    remove: 'deleteInboundNumber',
    key: byId('number'),
    columns: ['number', 'servicePlanId', 'keywords', 'createdAt'],
    front: ['keywords'],
  },
  'sendsms-user': {
    noun: 'sendsms user',
    title: 'Sendsms users',
    path: '/admin/sendsms-users',
    list: 'listSendsmsUsers',
    get: 'getSendsmsUser',
    create: 'createSendsmsUser',
    update: 'updateSendsmsUser',
    remove: 'deleteSendsmsUser',
    key: byId('username'),
    columns: ['username', 'servicePlanId', 'defaultSender', 'forcedSender', 'callingCode', 'createdAt'],
  },
  'opt-out': {
    noun: 'opt-out',
    title: 'Opt-outs',
    path: '/admin/opt-outs',
    list: 'listOptOuts',
    create: 'createOptOut',
    remove: 'deleteOptOut',
    import: 'importOptOuts',
    key: byId('to'),
    scope: ['servicePlanId', 'from'],
    columns: ['to', 'from', 'createdAt'],
  },
  carrier: {
    noun: 'carrier',
    title: 'Carrier settings',
    path: '/admin/carrier-settings',
    list: 'listCarriers',
    get: 'getCarrier',
    create: 'createCarrier',
    update: 'updateCarrier',
    remove: 'deleteCarrier',
    key: { field: 'name', parameter: 'carrier' },
    columns: ['name', 'host', 'port', 'tls', 'bindMode', 'systemId', 'window', 'messagesPerSecond', 'state'],
    front: ['port', 'tls', 'bindMode', 'binds', 'window', 'messagesPerSecond'],
    builtIn: {
      isIt: isSandbox,
      text: 'This carrier is built in: it is the simulator in each node, which sandbox plans send to. It has no settings but its state.',
      without: ['host', 'port', 'tls', 'tlsCa', 'tlsServerName'],
    },
    usedBy: [
      {
        resource: 'route',
        query: ({ name }) => ({ carrier: name }) as Filters,
      },
    ],
  },
  route: {
    noun: 'route',
    title: 'Routes',
    path: '/admin/routes',
    list: 'listRoutes',
    get: 'getRoute',
    create: 'createRoute',
    update: 'updateRoute',
    remove: 'deleteRoute',
    key: { field: 'name', parameter: 'route' },
    columns: ['name', 'carriers', 'qualityFloor', 'createdAt'],
    front: ['qualityFloor'],
    builtIn: {
      isIt: isSandbox,
      text: 'This route is built in: sandbox plans send over it. It has no settings.',
      without: [],
    },
    usedBy: [
      { resource: 'plan', query: ({ name }) => ({ route: name }) as Filters },
      { resource: 'routing-rule', query: ({ name }) => ({ route: name }) as Filters },
    ],
  },
  'routing-rule': {
    noun: 'routing rule',
    title: 'Routing rules',
    path: '/admin/routing-rules',
    list: 'listRoutingRules',
    get: 'getRoutingRule',
    create: 'createRoutingRule',
    update: 'updateRoutingRule',
    remove: 'deleteRoutingRule',
    key: byId('ruleId'),
    columns: ['ruleId', 'servicePlanId', 'from', 'mccmnc', 'prefix', 'country', 'route'],
    front: ['servicePlanId', 'from', 'prefix', 'country', 'mccmnc'],
  },
  rate: {
    noun: 'rate',
    title: 'Rates',
    path: '/admin/rates',
    list: 'listRates',
    get: 'getRate',
    create: 'createRate',
    update: 'updateRate',
    remove: 'deleteRate',
    import: 'importRates',
    key: byId('rateId'),
    columns: ['rateId', 'servicePlanId', 'mccmnc', 'prefix', 'country', 'price', 'ptf', 'currency'],
    front: ['servicePlanId', 'prefix', 'country', 'mccmnc'],
  },
  range: {
    noun: 'number range',
    title: 'Number ranges',
    path: '/admin/ranges',
    list: 'listNumberRanges',
    get: 'getNumberRange',
    create: 'setNumberRange',
    update: 'setNumberRange',
    remove: 'deleteNumberRange',
    import: 'importNumberRanges',
    key: byId('prefix'),
    columns: ['prefix', 'mccmnc'],
  },
} as const satisfies Record<string, ResourceOf>

/** `ResourceName` is made of the table, so its rows name each other as texts. */
type ResourceOf = Omit<Resource, 'usedBy'> & {
  usedBy?: readonly (Omit<Use, 'resource'> & { resource: string })[]
}

export const RESOURCES = TABLE as Readonly<Record<ResourceName, Resource>>

/** Fields whose value is the key of another object. */
const REFERENCES: Readonly<Record<string, ResourceName>> = {
  accountId: 'account',
  servicePlanId: 'plan',
  servicePlanIds: 'plan',
  route: 'route',
  carrier: 'carrier',
}

export function referredBy(field: string): Resource | undefined {
  const name = REFERENCES[field]
  return name && RESOURCES[name]
}

/** What people call the object. */
export function nameOf({ key }: Resource, item: Values): string {
  return String(item.name ?? item[key.field])
}

export function keyOf({ key }: Resource, item: Values): string {
  return String(item[key.field])
}

/** The part of the address that opens the object. */
export function addressOf(resource: Resource, item: Values): ResourceSearch {
  const scope = (resource.scope ?? []).map((name) => [name, item[name]])
  return { ...Object.fromEntries(scope), open: keyOf(resource, item) }
}

/** The parameters of an operation on the object that the address opens. */
export function parametersOf({ key, scope = [] }: Resource, { open, ...filters }: ResourceSearch): Values {
  return { ...Object.fromEntries(scope.map((name) => [name, filters[name]])), [key.parameter]: open }
}

/** A field that says nothing of a built-in object: it has no address. */
export function isMeaningless({ builtIn }: Resource, item: Values, field: string): boolean {
  return builtIn?.isIt(item) === true && builtIn.without.includes(field)
}
