import { mapInSteps, mapOfInSteps, type Steps } from '../collections/steps.ts'
import type { SubmitOutcome } from '../domain/carriers/statuses.ts'
import type {
  Account,
  Carrier,
  Rate,
  RateLimit,
  Route,
  RoutingRule,
  SendsmsUser,
  ServicePlan,
  Token,
} from '../domain/configuration/configuration.ts'
import { type Directory, directoryOf, senderKey } from '../domain/configuration/directory.ts'
import type { Operator, TokenScope } from '../domain/credentials.ts'
import type { RateLimitColumns } from '../domain/limits/rate-limits.ts'
import type { SenderType } from '../domain/messages/addresses.ts'
import { NetworkTable } from '../domain/routing/networks.ts'
import { RateTable } from '../domain/routing/rates.ts'
import { RoutingRules } from '../domain/routing/routing.ts'
import { isSandbox } from '../domain/sandbox.ts'
import { accountSecretContext, carrierSecretContext, SecretError } from '../domain/secrets.ts'
import { openWebhookHeaders, sentWebhookHeaders } from '../domain/webhooks/requests.ts'
import { inSlices } from '../slices.ts'
import { accounts } from './accounts.ts'
import { carriers } from './carriers.ts'
import type { Queryable, Transaction } from './database.ts'
import { eachRow, inJsonChunks, type JsonChunk, ROWS_AT_ONCE, rowsOf } from './json-chunks.ts'
import type { NumberRange } from './number-ranges.ts'
import { servicePlans } from './service-plans.ts'

/** Opens a sealed secret; throws when it cannot. */
export type SecretOpener = (sealed: string, context: string) => string

interface AccountRow extends RateLimitColumns, Pick<Account, 'id' | 'accountId' | 'name' | 'defaultDlrUrl'> {
  readonly webhookSecret: string
  readonly previousWebhookSecret: string | null
  readonly webhookHeaders: string | null
}

interface PlanRow
  extends RateLimitColumns,
    Omit<ServicePlan, 'account' | 'sandbox' | 'route' | 'rateLimit' | 'senderTypes' | 'allowedCountries'> {
  readonly account: number
  readonly routeId: number | null
  readonly senderTypes: SenderType[]
  readonly allowedCountries: string[]
}

interface TokenRow {
  readonly id: number
  readonly account: number
  readonly name: string
  readonly planIds: number[] | null
  readonly sha256: string
  readonly scopes: TokenScope[] | null
  readonly expiresAtMs: number | null
}

interface CarrierRow extends Omit<Carrier, 'submitOutcomes'> {
  readonly submitOutcomes: Readonly<Record<string, SubmitOutcome>>
}

/** Rows by kind, of the kinds that become objects. */
interface Rows {
  readonly accounts: AccountRow[]
  readonly plans: PlanRow[]
  readonly tokens: TokenRow[]
  readonly operators: (Operator & { sha256: string })[]
  readonly senders: { planId: number; sender: string; status: string }[]
  readonly carriers: CarrierRow[]
  readonly routes: Route[]
  readonly senderRules: { planId: number | null; country: string; senderTypes: SenderType[] }[]
  readonly numbers: { number: string; planId: number; keywords: string[] }[]
  readonly sendsmsUsers: (Omit<SendsmsUser, 'plan'> & { planId: number })[]
}

interface RuleRow extends Omit<RoutingRule, 'route'> {
  readonly route: number
}

/** Makes other writers of the configuration wait until the transaction ends. */
export async function lockDirectoryVersion(transaction: Transaction): Promise<void> {
  await transaction.query('select from directory_version for update')
}

/** Lets the transaction stand still for a minute between two statements: comparing 200,000 rates takes seconds. */
export async function allowPauses(transaction: Transaction): Promise<void> {
  await transaction.query(`set local idle_in_transaction_session_timeout = '60s'`)
}

