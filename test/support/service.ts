/**
 * The whole service: a real node on a database of its own, a simulated carrier over TCP, an HTTPS receiver with its own
 * authority, set up through the admin API like any installation.
 */
import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { vi } from 'vitest'
import { type App, type AppOptions, startApp } from '../../src/app.ts'
import { STRICT_CALLBACK_POLICY } from '../../src/domain/callback-url.ts'
import { hashToken } from '../../src/domain/tokens.ts'
import { HTTP_LIMITS } from '../../src/http/limits.ts'
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import type { Database } from '../../src/store/database.ts'
import { createServerCertificate, createTestAuthority } from './certificates.ts'
import { freshDatabase } from './database.ts'
import { type HostileReceiver, startHostileReceiver } from './hostile-receiver.ts'
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts'

const SENDER = 'Aldis'
export const INBOUND_NUMBER = '+15550001000'
/** Delivered by the simulator. */
export const RECIPIENT = '+15551230000'
export const CARRIER = 'main'
export const ROUTE = 'default'

const DEADLINE_MS = 20_000

export interface ServiceOptions {
  readonly app?: Partial<AppOptions>
  readonly simulator?: Partial<SimulatorOptions>
  /** Fields of the carrier, of the plan, of the account, as the admin API takes them. */
  readonly carrier?: Record<string, unknown>
  readonly plan?: Record<string, unknown>
  readonly account?: Record<string, unknown>
  /** Port of another SMSC than the simulator. */
  readonly smscPort?: number
  /** False: does not wait for the carrier's link. */
  readonly bound?: boolean
  /** False: no webhook goes anywhere. Default: the account's DLR URL and the plan's inbound URL are the receiver's. */
  readonly webhooks?: boolean
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
  readonly body: any
}

export interface Service extends AsyncDisposable {
  /** The node started last. */
  readonly app: App
  readonly db: Database
  readonly connectionString: string
  readonly simulator: Simulator
  readonly receiver: WebhookReceiver
  readonly accountId: string
  readonly servicePlanId: string
  /** `aldis_…` of the account. */
  readonly token: string
  /** `whsec_…` of the account. */
  readonly webhookSecret: string
  /** What was logged at warn and above, one line each. */
  readonly logs: string[]
  /** `POST /v1/sendsms` of a valid message with these fields changed. */
  send(fields?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>
  /** Sends, expects 202, gives the msgId. */
  sent(fields?: Record<string, unknown>): Promise<string>
  get(msgId: string): Promise<Answer>
  list(query: Record<string, string>): Promise<Answer>
  listInbound(query: Record<string, string>): Promise<Answer>
  /** Waits until the message has this status; gives its record. */
  until(msgId: string, status: string): Promise<Answer['body']>
  /** A request to the admin API; throws unless it succeeds. */
  admin(method: string, path: string, body?: unknown): Promise<Answer['body']>
  /** Webhooks that came for a message, as `SENT`, `DELIVERED` …, in order. */
  statuses(msgId: string): string[]
  /** Waits until exactly these webhooks came for the message, and none is left in the outbox. */
  untilWebhooks(msgId: string, statuses: readonly string[]): Promise<void>
  /** What was postponed is due now; not what is parked. */
  makeDue(): Promise<void>
  /** Another receiver whose certificate the service trusts. */
  anotherReceiver(): Promise<WebhookReceiver>
  /** One that can be told to misbehave, and verifies the account's signatures. */
  hostileReceiver(): Promise<HostileReceiver>
  startNode(options?: Partial<AppOptions>): Promise<App>
  /** Stops the node and starts it again under the same name. */
  restart(options?: Partial<AppOptions>): Promise<void>
}

/** Polls until `condition` gives something other than false, null or undefined. */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  deadlineMs = DEADLINE_MS,
): Promise<Exclude<T, null | undefined | false>> {
  const found = await vi.waitUntil(async () => (await condition()) || null, {
    interval: 10,
    timeout: deadlineMs,
  })
  return found as Exclude<T, null | undefined | false>
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const cleanups: (() => Promise<unknown>)[] = []
  try {
    const service = await assemble(options, cleanups)
    if (options.bound !== false) await eventually(async () => (await linkState(service)).startsWith('BOUND'))
    return service
  } catch (error) {
    await undo(cleanups)
    throw error
  }
}

