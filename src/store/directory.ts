import { mapInSteps, mapOfInSteps } from '../collections/steps.ts'
import type { Rate, Route } from '../domain/configuration/configuration.ts'
import {
  type Directory,
  type DirectoryContents,
  directoryOf,
  senderKey,
} from '../domain/configuration/directory.ts'
import { NetworkTable } from '../domain/routing/networks.ts'
import { RateTable } from '../domain/routing/rates.ts'
import { RoutingRules, RuleTable } from '../domain/routing/routing.ts'
import { inSlices } from '../slices.ts'
import { accounts } from './accounts.ts'
import { carriers } from './carriers.ts'
import { type Database, type Queryable, type Transaction, withTransaction } from './database.ts'
import {
  type AccountRow,
  accountOf,
  type CarrierRow,
  carrierOf,
  type NumberRow,
  type OperatorRow,
  type PlanRow,
  planOf,
  type RuleRow,
  refuseWrongKey,
  type SecretOpener,
  Secrets,
  type SenderRow,
  type SenderRuleRow,
  type TokenRow,
  tokenOf,
  type UserRow,
} from './directory-rows.ts'
import type { NumberRange } from './number-ranges.ts'
import { servicePlans } from './service-plans.ts'

/** Makes other writers of the configuration wait until the transaction ends. */
export async function lockDirectoryVersion(transaction: Transaction): Promise<void> {
  await transaction.query('select from directory_version for update')
}

/** Lets the transaction stand still for a minute between two statements: comparing 200,000 rates takes seconds. */
export async function allowPauses(transaction: Transaction): Promise<void> {
  await transaction.query(`set local idle_in_transaction_session_timeout = '60s'`)
}

const ONE_SNAPSHOT = 'set transaction isolation level repeatable read, read only'

/** Makes all statements of the transaction see one state of the configuration. Call it first; nothing can be written then. */
export async function readOneSnapshot(transaction: Transaction): Promise<void> {
  await transaction.query(ONE_SNAPSHOT)
}

/** Raised by every change of configuration. Reads one row without an index: cheap enough for every second. */
export async function readDirectoryVersion(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ version: string }>({
    name: 'directory_version',
    text: 'select version::text from directory_version',
  })
  return rows[0]!.version
}

/** The version of the last change of the configuration, and of the last one of each table that has been changed. */
async function readVersions(
  transaction: Queryable,
): Promise<Pick<DirectoryContents, 'version' | 'tableVersions'>> {
  const { rows } = await transaction.query<Pick<DirectoryContents, 'version' | 'tableVersions'>>({
    name: 'directory_versions',
    text: 'select version::text, table_versions as "tableVersions" from directory_version',
  })
  return rows[0]!
}

interface Kind {
  /** It is read anew when one of these has changed: those of its rows, and of the objects that it refers to. */
  readonly tables: readonly string[]
  readonly select: string
}

type KindName = Exclude<keyof DirectoryContents, 'version' | 'tableVersions' | 'unreadable'>

const ROUTES = ['routes', 'route_carriers']
const PLANS = ['service_plans', 'accounts', ...ROUTES]

