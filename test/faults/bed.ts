/** The parts of a run: a database, nodes, carriers, receivers, relays between them, and a customer's load. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SeededRandom } from '../../bench/seeded-random.ts'
import { requestAdmin } from '../../src/commands/admin/client.ts'
import { createServerCertificate, createTestAuthority } from '../support/certificates.ts'
import { CITUS_SETTINGS, joinCluster } from '../support/citus.ts'
import { startPooler } from '../support/pooler.ts'
import { freePort, SERVE_SECRETS } from '../support/process.ts'
import { Carrier } from './carrier.ts'
import { holdsWithin } from './clock.ts'
import type { FeedItem, Inbound, LookUp, Session, Submit, Webhook } from './ledgers.ts'
import { NodeProcess } from './node-process.ts'
import { PostgresServer } from './postgres-server.ts'
import { Receiver } from './receiver.ts'
import { Relay, Relays } from './relay.ts'
import { type Plan, read } from './service-client.ts'

export const SENDER = 'Faults'
export const INBOUND_NUMBER = '+15550001000'
const WINDOW = 20
/** How long a message that may have been submitted waits for news; the product's own default is two minutes. */
const AMBIGUITY_WAIT_MS = 5_000
const READY_MS = 120_000

/** Moments at which something can be killed. */
export type Point = 'accepted' | 'submit' | 'receipt' | 'inbound' | 'webhook'

export interface BedOptions {
  readonly nodes: number
  /** For temporary files; the nodes' logs stay there. */
  readonly folder: string
  /** Additional lines of the database's configuration. */
  readonly settings?: readonly string[]
  /** The database's folder; default: one of its own. */
  readonly databaseFolder?: string | undefined
  readonly hasStandby: boolean
  readonly random: SeededRandom
}

export class Bed implements AsyncDisposable {
  readonly options: BedOptions
  readonly nodes: NodeProcess[] = []
  readonly carriers: Carrier[] = []
  readonly carrierRelays: Relay[] = []
  readonly receivers: Receiver[] = []
  readonly plans: Plan[] = []
  readonly submits: Submit[] = []
  readonly sessions: Session[] = []
  readonly inbound: Inbound[] = []
  readonly webhooks: Webhook[] = []
  readonly feed: FeedItem[] = []
  readonly lookUps: LookUp[] = []
  /** Called for each accepted webhook. */
  onWebhook: (webhook: Webhook) => void = () => undefined
  database!: PostgresServer
  standby: PostgresServer | null = null
  /** With Citus, which `TEST_CITUS` asks for, by the number of them: `database` is their coordinator. */
  readonly workers: PostgresServer[] = []
  databaseRelays!: Relays
  readonly #points = new Map<Point, (() => void)[]>()
  readonly #cleanups: (() => Promise<unknown>)[] = []

  private constructor(options: BedOptions) {
    this.options = options
  }

  static async make(options: BedOptions): Promise<Bed> {
    const bed = new Bed(options)
    try {
      await bed.#assemble()
      return bed
    } catch (error) {
      await bed[Symbol.asyncDispose]()
      throw error
    }
  }

  get baseUrls(): string[] {
    return this.nodes.map(({ baseUrl }) => baseUrl)
  }

