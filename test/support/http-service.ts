import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import pino from 'pino'
import type { Account, RateLimit, ServicePlan, Token } from '../../src/domain/configuration/configuration.ts'
import { type Directory, senderKey } from '../../src/domain/configuration/directory.ts'
import { hashToken, makeToken } from '../../src/domain/credentials.ts'
import type { CallbackChecker, CallbackPolicy } from '../../src/domain/webhooks/callback-url.ts'
import { formatWebhookSecret } from '../../src/domain/webhooks/requests.ts'
import { builtFiles } from '../../src/http/browser-pages.ts'
import type { HttpLimits } from '../../src/http/limits.ts'
import type { Readiness } from '../../src/http/routes/health.ts'
import type { ServerDeps } from '../../src/http/server.ts'
import type { MessageReads } from '../../src/operations/read-messages.ts'
import { CallbackGuard } from '../../src/outbound/callback-guard.ts'
import { NameResolver } from '../../src/outbound/resolver.ts'
import type { Database } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/database-pool.ts'
import { STRICT_CALLBACK_POLICY } from './callback-policy.ts'
import { consoleSessions, SAME_ORIGIN } from './console.ts'
import { type FreshDatabase, freshDatabase } from './database.ts'
import { aDirectory, anAccount, aPlan, aRoute, type TestContents } from './directory.ts'
import { type DnsServer, startDnsServer } from './dns-server.ts'
import { startHttpServer } from './http-server.ts'
import { exchange, type HttpAnswer, type HttpRequest, requestBytes } from './raw-http.ts'

/** Plans of two tenants. Hex with letters, so that upper and lower case differ. */
export const PLAN = '65f0c0ffee65f0c0ffee65f0'
export const PLAN_SECOND = '65f0c0ffee65f0c0ffee65f1'
export const PLAN_INACTIVE = '65f0c0ffee65f0c0ffee65f2'
export const PLAN_INCOMPLETE = '65f0c0ffee65f0c0ffee65f3'
export const PLAN_SHORT_CODES = '65f0c0ffee65f0c0ffee65f4'
export const PLAN_OTHER = 'abcdefabcdefabcdefabcdef'
export const ACCOUNT = 'a0a0a0a0a0a0a0a0a0a0a0a0'

/** Senders of PLAN, by the status of their subscription; `constructor` is a name like any other. */
export const SENDER = '12345'
const SENDERS = {
  approved: [SENDER, '+15550001111', 'Aldis', 'constructor', '__proto__'],
  pending: ['Pending'],
  denied: ['Denied'],
  archived: ['Archived'],
}
export const SENDER_OTHER = 'OtherBrand'

/** Of the account, of the account but for PLAN alone, and of the other tenant. */
export const TOKEN = makeToken(randomBytes(32))
export const TOKEN_LIMITED = makeToken(randomBytes(32))
export const TOKEN_OTHER = makeToken(randomBytes(32))

/** Plans, each with the headers of a token that is not for it; TOKEN's where there are none. */
export const FORBIDDEN_PLANS: readonly (readonly [plan: string, headers: Record<string, string>])[] = [
  [PLAN_OTHER, {}],
  ['f'.repeat(24), {}],
  [PLAN_SECOND, { authorization: `Bearer ${TOKEN_LIMITED}` }],
  [PLAN, { authorization: `Bearer ${TOKEN_OTHER}` }],
]

/** Of every account. */
export const WEBHOOK_SECRET = formatWebhookSecret(randomBytes(32))

export interface HttpServiceOptions {
  /** Of others, too: `databaseOfFile({ state: 'anyDay' })`. Absent: one of its own. */
  readonly database?: FreshDatabase
  readonly limits?: Partial<HttpLimits>
  readonly accountRateLimit?: RateLimit
  readonly planRateLimit?: RateLimit
  /** Settings of PLAN, and the configuration beside accounts, plans, tokens and senders. */
  readonly plan?: Partial<ServicePlan>
  readonly contents?: TestContents
  readonly baseUrl?: string
  readonly policy?: Partial<CallbackPolicy>
  /** What judges callback URLs in the place of the real guard, which it is given. */
  readonly guard?: (real: CallbackGuard) => CallbackChecker
  /** Of the database that the server uses. */
  readonly statementTimeoutMs?: number
  readonly clock?: () => number
  readonly ready?: () => Promise<Readiness>
  /** PEM of the authority of the receivers of test events. */
  readonly webhookCaPem?: string
  /** How messages are read; absent: as a node does that has none. */
  readonly messages?: (db: Database) => Promise<MessageReads>
  /** What accepts messages; absent: the real accepter. */
  readonly accepter?: ServerDeps['accepter']
  readonly cursorKeys?: { cursor: Buffer; oldCursors?: readonly Buffer[] }
}