const KINDS: Readonly<Record<KindName, Kind>> = {
  accounts: {
    tables: ['accounts'],
    select: `select t.id, ${accounts.columnList()} from accounts t order by id`,
  },
  routes: {
    tables: ROUTES,
    select: `
      select id, name, quality_floor as "qualityFloor", coalesce((
        select json_agg(json_build_object('carrierId', carrier_id, 'priority', priority, 'weight', weight)
                        order by priority, carrier_id)
        from route_carriers where route_id = routes.id), '[]') as carriers
      from routes order by id`,
  },
  plans: {
    tables: PLANS,
    select: `select t.id, ${servicePlans.columnList()} from service_plans t order by id`,
  },
  tokens: {
    tables: ['tokens', 'accounts'],
    select: `
      select id, account_id as account, name, plan_ids as "planIds", encode(hash, 'hex') as sha256, scopes,
        (extract(epoch from expires_at) * 1000)::float8 as "expiresAtMs"
      from tokens where revoked_at is null`,
  },
  operators: {
    tables: ['operator_tokens'],
    select: `select name, role, encode(hash, 'hex') as sha256 from operator_tokens where revoked_at is null`,
  },
  senders: {
    tables: ['sender_subscriptions'],
    select: `select plan_id as "planId", sender, status from sender_subscriptions`,
  },
  carriers: {
    tables: ['carriers'],
    select: `select t.id, ${carriers.columnList(['carrierId'])} from carriers t order by id`,
  },
  // Their table refers to routes by id.
  rules: {
    tables: ['routing_rules'],
    select: `
      select id, plan_id as "planId", sender, prefix, country, mccmnc, route_id as route from routing_rules order by id`,
  },
  senderRules: {
    tables: ['sender_rules'],
    select: `select plan_id as "planId", country, sender_types as "senderTypes" from sender_rules`,
  },
  inboundNumbers: {
    tables: ['inbound_numbers', ...PLANS],
    select: `select number, plan_id as "planId", keywords from inbound_numbers`,
  },
  sendsmsUsers: {
    tables: ['sendsms_users', ...PLANS],
    select: `
      select username, plan_id as "planId", password_hash as "passwordHash", default_sender as "defaultSender",
        forced_sender as "forcedSender", calling_code as "callingCode", dlr_url as "dlrUrl"
      from sendsms_users`,
  },
  networks: { tables: ['number_ranges'], select: 'select prefix, mccmnc from number_ranges' },
  rates: {
    tables: ['rates'],
    select: `
      select id, plan_id as "planId", prefix, country, mccmnc, price::text, ptf::text, currency from rates order by id`,
  },
}

/** The whole configuration at one instant, as `readDirectoryIn` reads it. */
export function readDirectory(
  db: Database,
  open: SecretOpener,
  previous: Directory | null = null,
): Promise<Directory> {
  return withTransaction(db, (transaction) => readDirectoryIn(transaction, open, previous), ONE_SNAPSHOT)
}

/**
 * The whole configuration, in a transaction that sees one state of it. What has not changed since `previous` is taken from there.
 * It is read in slices, which hold up nobody. An account or carrier whose secrets `open` cannot open is taken out of service; the webhooks
 * to a URL that it cannot open wait.
 * Throws if it can open none at all and there is no `previous`: a node with a wrong key must not start.
 */
export async function readDirectoryIn(
  transaction: Queryable,
  open: SecretOpener,
  previous: Directory | null = null,
): Promise<Directory> {
  const versions = await readVersions(transaction)
  const before = previous?.contents ?? null
  const read = new ChangedKinds(transaction, versions.tableVersions, before)
  const ofAccounts = new Secrets(open)
  const ofCarriers = new Secrets(open)
  const accounts = await read.list('accounts', (row: AccountRow) => accountOf(row, ofAccounts))
  const carriers = await read.list('carriers', (row: CarrierRow) => carrierOf(row, ofCarriers))
  if (before === null) refuseWrongKey([ofAccounts, ofCarriers])
  const accountsById = await byId(accounts)
  const routes = await read.list('routes', (route: Route) => route)
  const routesById = await byId(routes)
  const ofPlans = new Secrets(open)
  const plans = await read.list('plans', (row: PlanRow) => planOf(row, accountsById, routesById, ofPlans))
  const plansById = await byId(plans)
  const unreadable = {
    accounts: read.isChanged('accounts') ? ofAccounts.unreadable : before!.unreadable.accounts,
    carriers: read.isChanged('carriers') ? ofCarriers.unreadable : before!.unreadable.carriers,
    plans: read.isChanged('plans') ? ofPlans.unreadable : before!.unreadable.plans,
  }
  const rules = await read.table('rules', before?.rules.table, RuleTable, (table, row: RuleRow) =>
    table.add(row),
  )
  const contents = {
    ...versions,
    unreadable,
    accounts,
    plans,
    tokens: await read.map('tokens', (row: TokenRow) => [row.sha256, tokenOf(row, accountsById)]),
    operators: await read.map('operators', ({ sha256, name, role }: OperatorRow) => [sha256, { name, role }]),
    senders: await read.map('senders', (row: SenderRow) => [senderKey(row.planId, row.sender), row.status]),
    carriers,
    routes,
    rules: new RoutingRules(rules, routesById),
    networks: await read.table('networks', before?.networks, NetworkTable, (table, row: NumberRange) =>
      table.add(row.prefix, row.mccmnc),
    ),
    rates: await read.table('rates', before?.rates, RateTable, (table, row: Rate) => table.add(row)),
    senderRules: await read.list('senderRules', (rule: SenderRuleRow) => ({
      ...rule,
      senderTypes: new Set(rule.senderTypes),
    })),
    inboundNumbers: await read.map('inboundNumbers', ({ planId, ...row }: NumberRow) => [
      row.number,
      { ...row, plan: plansById.get(planId)! },
    ]),
    sendsmsUsers: await read.map('sendsmsUsers', ({ planId, ...user }: UserRow) => [
      user.username,
      { ...user, plan: plansById.get(planId)! },
    ]),
  }
  return inSlices(directoryOf(contents))
}