  /** Resolves the next time it happens, or after `deadlineMs`. */
  reached(point: Point, deadlineMs = 5_000): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#points.set(point, [...(this.#points.get(point) ?? []), resolve])
    const timer = setTimeout(resolve, deadlineMs)
    return promise.finally(() => clearTimeout(timer))
  }

  /** Called by the code that sees it happen. */
  pass(point: Point): void {
    const waiting = this.#points.get(point)
    if (waiting === undefined || waiting.length === 0) return
    this.#points.set(point, [])
    for (const resolve of waiting) resolve()
  }

  /** Sends an operator's request to any node that answers. */
  async admin(method: string, path: string, body?: object): Promise<unknown> {
    let failure: unknown
    for (const { baseUrl } of this.nodes)
      try {
        return await requestAdmin(
          { url: baseUrl, operatorToken: SERVE_SECRETS.OPERATOR_TOKEN },
          method,
          path,
          body,
        )
      } catch (error) {
        failure = error
      }
    throw failure
  }

  /** A standby that every COMMIT waits for. */
  async addStandby(): Promise<void> {
    this.standby = await this.database.standby()
    await this.database.run(`alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()')
  }

  /** Ends the server with this. */
  owns(server: PostgresServer): void {
    this.#cleanups.push(() => server.dispose())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const cleanup of this.#cleanups.splice(0).reverse()) await cleanup().catch(() => undefined)
  }

  async #assemble(): Promise<void> {
    const { folder, settings = [], databaseFolder, hasStandby } = this.options
    mkdirSync(folder, { recursive: true })
    const workers = Number(process.env.TEST_CITUS ?? 0)
    const all = workers > 0 ? [...CITUS_SETTINGS, ...settings] : settings
    this.database = await PostgresServer.create(all, databaseFolder)
    this.#cleanups.push(async () => {
      await this.standby?.dispose()
      await this.database.dispose()
    })
    if (workers > 0) await this.#addWorkers(workers)
    this.databaseRelays = await Relays.start(await this.#databasePort(), this.options.nodes)
    this.#cleanups.push(() => this.databaseRelays.stop())
    const authorityFile = await this.#addReceivers(folder)
    await this.#addCarriers()
    await this.#addNodes(folder, authorityFile)
    await this.#provision()
    if (hasStandby) await this.addStandby()
    const isReady = await holdsWithin(READY_MS, async () => this.isBound() && (await this.#isKnown()))
    if (!isReady) throw new Error(`carriers were not bound, or tokens not known, within ${READY_MS} ms`)
  }

  /** Resolves when every carrier has as many sessions as are configured. */
  isBound(): boolean {
    return this.carriers.every(({ sessionsNow }) => sessionsNow === this.#binds)
  }

  /** Resolves when every node knows every plan's token. */
  async #isKnown(): Promise<boolean> {
    const pairs = this.plans.flatMap((plan) => this.baseUrls.map((url) => [url, plan] as const))
    const answers = await Promise.all(pairs.map(([url, plan]) => read(url, plan, '/v1/events')))
    return answers.every(({ status }) => status === 200)
  }

  get #binds(): number {
    return Math.max(2, this.options.nodes)
  }

  async #addWorkers(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const worker = await PostgresServer.create(CITUS_SETTINGS)
      this.workers.push(worker)
      this.owns(worker)
    }
    await joinCluster(this.database, this.workers, (server, ...statements) => server.run(...statements))
  }

  /** The port of PostgreSQL, or of the pooler in front of it that `TEST_POOLER` names. */
  async #databasePort(): Promise<number> {
    const { TEST_POOLER } = process.env
    if (!TEST_POOLER) return this.database.port
    const pooler = await startPooler(TEST_POOLER, this.database)
    this.#cleanups.push(() => pooler.stop())
    return Number(new URL(pooler.connectionString).port)
  }

  /** In this order: for the default URL, for callbackUrls, for inbound messages. */
  async #addReceivers(folder: string): Promise<string> {
    const authority = await createTestAuthority()
    const certificate = await createServerCertificate(authority, ['127.0.0.1'])
    const authorityFile = join(folder, 'authority.pem')
    writeFileSync(authorityFile, authority.certPem)
    for (let index = 0; index < 3; index += 1) {
      const receiver = new Receiver(
        certificate,
        this.webhooks,
        (webhook) => this.onWebhook(webhook),
        () => this.pass('webhook'),
      )
      await receiver.start()
      this.receivers.push(receiver)
      this.#cleanups.push(() => receiver.dispose())
    }
    return authorityFile
  }

  async #addCarriers(): Promise<void> {
    for (const [index, name] of ['north', 'south'].entries()) {
      const carrier = new Carrier({
        name,
        port: await freePort(),
        window: WINDOW,
        mixesIds: index === 1,
        sessions: this.sessions,
        submits: this.submits,
        inbound: this.inbound,
        onPoint: (point) => this.pass(point),
      })
      await carrier.start()
      this.carriers.push(carrier)
      this.#cleanups.push(() => carrier.dispose())
      const relay = await Relay.start(carrier.port)
      this.carrierRelays.push(relay)
      this.#cleanups.push(() => relay.stop())
    }
  }

  async #addNodes(folder: string, authorityFile: string): Promise<void> {
    const env = {
      ...SERVE_SECRETS,
      HTTP_HOST: '127.0.0.1',
      LOG_LEVEL: 'warn',
      AMBIGUITY_WAIT_MS: String(AMBIGUITY_WAIT_MS),
      DRAIN_TIMEOUT_MS: '15000',
      WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32',
      WEBHOOK_EXTRA_CA: authorityFile,
    }
    for (let index = 0; index < this.options.nodes; index += 1) {
      const databasePort = this.databaseRelays.ofNodes[index]!.port
      const own = { ...env, DATABASE_URL: `postgresql://aldis@127.0.0.1:${databasePort}/postgres` }
      const node = new NodeProcess(index, await freePort(), own, join(folder, `node-${index}.log`))
      this.nodes.push(node)
      this.#cleanups.push(() => node.kill())
      await node.start()
    }
  }

  async #provision(): Promise<void> {
    const ask = (method: string, path: string, body: object) =>
      this.admin(method, path, body) as Promise<Record<string, string>>
    for (const [index, { name }] of this.carriers.entries()) {
      const link = {
        host: '127.0.0.1',
        port: this.carrierRelays[index]!.port,
        systemId: 'faults',
        password: 'secret',
      }
      await ask('POST', '/carriers', { name, ...link, window: WINDOW, binds: this.#binds })
    }
    const carriers = this.carriers.map(({ name }) => ({ carrier: name }))
    await ask('POST', '/routes', { name: 'route', carriers })
    const [defaultUrl, callbackUrl, inboundUrl] = this.receivers.map(({ url }) => url)
    const told = { defaultUrl: defaultUrl!, callbackUrl: callbackUrl!, keepsDoubtful: false }
    await this.#addPlan({ ...told }, { inboundUrl })
    await this.#addPlan({ ...told, defaultUrl: null }, {})
    const silent = { defaultUrl: null, callbackUrl: null, keepsDoubtful: true }
    await this.#addPlan(silent, { ambiguousSubmits: 'unknown' })
    const { servicePlanId } = this.plans[0]!
    await ask('POST', '/inbound-numbers', { number: INBOUND_NUMBER, servicePlanId })
  }

  /** Has an account of its own, because reads are limited by account. */
  async #addPlan(plan: Pick<Plan, 'defaultUrl' | 'callbackUrl' | 'keepsDoubtful'>, settings: object) {
    const ask = (method: string, path: string, body: object) =>
      this.admin(method, path, body) as Promise<Record<string, string>>
    const name = `Plan ${this.plans.length}`
    const { accountId } = await ask('POST', '/accounts', { name })
    if (plan.defaultUrl !== null)
      await ask('PATCH', `/accounts/${accountId}`, { defaultDlrUrl: plan.defaultUrl })
    const { servicePlanId } = await ask('POST', '/service-plans', {
      accountId,
      name,
      route: 'route',
      ...settings,
    })
    await ask('PUT', `/service-plans/${servicePlanId}/senders/${SENDER}`, { status: 'approved' })
    const { token } = await ask('POST', '/tokens', { accountId, name })
    this.plans.push({ index: this.plans.length, servicePlanId: servicePlanId!, token: token!, ...plan })
  }
}