/** Makes all statements of the transaction see one state of the configuration. Call it first; nothing can be written then. */
export async function readOneSnapshot(transaction: Transaction): Promise<void> {
  await transaction.query('set transaction isolation level repeatable read, read only')
}

/** Raised by every change of configuration. Reads one row without an index: cheap enough for every second. */
export async function readDirectoryVersion(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ version: string }>({
    name: 'directory_version',
    text: 'select version::text from directory_version',
  })
  return rows[0]!.version
}

/** There may be 100,000 rules, and 200,000 each of ranges and rates. They go from one chunk at a time into tables. */
type Bulk = 'rules' | 'ranges' | 'rates'

/** They change seldom. */
const RANGES_AND_RATES: Readonly<Record<'ranges' | 'rates', string>> = {
  ranges: 'select prefix, mccmnc from number_ranges',
  rates: `
    select id, plan_id as "planId", prefix, country, mccmnc, price::text, ptf::text, currency from rates order by id`,
}

const OTHERS: Readonly<Record<Exclude<keyof Rows | Bulk, keyof typeof RANGES_AND_RATES>, string>> = {
  accounts: `select t.id, ${accounts.columnList()} from accounts t order by id`,
  plans: `select t.id, ${servicePlans.columnList()} from service_plans t order by id`,
  tokens: `
    select id, account_id as account, name, plan_ids as "planIds", encode(hash, 'hex') as sha256, scopes,
      (extract(epoch from expires_at) * 1000)::float8 as "expiresAtMs"
    from tokens where revoked_at is null`,
  operators: `select name, role, encode(hash, 'hex') as sha256 from operator_tokens where revoked_at is null`,
  senders: `select plan_id as "planId", sender, status from sender_subscriptions`,
  carriers: `select t.id, ${carriers.columnList(['carrierId'])} from carriers t order by id`,
  routes: `
    select id, name, quality_floor as "qualityFloor", coalesce((
      select json_agg(json_build_object('carrierId', carrier_id, 'priority', priority, 'weight', weight)
                      order by priority, carrier_id)
      from route_carriers where route_id = routes.id), '[]') as carriers
    from routes order by id`,
  rules: `
    select id, plan_id as "planId", sender, prefix, country, mccmnc, route_id as route from routing_rules order by id`,
  senderRules: `select plan_id as "planId", country, sender_types as "senderTypes" from sender_rules`,
  numbers: `select number, plan_id as "planId", keywords from inbound_numbers`,
  sendsmsUsers: `
    select username, plan_id as "planId", password_hash as "passwordHash", default_sender as "defaultSender",
      forced_sender as "forcedSender", calling_code as "callingCode", dlr_url as "dlrUrl"
    from sendsms_users`,
}

const PARTS: Readonly<Record<string, string>> = { ...OTHERS, ...RANGES_AND_RATES }

const BULK: ReadonlySet<string> = new Set<Bulk>(['rules', 'ranges', 'rates'])

/** Without parameters, so that a session plans each only once. */
const DIRECTORY = {
  whole: { name: 'read_directory', text: statementOf(PARTS) },
  withoutRates: { name: 'read_directory_without_rates', text: statementOf(OTHERS) },
}

function statementOf(parts: Readonly<Record<string, string>>): string {
  const chunks = Object.entries(parts).map(([kind, part]) => `union all (${inJsonChunks(kind, part)})`)
  return `
    select 'versions' as kind, json_build_object('version', version::text, 'bulkVersion', bulk_version::text)::text as json
    from directory_version ${chunks.join(' ')}`
}

/**
 * The whole configuration at one instant: one statement sees one snapshot, where several would need a transaction of a
 * higher isolation level. Rates and number ranges, which may be 200,000 each, are taken from `previous` if they are
 * unchanged; otherwise everything is read again. The answer is read in slices, which hold up nobody. An account or carrier
 * whose secrets `open` cannot open is taken out of service. Throws if it can open none at all and there is no `previous`: a
 * node with a wrong key must not start.
 */
