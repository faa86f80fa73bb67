import type {
  Account,
  Carrier,
  Rate,
  Route,
  RoutingRule,
  ServicePlan,
} from '../../src/domain/configuration/configuration.ts'
import { Directory, type DirectoryContents } from '../../src/domain/configuration/directory.ts'
import { NetworkTable } from '../../src/domain/routing/networks.ts'
import { RateTable } from '../../src/domain/routing/rates.ts'
import { RoutingRules, RuleTable } from '../../src/domain/routing/routing.ts'

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

/** What a directory is made of, with rules, rates and number ranges (mccmnc by prefix) one by one. */
export interface TestContents extends Partial<Omit<DirectoryContents, 'rules' | 'rates' | 'networks'>> {
  readonly routingRules?: readonly RoutingRule[]
  readonly rates?: readonly Rate[]
  readonly numberRanges?: ReadonlyMap<string, string>
}

export function rulesOf(all: readonly RoutingRule[]): RoutingRules {
  const table = new RuleTable(all.length)
  for (const rule of all) table.add({ ...rule, route: rule.route.id })
  return new RoutingRules(table, new Map(all.map(({ route }) => [route.id, route])))
}

export function ratesOf(all: readonly Rate[]): RateTable {
  const rates = new RateTable(all.length)
  for (const rate of all) rates.add(rate)
  return rates
}

export function networksOf(ranges: ReadonlyMap<string, string>): NetworkTable {
  const networks = new NetworkTable(ranges.size)
  for (const [prefix, mccmnc] of ranges) networks.add(prefix, mccmnc)
  return networks
}

const NO_NETWORKS = networksOf(new Map())

export function aDirectory({
  routingRules = [],
  rates = [],
  numberRanges,
  ...contents
}: TestContents = {}): Directory {
  return new Directory({
    version: '1',
    tableVersions: {},
    unreadable: { accounts: [], carriers: [], plans: [] },
    accounts: [],
    plans: [],
    tokens: new Map(),
    operators: new Map(),
    senders: new Map(),
    carriers: [],
    routes: [],
    rules: rulesOf(routingRules),
    networks: numberRanges === undefined ? NO_NETWORKS : networksOf(numberRanges),
    rates: ratesOf(rates),
    senderRules: [],
    inboundNumbers: new Map(),
    sendsmsUsers: new Map(),
    ...contents,
  })
}
