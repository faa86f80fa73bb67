/**
 * One customer in a running service: an account, a plan, a token and an inbound number, with a route, a carrier and a
 * webhook receiver of its own.
 */
import type { SecretKeys } from '../../src/domain/secrets.ts'
import { ACCOUNTS } from '../../src/operations/configuration/accounts.ts'
import { CARRIERS } from '../../src/operations/configuration/carriers.ts'
import { NUMBERS } from '../../src/operations/configuration/inbound-numbers.ts'
import type { TableKind } from '../../src/operations/configuration/kind.ts'
import { ROUTES } from '../../src/operations/configuration/routes.ts'
import { setSenderSubscription } from '../../src/operations/configuration/senders.ts'
import { PLANS } from '../../src/operations/configuration/service-plans.ts'
import { createObject } from '../../src/operations/configuration/single-changes.ts'
import { issueToken } from '../../src/operations/manage/tokens.ts'
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import type { Database, Transaction } from '../../src/store/database.ts'
import type { ServerCertificate } from './certificates.ts'
import { eventually } from './eventually.ts'
import { httpRequest } from './http-client.ts'
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts'

const SENDER = 'Aldis'
/** Of the first tenant of a service. */
export const INBOUND_NUMBER = '+15550001000'
export const CARRIER = 'main'
export const ROUTE = 'default'
/** Delivered by the simulator. */
export const RECIPIENT = '+15551230000'

export interface TenantOptions {
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

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
  readonly body: any
}