export interface HttpService {
  readonly app: FastifyInstance
  readonly port: number
  readonly db: Database
  readonly database: FreshDatabase
  readonly dns: DnsServer
  readonly cursorKey: Buffer
  /** Everything logged, one entry per line. */
  readonly logs: string[]
  /** One request over a connection of its own, with TOKEN unless the headers have another or a cookie. */
  request(request: HttpRequest): Promise<HttpAnswer>
  /** Signs in as a browser does, and returns the headers of its requests from then on. */
  signIn(token: string): Promise<Record<string, string>>
  get(path: string, headers?: Record<string, string>): Promise<HttpAnswer>
  /** `POST /v1/sendsms` of a valid message with these fields changed; undefined leaves one out. */
  send(fields?: Record<string, unknown>, headers?: Record<string, string>): Promise<HttpAnswer>
  /** `POST /v1/sendsms/preflight`, likewise. */
  preflight(fields?: Record<string, unknown>, headers?: Record<string, string>): Promise<HttpAnswer>
  /** Rows stored in messages. */
  storedMessages(): Promise<number>
  [Symbol.asyncDispose](): Promise<void>
}

/** The HTTP server on a port of its own, over a real database, with the real accepter and callback guard. */
export async function startHttpService(options: HttpServiceOptions = {}): Promise<HttpService> {
  // Lists are tested with old messages, too.
  const database = options.database ?? (await freshDatabase({ state: 'anyDay' }))
  const { db } = database
  const { statementTimeoutMs } = options
  const serverDb =
    statementTimeoutMs === undefined
      ? db
      : openDatabase({ connectionString: database.connectionString, poolSize: 2, statementTimeoutMs })
  const dns = await startDnsServer()
  dns.set('hooks.example.com', { A: ['93.184.216.34'] })
  const resolver = new NameResolver({ servers: [dns.address] })
  const logs: string[] = []
  const cursorKey = options.cursorKeys?.cursor ?? randomBytes(32)
  const directory = testDirectory(options)
  const guard = new CallbackGuard({ ...STRICT_CALLBACK_POLICY, ...options.policy }, resolver)
  const server = await startHttpServer({
    db: serverDb,
    writes: db,
    directory: () => directory,
    realGuard: guard,
    guard: options.guard?.(guard) ?? guard,
    webhookCaPem: options.webhookCaPem,
    ...(options.messages && { messages: await options.messages(db) }),
    keys: options.cursorKeys ?? { cursor: cursorKey },
    sessions: consoleSessions(options.clock),
    pages: { operatorTokenHashes: [], console: builtFiles('console'), docs: builtFiles('docs') },
    log: pino({ level: 'debug' }, { write: (line: string) => logs.push(line) }),
    ...(options.limits && { limits: options.limits }),
    ...(options.baseUrl !== undefined && { baseUrl: options.baseUrl }),
    ...(options.accepter && { accepter: options.accepter }),
    ...(options.ready && { ready: options.ready }),
    ...(options.clock && { clock: options.clock }),
  })
  const { app, port } = server
  const request = async (wanted: HttpRequest): Promise<HttpAnswer> => {
    const credentials = wanted.headers?.cookie === undefined && { authorization: `Bearer ${TOKEN}` }
    const headers = { ...credentials, ...wanted.headers }
    const answer = await exchange(port, requestBytes({ ...wanted, headers }))
    if (answer === null) throw new Error(`no answer to ${wanted.method} ${wanted.path}`)
    return answer
  }
  const post =
    (path: string) =>
    (fields: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
      request({
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ ...validMessage(), ...fields }),
      })
  return {
    app,
    port,
    db,
    database,
    dns,
    cursorKey,
    logs,
    request,
    async signIn(token) {
      const headers = { ...SAME_ORIGIN, 'content-type': 'application/json' }
      const body = JSON.stringify({ token })
      const answer = await request({ method: 'POST', path: '/console/session', headers, body })
      return { ...SAME_ORIGIN, cookie: answer.headers.get('set-cookie')!.split(';')[0]! }
    },
    get: (path, headers = {}) => request({ method: 'GET', path, headers }),
    send: post('/v1/sendsms'),
    preflight: post('/v1/sendsms/preflight'),
    async storedMessages() {
      const { rows } = await db.query<{ count: number }>('select count(*)::int as count from messages')
      return rows[0]!.count
    },
    async [Symbol.asyncDispose]() {
      await server.close()
      resolver.close()
      await dns.close()
      if (serverDb !== db) await serverDb.end()
      if (options.database === undefined) await database[Symbol.asyncDispose]()
    },
  }
}