/** Last first. */
async function undo(cleanups: (() => Promise<unknown>)[]): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

async function assemble(options: ServiceOptions, cleanups: (() => Promise<unknown>)[]): Promise<Service> {
  const database = await freshDatabase()
  cleanups.push(() => database[Symbol.asyncDispose]())
  const { db, connectionString } = database
  const authority = await createTestAuthority()
  const certified = () => createServerCertificate(authority, ['127.0.0.1'])
  const closing = <T extends { close(): Promise<unknown> }>(opened: T): T => {
    cleanups.push(() => opened.close())
    return opened
  }
  const anotherReceiver = async () => closing(await startWebhookReceiver({ certificate: await certified() }))
  const receiver = await anotherReceiver()
  const simulator = await startSimulator({ ...FAST_SIMULATOR, ...options.simulator })
  cleanups.push(() => simulator.stop())

  const logs: string[] = []
  const operatorToken = `operator-${randomBytes(24).toString('hex')}`
  const base = {
    ...nodeOptions(logs),
    connectionString,
    operatorTokenHashes: [hashToken(operatorToken)],
    webhookCaPem: authority.certPem,
    ...options.app,
  }
  const nodes = new Set<App>()
  cleanups.push(() => Promise.all([...nodes].map((node) => node.stop())))
  const startNode = async (overrides: Partial<AppOptions> = {}) => {
    const node = await startApp({ ...base, ...overrides })
    nodes.add(node)
    return node
  }
  let app = await startNode()
  const url = () => app.url
  const admin = adminClient(url, operatorToken)
  const seeded = await seed(admin, options, receiver, simulator)
  return {
    get app() {
      return app
    },
    db,
    connectionString,
    simulator,
    receiver,
    logs,
    accountId: seeded.accountId,
    servicePlanId: seeded.servicePlanId,
    token: seeded.token,
    webhookSecret: seeded.webhookSecret,
    admin,
    ...customerClient(url, seeded),
    ...observations(db, receiver),
    anotherReceiver,
    hostileReceiver: async () =>
      closing(
        await startHostileReceiver({ certificate: await certified(), secrets: [seeded.webhookSecret] }),
      ),
    startNode,
    async restart(overrides) {
      await app.stop()
      nodes.delete(app)
      app = await startNode(overrides)
    },
    [Symbol.asyncDispose]: () => undo(cleanups),
  }
}

const FAST_SIMULATOR: SimulatorOptions = {
  port: 0,
  receiptDelayMs: 5,
  earlyReceiptLeadMs: 20,
  lateReceiptDelayMs: 50,
  retryDelayMs: 50,
  stopTimeoutMs: 200,
  recordSubmissions: true,
}

function nodeOptions(logs: string[]) {
  return {
    databasePoolSize: 6,
    databasePrepared: true,
    databaseStatementTimeoutMs: 10_000,
    allowUnsafeDurability: false,
    httpHost: '127.0.0.1',
    httpPort: 0,
    baseUrl: null,
    secretKey: randomBytes(32),
    nodeName: 'node-a',
    retentionDays: 30,
    drainTimeoutMs: 3_000,
    // The receiver is on loopback.
    callbackPolicy: { ...STRICT_CALLBACK_POLICY, allowCidrs: ['127.0.0.0/8'] },
    dnsServers: [],
    log: pino({ level: 'warn' }, { write: (line: string) => logs.push(line) }),
    ambiguityWaitMs: 300,
    linkTimings: { backoffMs: 20 },
    httpLimits: { ...HTTP_LIMITS, reads: { perSecond: 10_000, burst: 10_000 }, drainTimeoutMs: 500 },
  }
}

