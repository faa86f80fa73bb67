/**
 * The whole service: a real node on a database of its own, with a simulated carrier over TCP and an HTTPS receiver whose
 * authority it trusts.
 */
import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import type { AppOptions } from '../../src/app/options.ts'
import { secretKeysOf } from '../../src/app/platform.ts'
import { type App, startApp } from '../../src/app/start.ts'
import { hashToken } from '../../src/domain/credentials.ts'
import { HTTP_LIMITS } from '../../src/http/limits.ts'
import { type Database, withTransaction } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/database-pool.ts'
import { directServer, reachServer } from '../../src/store/database-server.ts'
import { STRICT_CALLBACK_POLICY } from './callback-policy.ts'
import { createServerCertificate, createTestAuthority } from './certificates.ts'
import { freshDatabase } from './database.ts'
import {
  type Cleanups,
  call,
  createTenant,
  type Installation,
  type Tenant,
  type TenantOptions,
  undo,
} from './tenant.ts'
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts'

export { eventually } from './eventually.ts'
export { CARRIER, INBOUND_NUMBER, linkState, RECIPIENT, ROUTE } from './tenant.ts'

/** Of the service and of its first tenant. */
export interface ServiceOptions extends TenantOptions {
  readonly app?: Partial<AppOptions>
}

/** A service as one of its tenants uses it. */
export interface Service extends Tenant, AsyncDisposable {
  /** The node started last. */
  readonly app: App
  readonly db: Database
  readonly connectionString: string
  readonly operatorToken: string
  /** What was logged at warn and above since the tenant was created, one line each. */
  readonly logs: readonly string[]
  /**
   * Creates another tenant of the same service, for a test that must not see what others did. Disposed of, it has stopped
   * its carriers; the service runs until its first tenant is disposed of.
   */
  tenant(options?: TenantOptions): Promise<Service>
  /** Another receiver whose certificate the service trusts; it verifies the account's signatures. */
  anotherReceiver(): Promise<WebhookReceiver>
  startNode(options?: Partial<AppOptions>): Promise<App>
  /** Stops the node and starts it again under the same name. */
  restart(options?: Partial<AppOptions>): Promise<void>
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const cleanups: Cleanups = []
  try {
    return await assemble(options, cleanups)
  } catch (error) {
    await undo(cleanups)
    throw error
  }
}

async function assemble(options: ServiceOptions, cleanups: Cleanups): Promise<Service> {
  const database = await freshDatabase({ state: 'started' })
  cleanups.push(() => database[Symbol.asyncDispose]())
  const { db, connectionString } = database
  const { authority, certificate } = await certificatesOfProcess()
  const lines: string[] = []
  const operatorToken = `operator-${randomBytes(24).toString('hex')}`
  const appOptions: AppOptions = {
    ...nodeOptions(lines),
    connectionString,
    operatorTokenHashes: [hashToken(operatorToken)],
    webhookCaPem: authority.certPem,
    ...options.app,
    linkTimings: { ...LINK_TIMINGS, ...options.app?.linkTimings },
  }
  const nodes = new Nodes(appOptions)
  const first: Cleanups = []
  cleanups.push(
    () => undo(first),
    () => nodes.stop(),
  )
  await nodes.restart()
  const url = () => nodes.newest.url
  const installation = {
    ...{ db, url, certificate },
    secretKey: secretKeysOf(appOptions),
    configure: configuring(db, options.app?.connectionString),
    refresh: () => nodes.newest.refresh(),
    admin: adminClient(url, operatorToken, lines),
  }
  let tenants = 0

  async function serviceOf(tenantOptions: TenantOptions, opened: Cleanups, dispose: () => Promise<void>) {
    const from = lines.length
    const tenant = await createTenant(installation, tenantOptions, tenants++, opened)
    const closing = <T extends { close(): Promise<unknown> }>(receiver: T): T => {
      opened.push(() => receiver.close())
      return receiver
    }
    const service: Service = {
      ...tenant,
      db,
      connectionString,
      operatorToken,
      get app() {
        return nodes.newest
      },
      get logs() {
        return lines.slice(from)
      },
      tenant(more = {}) {
        const own: Cleanups = []
        return serviceOf(more, own, async () => {
          await nodes.revive()
          await undo(own)
        })
      },
      anotherReceiver: async () =>
        closing(await startWebhookReceiver({ certificate, secrets: [tenant.webhookSecret] })),
      startNode: (overrides) => nodes.start(overrides),
      restart: (overrides) => nodes.restart(overrides),
      [Symbol.asyncDispose]: dispose,
    }
    return service
  }
  return serviceOf(options, first, () => undo(cleanups))
}