export function validMessage() {
  return { servicePlanId: PLAN, channel: 'SMS', from: SENDER, to: '+15551230001', body: 'hello' }
}

const ROUTE = aRoute()

/** A token without bounds. */
const FREE = { name: 'backend', scopes: null, expiresAtMs: null }

function testDirectory({ accountRateLimit, planRateLimit, plan, contents }: HttpServiceOptions): Directory {
  const account = accountNamed(1, ACCOUNT, accountRateLimit ?? null)
  const other = accountNamed(2, 'b0b0b0b0b0b0b0b0b0b0b0b0', null)
  const plans = [
    planNamed(1, PLAN, account, { rateLimit: planRateLimit ?? null, ...plan }),
    planNamed(2, PLAN_SECOND, account),
    planNamed(3, PLAN_INACTIVE, account, { active: false }),
    planNamed(4, PLAN_INCOMPLETE, account, { route: null }),
    planNamed(5, PLAN_SHORT_CODES, account, { senderTypes: new Set(['short-code']) }),
    planNamed(6, PLAN_OTHER, other),
  ]
  const senders = new Map<string, string>([[senderKey(6, SENDER_OTHER), 'approved']])
  for (const plan of plans.slice(0, 5)) {
    for (const [status, names] of Object.entries(SENDERS)) {
      for (const name of names) senders.set(senderKey(plan.id, name), status)
    }
  }
  senders.set(senderKey(6, SENDER), 'approved')
  const tokens = new Map<string, Token>([
    [hashToken(TOKEN), { ...FREE, id: 1, account, planIds: null }],
    [hashToken(TOKEN_LIMITED), { ...FREE, id: 2, account, planIds: new Set([1]) }],
    [hashToken(TOKEN_OTHER), { ...FREE, id: 3, account: other, planIds: null }],
  ])
  return aDirectory({ accounts: [account, other], plans, tokens, senders, routes: [ROUTE], ...contents })
}

/** Accounts and plans as rows: what others in the database belong to. Neither has a URL of its own. */
export async function storePlans({ db }: Pick<HttpService, 'db'>): Promise<void> {
  const { accounts, plans } = testDirectory({}).contents
  for (const { id, accountId, name } of accounts) {
    await db.query(
      `insert into accounts (id, account_id, name, webhook_secret) overriding system value values ($1, $2, $3, 'x')`,
      [id, accountId, name],
    )
  }
  for (const { id, servicePlanId, account, name } of plans) {
    await db.query(
      `insert into service_plans (id, service_plan_id, account_id, name) overriding system value values ($1, $2, $3, $4)`,
      [id, servicePlanId, account.id, name],
    )
  }
}

function accountNamed(id: number, accountId: string, rateLimit: RateLimit | null): Account {
  return anAccount({ id, accountId, name: accountId, rateLimit, webhookSecrets: [WEBHOOK_SECRET] })
}

function planNamed(
  id: number,
  servicePlanId: string,
  account: Account,
  changes: Partial<ServicePlan> = {},
): ServicePlan {
  return aPlan({ id, servicePlanId, account, name: servicePlanId, route: ROUTE, ...changes })
}