function adminClient(url: () => string, operatorToken: string): Service['admin'] {
  return async (method, path, body) => {
    const answer = await call(`${url()}/admin/v1${path}`, operatorToken, method, body)
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
}

function customerClient(
  url: () => string,
  { servicePlanId, token }: { servicePlanId: string; token: string },
): Pick<Service, 'send' | 'sent' | 'get' | 'list' | 'listInbound' | 'until'> {
  const valid = { servicePlanId, channel: 'SMS', from: SENDER, to: RECIPIENT, body: 'hello' }
  const send: Service['send'] = (fields = {}, headers = {}) =>
    call(`${url()}/v1/sendsms`, token, 'POST', { ...valid, ...fields }, headers)
  const get: Service['get'] = (msgId) =>
    call(`${url()}/v1/messages/sms/${msgId}?servicePlanId=${servicePlanId}`, token)
  return {
    send,
    async sent(fields) {
      const answer = await send(fields)
      if (answer.status !== 202) throw new Error(`not accepted: ${JSON.stringify(answer.body)}`)
      return answer.body.msgId
    },
    get,
    list: (query) =>
      call(`${url()}/v1/messages/sms?${new URLSearchParams({ servicePlanId, ...query })}`, token),
    listInbound: (query) =>
      call(`${url()}/v1/inbound/sms?${new URLSearchParams({ servicePlanId, ...query })}`, token),
    until: (msgId, status) =>
      eventually(async () => {
        const { body } = await get(msgId)
        return body.status === status && body
      }),
  }
}

function observations(
  db: Database,
  receiver: WebhookReceiver,
): Pick<Service, 'statuses' | 'untilWebhooks' | 'makeDue'> {
  const statuses = (msgId: string) =>
    receiver.received
      .map(({ body }) => JSON.parse(body))
      .flatMap((record) => (record.msgId === msgId ? [record.status ?? record.direction] : []))
  return {
    statuses,
    async untilWebhooks(msgId, wanted) {
      await eventually(() => statuses(msgId).length >= wanted.length)
      await eventually(async () => (await outbox(db, msgId)) === 0)
      if (statuses(msgId).join() !== wanted.join())
        throw new Error(`webhooks ${statuses(msgId)}, wanted ${wanted}`)
    },
    async makeDue() {
      await db.query('update dispatches set due_at = now() where holder is null')
      await db.query(`update event_deliveries set due_at = now() where ctid in (
           select ctid from event_deliveries
           where holder is null and state = 'waiting' and due_at > now() for update skip locked)`)
    },
  }
}

/** The state of a carrier's link, as the operator sees it. */
export async function linkState(service: Pick<Service, 'admin'>, carrier = CARRIER): Promise<string> {
  return (await service.admin('GET', `/carriers/${carrier}`)).link?.state ?? 'none'
}

/** Which node has which bind: by carrier and number, `main/0`. */
export async function bindsOf({ db }: Pick<Service, 'db'>): Promise<Record<string, string>> {
  const { rows } = await db.query<{ bind: string; node: string }>(`
    select c.name || '/' || b.bind as bind, n.name as node
    from carrier_binds b join carriers c on c.id = b.carrier_id join nodes n on n.node_id = b.node_id
    where c.state <> 'stopped' and b.bind < c.binds order by 1`)
  return Object.fromEntries(rows.map(({ bind, node }) => [bind, node]))
}

async function seed(
  admin: Service['admin'],
  options: ServiceOptions,
  receiver: WebhookReceiver,
  simulator: Simulator,
) {
  const urls = options.webhooks !== false
  const account = await admin('POST', '/accounts', {
    name: 'Example',
    ...(urls && { defaultDlrUrl: `${receiver.origin}/dlr` }),
    ...options.account,
  })
  const { accountId } = account
  await admin('POST', '/carriers', {
    name: CARRIER,
    host: '127.0.0.1',
    port: options.smscPort ?? simulator.port,
    systemId: 'aldis',
    password: 'secret',
    ...options.carrier,
  })
  await admin('POST', '/routes', { name: ROUTE, carriers: [{ carrier: CARRIER }] })
  const { servicePlanId } = await admin('POST', '/service-plans', {
    accountId,
    name: 'Example',
    route: ROUTE,
    ...(urls && { inboundUrl: `${receiver.origin}/mo` }),
    ...options.plan,
  })
  await admin('PUT', `/service-plans/${servicePlanId}/senders/${SENDER}`, { status: 'approved' })
  await admin('POST', '/inbound-numbers', { number: INBOUND_NUMBER, servicePlanId, keywords: ['STOP'] })
  const { token } = await admin('POST', '/tokens', { accountId, name: 'test' })
  return { accountId, servicePlanId, token, webhookSecret: account.webhookSecret as string }
}

async function outbox(db: Database, msgId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::integer as count from event_deliveries where msg_id = $1 and state <> 'failed'`,
    [msgId],
  )
  return rows[0]!.count
}

async function call(
  url: string,
  token: string,
  method = 'GET',
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
}