export async function readDirectory(
  db: Queryable,
  open: SecretOpener,
  previous: Directory | null = null,
): Promise<Directory> {
  const { bulkVersion } = previous?.contents ?? {}
  let answer = await answerOf(db, bulkVersion === undefined ? 'whole' : 'withoutRates')
  if (bulkVersion !== undefined && versionsOf(answer).bulkVersion !== bulkVersion)
    answer = await answerOf(db, 'whole')
  return inSlices(assemble(answer, open, previous))
}

/** The chunks of each kind. */
type Answer = ReadonlyMap<string, readonly JsonChunk[]>

async function answerOf(db: Queryable, extent: keyof typeof DIRECTORY): Promise<Answer> {
  const { rows } = await db.query<JsonChunk>({ ...DIRECTORY[extent] })
  const answer = new Map(['versions', ...Object.keys(PARTS)].map((kind): [string, JsonChunk[]] => [kind, []]))
  for (const chunk of rows) answer.get(chunk.kind)!.push(chunk)
  return answer
}

function versionsOf(answer: Answer): Pick<Directory['contents'], 'version' | 'bulkVersion'> {
  return JSON.parse(answer.get('versions')![0]!.json)
}

function* parse(answer: Answer): Steps<Rows> {
  const rows: Record<string, object[]> = {}
  for (const [kind, chunks] of answer)
    if (kind !== 'versions' && !BULK.has(kind)) rows[kind] = yield* rowsOf<object>(chunks)
  return rows as unknown as Rows
}

function roomFor(answer: Answer, kind: Bulk): number {
  return answer.get(kind)!.length * ROWS_AT_ONCE
}

function* rulesOf(answer: Answer, routes: ReadonlyMap<number, Route>): Steps<RoutingRules> {
  const rules = new RoutingRules(roomFor(answer, 'rules'))
  yield* eachRow<RuleRow>(answer.get('rules')!, (row) => rules.add({ ...row, route: routes.get(row.route)! }))
  return rules
}

function* networksOf(answer: Answer): Steps<NetworkTable> {
  const networks = new NetworkTable(roomFor(answer, 'ranges'))
  yield* eachRow<NumberRange>(answer.get('ranges')!, ({ prefix, mccmnc }) => networks.add(prefix, mccmnc))
  return networks
}

function* ratesOf(answer: Answer): Steps<RateTable> {
  const rates = new RateTable(roomFor(answer, 'rates'))
  yield* eachRow<Rate>(answer.get('rates')!, (rate) => rates.add(rate))
  return rates
}

function* assemble(answer: Answer, open: SecretOpener, previous: Directory | null): Steps<Directory> {
  const versions = versionsOf(answer)
  const rows = yield* parse(answer)
  const secrets = new Secrets(open)
  const accounts = yield* mapOfInSteps(rows.accounts, (row) => [row.id, accountOf(row, secrets)])
  const routes = new Map(rows.routes.map((route) => [route.id, route]))
  const plans = yield* mapOfInSteps(rows.plans, (plan) => [plan.id, planOf(plan, accounts, routes)])
  const carriers = yield* mapInSteps(rows.carriers, (carrier) => carrierOf(carrier, secrets))
  if (previous === null) secrets.refuseWrongKey()
  const kept = previous?.contents.bulkVersion === versions.bulkVersion ? previous.contents : null
  const contents = {
    ...versions,
    unreadable: secrets.unreadable,
    accounts: [...accounts.values()],
    plans: [...plans.values()],
    tokens: yield* mapOfInSteps(rows.tokens, (token) => [token.sha256, tokenOf(token, accounts)]),
    operators: yield* mapOfInSteps(rows.operators, ({ sha256, name, role }) => [sha256, { name, role }]),
    senders: yield* mapOfInSteps(rows.senders, ({ planId, sender, status }) => [
      senderKey(planId, sender),
      status,
    ]),
    carriers,
    routes: rows.routes,
    rules: yield* rulesOf(answer, routes),
    networks: kept?.networks ?? (yield* networksOf(answer)),
    rates: kept?.rates ?? (yield* ratesOf(answer)),
    senderRules: yield* mapInSteps(rows.senderRules, (rule) => ({
      ...rule,
      senderTypes: new Set(rule.senderTypes),
    })),
    inboundNumbers: yield* mapOfInSteps(rows.numbers, ({ number, planId, keywords }) => [
      number,
      { number, plan: plans.get(planId)!, keywords },
    ]),
    sendsmsUsers: yield* mapOfInSteps(rows.sendsmsUsers, ({ planId, ...user }) => [
      user.username,
      { ...user, plan: plans.get(planId)! },
    ]),
  }
  return yield* directoryOf(contents)
}

