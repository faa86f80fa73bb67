import type {
  Account,
  Carrier,
  Route,
  RoutingRule,
  ServicePlan,
} from '../../src/domain/configuration/configuration.ts'
import { Directory, type DirectoryContents } from '../../src/domain/configuration/directory.ts'

/** Configuration in memory, for tests without a database. What a test does not care about is left out. */

export function anAccount(changes: Partial<Account> = {}): Account {
  return {
    id: 1,
    accountId: 'aaaaaaaaaaaaaaaaaaaaaaaa',
    name: 'Example',
    defaultDlrUrl: null,
    webhookSecrets: [],
    webhookHeaders: {},
    rateLimit: null,
    ...changes,
  }
}

export function aPlan(changes: Partial<ServicePlan> = {}): ServicePlan {
  return {
    id: 1,
    servicePlanId: '111111111111111111111111',
    account: anAccount(),
    name: 'plan',
    active: true,
    sandbox: false,
    route: null,
    inboundUrl: null,
    rateLimit: null,
    senderTypes: new Set(['short-code', 'e164', 'alphanumeric']),
    ambiguousSubmits: 'resubmit',
    validitySeconds: 86_400,
    maxValiditySeconds: 86_400,
    allowedCountries: null,
    texts: 'keep',
    caps: null,
    pumpingGuard: null,
    limitEvents: false,
    smartEncoding: false,
    nationalLanguages: [],
    optOut: null,
    ...changes,
  }
}

export function aCarrier(changes: Partial<Carrier> = {}): Carrier {
  return {
    id: 1,
    name: 'main',
    state: 'started',
    host: '127.0.0.1',
    port: 2775,
    tls: false,
    tlsCa: null,
    tlsServerName: null,
    bindMode: 'transceiver',
    binds: 1,
    systemId: 'aldis',
    password: 'secret',
    systemType: '',
    window: 10,
    messagesPerSecond: null,
    senderMessagesPerSecond: null,
    longMessages: 'udh',
    validitySeconds: null,
    validityFormat: 'relative',
    submitOutcomes: new Map(),
    idRule: 'exact',
    learnedIdRule: null,
    ...changes,
  }
}

export function aRoute(changes: Partial<Route> = {}): Route {
  return {
    id: 1,
    name: 'main',
    carriers: [{ carrierId: 1, priority: 0, weight: 1 }],
    qualityFloor: null,
    ...changes,
  }
}

export function aRule(changes: Partial<RoutingRule> = {}): RoutingRule {
  return {
    id: 1,
    planId: null,
    sender: null,
    prefix: null,
    country: null,
    mccmnc: null,
    route: aRoute(),
    ...changes,
  }
}

export function aDirectory(contents: Partial<DirectoryContents> = {}): Directory {
  return new Directory({
    version: '1',
    bulkVersion: '1',
    unreadable: [],
    accounts: [],
    plans: [],
    tokens: new Map(),
    operators: new Map(),
    senders: new Map(),
    carriers: [],
    routes: [],
    routingRules: [],
    numberRanges: new Map(),
    rates: [],
    senderRules: [],
    inboundNumbers: new Map(),
    sendsmsUsers: new Map(),
    ...contents,
  })
}