/** Changes the configuration of the nodes, whose database is another than that of the service where a test says so. */
function configuring(db: Database, other: string | undefined): Installation['configure'] {
  if (other === undefined) return (work) => withTransaction(db, work)
  return async (work) => {
    const server = directServer(other, true)
    await reachServer(server)
    const pool = openDatabase({ connectionString: other, server, poolSize: 1 })
    try {
      return await withTransaction(pool, work)
    } finally {
      await pool.end()
    }
  }
}

let certificates: ReturnType<typeof makeCertificates> | undefined

/** One authority and one receiver's certificate for all services of this process: each takes 10 ms to make. */
function certificatesOfProcess(): ReturnType<typeof makeCertificates> {
  certificates ??= makeCertificates()
  return certificates
}

async function makeCertificates() {
  const authority = await createTestAuthority()
  return { authority, certificate: await createServerCertificate(authority, ['127.0.0.1']) }
}

/** The nodes of one service; `newest` is the one started last by `restart`. */
class Nodes {
  readonly #options: AppOptions
  readonly #running = new Set<App>()
  readonly #stopped = new WeakSet<App>()
  #newest: App | null = null

  constructor(options: AppOptions) {
    this.#options = options
  }

  get newest(): App {
    return this.#newest!
  }

  async start(overrides: Partial<AppOptions> = {}): Promise<App> {
    const started = await startApp({ ...this.#options, ...overrides })
    const node: App = {
      ...started,
      stop: () => {
        this.#stopped.add(node)
        return started.stop()
      },
    }
    this.#running.add(node)
    return node
  }

  async restart(overrides: Partial<AppOptions> = {}): Promise<void> {
    if (this.#newest !== null) {
      await this.#newest.stop()
      this.#running.delete(this.#newest)
    }
    this.#newest = await this.start(overrides)
  }

  /** A test that failed may have left the newest stopped, which would fail what comes after it, and hide why it failed. */
  async revive(): Promise<void> {
    if (this.#newest !== null && this.#stopped.has(this.#newest)) await this.restart()
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((node) => node.stop()))
  }
}

/** Longer than any test. On a busy machine everything may take long: no lease and no time runs out unless a test says so. */
const NEVER_MS = 3_600_000
/** As long, where Node or PostgreSQL is told of it. */
const TEST_MS = 300_000

/** On a busy machine the configuration gets stale, and a request is answered 503 after two seconds. */
const FRESH_WAIT_MS = 30_000

const LINK_TIMINGS = { backoffMs: 20, responseTimeoutMs: NEVER_MS, enquireLinkTimeoutMs: NEVER_MS }

function nodeOptions(lines: string[]) {
  return {
    databasePoolSize: 3,
    databasePrepared: true,
    databaseStatementTimeoutMs: TEST_MS,
    allowUnsafeDurability: false,
    httpHost: '127.0.0.1',
    httpPort: 0,
    baseUrl: null,
    secretKey: randomBytes(32),
    nodeName: 'node-a',
    retentionDays: 30,
    auditRetentionDays: 400,
    drainTimeoutMs: 3_000,
    // The receiver is on loopback.
    callbackPolicy: { ...STRICT_CALLBACK_POLICY, allowCidrs: ['127.0.0.0/8'] },
    dnsServers: [],
    alarmBacklogSeconds: 300,
    log: pino({ level: 'warn' }, { write: (line: string) => lines.push(line) }),
    leaseMs: NEVER_MS,
    webhookTimeoutMs: NEVER_MS,
    webhookConnectTimeoutMs: NEVER_MS,
    ambiguityWaitMs: 300,
    freshWaitMs: FRESH_WAIT_MS,
    httpLimits: {
      ...HTTP_LIMITS,
      reads: { perSecond: 10_000, burst: 10_000 },
      headersTimeoutMs: TEST_MS,
      requestTimeoutMs: TEST_MS,
      drainTimeoutMs: 500,
      quietMs: 0,
    },
  }
}

/** An error has what was logged of the request, too: of a 500 the answer says nothing. */
function adminClient(url: () => string, operatorToken: string, lines: readonly string[]): Tenant['admin'] {
  return async (method, path, body) => {
    const answer = await call(`${url()}/admin/v1${path}`, operatorToken, method, body)
    if (answer.status < 300) return answer.body
    const logged = lines.filter((line) => line.includes(answer.body.requestId))
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)} ${logged.join('')}`)
  }
}

/** Which node has which bind: by carrier and number, `main/0`. */
export async function bindsOf({ db }: Pick<Service, 'db'>): Promise<Record<string, string>> {
  const { rows } = await db.query<{ bind: string; node: string }>(`
    select c.name || '/' || b.bind as bind, n.name as node
    from carrier_binds b join carriers c on c.id = b.carrier_id join nodes n on n.node_id = b.node_id
    where c.state <> 'stopped' and b.bind < c.binds order by 1`)
  return Object.fromEntries(rows.map(({ bind, node }) => [bind, node]))
}