/** Opens secrets, and keeps count of those that cannot be opened. */
class Secrets {
  readonly #open: SecretOpener
  readonly unreadable: string[] = []
  #isAnyReadable = false

  constructor(open: SecretOpener) {
    this.#open = open
  }

  /** What `read` makes of secrets; null if one of them cannot be opened. */
  tryRead<T>(read: (open: SecretOpener) => T): T | null {
    try {
      const value = read(this.#open)
      this.#isAnyReadable = true
      return value
    } catch (error) {
      if (!(error instanceof SecretError)) throw error
      this.unreadable.push(error.message)
      return null
    }
  }

  refuseWrongKey(): void {
    const [first] = this.unreadable
    if (first !== undefined && !this.#isAnyReadable) throw new SecretError(first)
  }
}

function carrierOf(row: CarrierRow, secrets: Secrets): Carrier {
  const password = secrets.tryRead((open) => open(row.password, carrierSecretContext(row.id)))
  const outcomes = Object.entries(row.submitOutcomes)
  return {
    ...row,
    ...(password === null ? { password: '', state: 'stopped' } : { password }),
    submitOutcomes: new Map(outcomes.map(([status, outcome]) => [Number(status), outcome])),
  }
}

function tokenOf({ sha256, account, ...token }: TokenRow, accounts: ReadonlyMap<number, Account>): Token {
  return {
    ...token,
    account: accounts.get(account)!,
    planIds: token.planIds === null ? null : new Set(token.planIds),
    scopes: token.scopes === null ? null : new Set(token.scopes),
  }
}

function accountOf(row: AccountRow, secrets: Secrets): Account {
  const { id, accountId, name, defaultDlrUrl, webhookSecret: secret, previousWebhookSecret: previous } = row
  const context = accountSecretContext(accountId)
  const sealed = previous === null ? [secret] : [secret, previous]
  const signing = secrets.tryRead((open) => ({
    webhookSecrets: sealed.map((one) => open(one, context)),
    webhookHeaders: sentWebhookHeaders(openWebhookHeaders(open, row.webhookHeaders, accountId)),
  }))
  return {
    id,
    accountId,
    name,
    defaultDlrUrl,
    ...(signing ?? { webhookSecrets: null, webhookHeaders: {} }),
    rateLimit: rateLimitOf(row),
  }
}

function planOf(
  { messagesPerSecond, burst, routeId, ...plan }: PlanRow,
  accounts: ReadonlyMap<number, Account>,
  routes: ReadonlyMap<number, Route>,
): ServicePlan {
  const route = routeId === null ? null : routes.get(routeId)!
  return {
    ...plan,
    account: accounts.get(plan.account)!,
    sandbox: route !== null && isSandbox(route),
    route,
    rateLimit: rateLimitOf({ messagesPerSecond, burst }),
    senderTypes: new Set(plan.senderTypes),
    allowedCountries: plan.allowedCountries.length === 0 ? null : new Set(plan.allowedCountries),
  }
}

/** A limit without its own burst allows one second's worth at once. */
function rateLimitOf({ messagesPerSecond, burst }: RateLimitColumns): RateLimit | null {
  if (messagesPerSecond === null) return null
  return { perSecond: messagesPerSecond, burst: burst ?? messagesPerSecond }
}