export interface Tenant {
  readonly simulator: Simulator
  readonly receiver: WebhookReceiver
  readonly accountId: string
  readonly servicePlanId: string
  /** The names of its carrier and of its route, and its inbound number. */
  readonly carrier: string
  readonly route: string
  readonly inboundNumber: string
  /** `aldis_…` of the account. */
  readonly token: string
  /** `whsec_…` of the account. */
  readonly webhookSecret: string
  /** `POST /v1/sendsms` of a valid message with these fields changed. */
  send(fields?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>
  /** Sends, expects 202, gives the msgId. */
  sent(fields?: Record<string, unknown>): Promise<string>
  /** Has the message written into the tables: to be looked at there. */
  recorded(msgId: string): Promise<unknown>
  get(msgId: string): Promise<Answer>
  list(query: Record<string, string>): Promise<Answer>
  listInbound(query: Record<string, string>): Promise<Answer>
  /** Waits until the message has this status; gives its record. */
  until(msgId: string, status: string): Promise<Answer['body']>
  /** A request to the admin API; throws unless it succeeds. */
  admin(method: string, path: string, body?: unknown): Promise<Answer['body']>
  /** Creates one more carrier at this port. Returns its name, by default once it is bound on the newest node. */
  anotherCarrier(port: number, fields?: Record<string, unknown>, untilBound?: boolean): Promise<string>
  /** The plan's key in the database. */
  planKey(): Promise<number>
  /** Webhooks that came for a message, as `SENT`, `DELIVERED` …, in order. */
  statuses(msgId: string): string[]
  /** Waits until exactly these webhooks came for the message, and none is left in the outbox. */
  untilWebhooks(msgId: string, statuses: readonly string[]): Promise<void>
  /** What of the plan was postponed is due now; not what is parked. */
  makeDue(): Promise<void>
}

export type Cleanups = (() => Promise<unknown>)[]

/** Runs the cleanups, the last first. */
export async function undo(cleanups: Cleanups): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

/** What the tenants of a service share. */
export interface Installation {
  readonly db: Database
  readonly secretKey: SecretKeys
  /** Runs the work in a transaction on the database of the nodes. */
  configure<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>
  /** The node answers by what is in the database now. */
  refresh(): Promise<void>
  /** Where the service answers now. */
  url(): string
  admin: Tenant['admin']
  readonly certificate: ServerCertificate
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

/**
 * Creates the `index`-th tenant of a service, from 0. The cleanups close what it opened; for all but the first, which ends
 * with its service, they stop its carriers before. Its messages and its configuration stay.
 */
export async function createTenant(
  installation: Installation,
  options: TenantOptions,
  index: number,
  cleanups: Cleanups,
): Promise<Tenant> {
  const { db, url, admin, certificate } = installation
  const receiver = await startWebhookReceiver({ certificate })
  cleanups.push(() => receiver.close())
  const simulator = await startSimulator({ ...FAST_SIMULATOR, ...options.simulator })
  cleanups.push(() => simulator.stop())
  const carriers: string[] = []
  const stop = (name: string) => admin('PATCH', `/carriers/${name}`, { state: 'stopped' })
  if (index > 0) cleanups.push(() => Promise.all(carriers.map(stop)))
  const carrierAt = (port: number, fields: Record<string, unknown> = {}) => ({
    ...{ host: '127.0.0.1', port, systemId: 'aldis', password: 'secret' },
    ...fields,
  })
  const ownCarrier = carrierAt(options.smscPort ?? simulator.port, options.carrier)
  const seeded = await seed(installation, options, receiver, index, ownCarrier)
  carriers.push(seeded.carrier)
  await installation.refresh()
  const tenant: Tenant = {
    ...seeded,
    simulator,
    receiver,
    admin,
    recorded: (msgId) => admin('GET', `/messages/${msgId}`),
    ...customerClient(url, seeded),
    ...observations(db, receiver, seeded.servicePlanId),
    async anotherCarrier(port, fields = {}, untilBound = true) {
      const name = `${seeded.carrier}-${carriers.length + 1}`
      carriers.push(name)
      await admin('POST', '/carriers', { name, ...carrierAt(port, fields) })
      if (untilBound) await isBound(tenant, name)
      return name
    },
  }
  if (options.bound !== false) await isBound(tenant, seeded.carrier)
  return tenant
}

function isBound(tenant: Pick<Tenant, 'admin'>, carrier: string): Promise<unknown> {
  return eventually(async () => (await linkState(tenant, carrier)).startsWith('BOUND'))
}

/** The state of a carrier's link, as the operator sees it. */
export async function linkState(tenant: Pick<Tenant, 'admin'>, carrier = CARRIER): Promise<string> {
  return (await tenant.admin('GET', `/carriers/${carrier}`)).link?.state ?? 'none'
}

/**
 * In one transaction, by the functions behind the admin API: its requests one after the other take four times as long, and
 * there are hundreds of tenants.
 */
function seed(
  { configure, secretKey }: Installation,
  options: TenantOptions,
  receiver: WebhookReceiver,
  index: number,
  carrierSettings: Record<string, unknown>,
) {
  const urls = options.webhooks !== false
  const named = (name: string) => (index === 0 ? name : `${name}-${index}`)
  const [carrier, route] = [named(CARRIER), named(ROUTE)]
  const inboundNumber = `+${Number(INBOUND_NUMBER.slice(1)) + index}`
  return configure(async (transaction) => {
    const create = <Row extends object>(kind: TableKind<Row>, body: object) =>
      createObject(kind, { transaction, secretKey }, JSON.parse(JSON.stringify(body)))
    const account = await create(ACCOUNTS, {
      name: 'Example',
      ...(urls && { defaultDlrUrl: `${receiver.origin}/dlr` }),
      ...options.account,
    })
    const { accountId } = account.row
    await create(CARRIERS, { name: carrier, ...carrierSettings })
    await create(ROUTES, { name: route, carriers: [{ carrier }] })
    const plan = await create(PLANS, {
      ...{ accountId, name: 'Example', route },
      ...(urls && { inboundUrl: `${receiver.origin}/mo` }),
      ...options.plan,
    })
    const { servicePlanId } = plan.row
    await setSenderSubscription(transaction, servicePlanId, SENDER, { status: 'approved' })
    await create(NUMBERS, { number: inboundNumber, servicePlanId, keywords: ['STOP'] })
    const unbounded = { servicePlanIds: null, scopes: null, expiresAt: null }
    const { token } = await issueToken(transaction, { accountId, name: 'test', ...unbounded }, Date.now())
    const { webhookSecret } = account.issued[0]!
    return { accountId, servicePlanId, carrier, route, inboundNumber, token, webhookSecret }
  })
}

function customerClient(
  url: () => string,
  { servicePlanId, token }: { servicePlanId: string; token: string },
): Pick<Tenant, 'send' | 'sent' | 'get' | 'list' | 'listInbound' | 'until'> {
  const valid = { servicePlanId, channel: 'SMS', from: SENDER, to: RECIPIENT, body: 'hello' }
  const send: Tenant['send'] = (fields = {}, headers = {}) =>
    call(`${url()}/v1/sendsms`, token, 'POST', { ...valid, ...fields }, headers)
  const get: Tenant['get'] = (msgId) =>
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
  servicePlanId: string,
): Pick<Tenant, 'planKey' | 'statuses' | 'untilWebhooks' | 'makeDue'> {
  const statuses = (msgId: string) =>
    receiver.received
      .map(({ body }) => JSON.parse(body))
      .flatMap((record) => (record.msgId === msgId ? [record.status ?? record.direction] : []))
  let found: Promise<number> | undefined
  const planKey = () => {
    found ??= keyOfPlan(db, servicePlanId)
    return found
  }
  return {
    planKey,
    statuses,
    async untilWebhooks(msgId, wanted) {
      await eventually(() => statuses(msgId).length >= wanted.length)
      await eventually(async () => (await outbox(db, msgId)) === 0)
      if (statuses(msgId).join() !== wanted.join())
        throw new Error(`webhooks ${statuses(msgId)}, wanted ${wanted}`)
    },
    async makeDue() {
      const plan = await planKey()
      // What a node is taking or writing just now is due, or will be asked for again.
      await db.query(
        `update dispatches set due_at = now() where ctid in (
           select ctid from dispatches where plan_id = $1 and due_at > now() for update skip locked)`,
        [plan],
      )
      await db.query(
        `update event_deliveries set due_at = now() where ctid in (
           select ctid from event_deliveries
           where plan_id = $1 and holder is null and state = 'waiting' and due_at > now() for update skip locked)`,
        [plan],
      )
    },
  }
}

async function keyOfPlan(db: Database, servicePlanId: string): Promise<number> {
  const { rows } = await db.query<{ id: number }>('select id from service_plans where service_plan_id = $1', [
    servicePlanId,
  ])
  return rows[0]!.id
}

async function outbox(db: Database, msgId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::integer as count from event_deliveries where msg_id = $1 and state <> 'failed'`,
    [msgId],
  )
  return rows[0]!.count
}

/** A request with this token; the body is sent and read as JSON. */
export async function call(
  url: string,
  token: string,
  method = 'GET',
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await httpRequest(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  return {
    status: answer.status,
    headers: answer.headers,
    body: answer.text === '' ? null : JSON.parse(answer.text),
  }
}