function byId<T extends { readonly id: number }>(objects: readonly T[]): Promise<Map<number, T>> {
  return inSlices(mapOfInSteps(objects, (object) => [object.id, object]))
}

/** Rows that are read at once: some 0.5 MB, which are garbage before the next ones come. */
const ROWS_AT_ONCE = 500

/** Reads the kinds that have changed; of the others, the objects of the snapshot before are taken. */
class ChangedKinds {
  readonly #transaction: Queryable
  readonly #versions: DirectoryContents['tableVersions']
  readonly #before: DirectoryContents | null

  constructor(
    transaction: Queryable,
    versions: DirectoryContents['tableVersions'],
    before: DirectoryContents | null,
  ) {
    this.#transaction = transaction
    this.#versions = versions
    this.#before = before
  }

  isChanged(kind: KindName): boolean {
    const before = this.#before
    return (
      before === null ||
      KINDS[kind].tables.some((table) => this.#versions[table] !== before.tableVersions[table])
    )
  }

  async list<Row, T>(kind: KindName, make: (row: Row) => T): Promise<readonly T[]> {
    if (!this.isChanged(kind)) return this.#before![kind] as unknown as readonly T[]
    const objects: T[] = []
    await this.#each(kind, (row: Row) => objects.push(make(row)))
    return objects
  }

  async map<Row, T>(kind: KindName, make: (row: Row) => [string, T]): Promise<ReadonlyMap<string, T>> {
    if (!this.isChanged(kind)) return this.#before![kind] as unknown as ReadonlyMap<string, T>
    const objects = new Map<string, T>()
    await this.#each(kind, (row: Row) => objects.set(...make(row)))
    return objects
  }

  async table<Row, T>(
    kind: KindName,
    before: T | undefined,
    Table: new (room: number) => T,
    add: (table: T, row: Row) => void,
  ): Promise<T> {
    if (!this.isChanged(kind)) return before!
    const { rows } = await this.#transaction.query<{ count: number }>(
      `select count(*)::integer as count from (${KINDS[kind].select}) p`,
    )
    const table = new Table(rows[0]!.count)
    await this.#each(kind, (row: Row) => add(table, row))
    return table
  }

  /** Calls `use` for every row, and keeps none. Times are texts. */
  async #each<Row>(kind: KindName, use: (row: Row) => void): Promise<void> {
    const select = `select row_to_json(p)::text as json from (${KINDS[kind].select}) p`
    await this.#transaction.query(`declare directory_${kind} no scroll cursor for ${select}`)
    let isMore = true
    while (isMore) {
      const { rows } = await this.#transaction.query<{ json: string }>(
        `fetch ${ROWS_AT_ONCE} from directory_${kind}`,
      )
      await inSlices(mapInSteps(rows, ({ json }) => use(JSON.parse(json))))
      isMore = rows.length === ROWS_AT_ONCE
    }
  }
}
