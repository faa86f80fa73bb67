import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Registry } from 'prom-client'
import { hasDuty } from '../domain/nodes.ts'
import { deriveKey } from '../domain/secrets.ts'
import { builtFiles } from '../http/browser-pages.ts'
import { ConsoleSessions } from '../http/console-sessions.ts'
import { HTTP_LIMITS, type HttpLimits } from '../http/limits.ts'
import { httpMetrics, mergedMetrics } from '../http/metrics.ts'
import { freshDirectory } from '../http/outages.ts'
import { registerAdminRoutes } from '../http/routes/admin/api.ts'
import type { Readiness } from '../http/routes/health.ts'
import { buildServer, type ServerDeps } from '../http/server.ts'
import { MessageReads } from '../operations/read-messages.ts'
import { TestEvents, type TestEventsDeps } from '../operations/send-tests.ts'
import { GroupAccepter } from '../operations/sends/accept-messages.ts'
import { LimitedAccepter } from '../operations/sends/accept-within-limits.ts'
import { LaneFollower } from '../services/journal/lane-follower.ts'
import type { NodeLease } from '../services/node/node-lease.ts'
import { OUTCOME_TABLE } from '../services/sandbox/sandbox.ts'
import { checkDurability, type Queryable } from '../store/database.ts'
import { ASYNCHRONOUS } from './database.ts'
import type { Limits } from './limits.ts'
import type { MessagePath } from './message-path.ts'
import { type AppOptions, DRAIN, ListenError, type WorkerOptions } from './options.ts'
import type { Platform } from './platform.ts'

type Server = Awaited<ReturnType<typeof buildServer>>

interface Ports {
  readonly port: number
  /** The port of the operators' own listener; null when operators are served at `port`. */
  readonly operatorPort: number | null
}

export interface HttpListener {
  /** From now on the routes answer requests instead of 503. @throws ListenError */
  open(): Promise<Ports>
  /** Stops listening, and answers requests that have begun. */
  close(): Promise<void>
}

/**
 * The HTTP server listens before anything is started, so that a port in use fails a start that has taken nothing yet. Until
 * `open` it answers only health checks. A worker whose siblings listen already starts listening at `open`; until then they
 * take the connections.
 *
 * @throws ListenError
 */
export async function listenHttp(
  options: AppOptions,
  platform: Platform,
  path: MessagePath,
  limits: Limits,
): Promise<HttpListener> {
  const { lease, reports, inProgress, submitter, sandbox, links, quality, backlog, readAlarms, testAlarms } =
    path
  const { anomalies, databases, directoryService, guard, records, secretKey, random, registry } = platform
  const { db, reads } = databases
  const { now: clock } = platform.clock
  const { log, worker } = options
  const others = new LaneFollower({ db: reads, ownLane: () => inProgress.lane, log })
  const readsOf = (from: Queryable) => messageReads(reads, from, inProgress, others)
  const messages = readsOf(records)
  // Whether a message is accepted is never the replica's answer.
  const accepter = accepterOf(options, platform, path, limits, readsOf(reads))
  const testEvents = startTestEvents(platform)
  const carrierCondition = (carrierId: number, routeId: number) => submitter.conditionOf(carrierId, routeId)
  const heldCause = (msgId: string) => submitter.backlog({ only: msgId })[0]?.cause ?? null
  const gate = { isOpen: false }
  const sessions = sessionsOf(options, platform)
  const headerSettings = { secretKey, tracedShare: options.traces?.share ?? 0 }
  const shared = { records, headerSettings, guard, testEvents, messages, carrierCondition, heldCause, clock }
  const deps: ServerDeps = {
    ...shared,
    directory: freshDirectory(directoryService),
    accepter,
    db: reads,
    writes: db,
    sandbox: { outcomes: OUTCOME_TABLE, send: (message) => sandbox.send(message) },
    keys: cursorKeys(options),
    rateLimits: limits.rateLimits,
    limits: limitsOf(options),
    baseUrl: options.baseUrl,
    cgiSendsms: options.cgiSendsms === true,
    retentionDays: options.retentionDays,
    isOpen: () => gate.isOpen,
    ready: () => readiness(platform, lease, options),
    random,
    log,
    registry,
    ...(sessions && { sessions, pages: pagesOf(options) }),
    ...(worker && { scrape: scrapeOfAll(registry, worker) }),
    adminRoutes: (admin) =>
      registerAdminRoutes(admin, {
        ...shared,
        db,
        reads,
        directory: directoryOfAll(directoryService, worker),
        secretKey,
        operatorTokenHashes: options.operatorTokenHashes,
        sessions,
        linkSummary: (carrierId) => links.summary(carrierId),
        carrierAnomalies: (carrierId) => anomalies.of(carrierId),
        ownReport: () => reports.own(),
        quality,
        refreshPauses: limits.refreshPauses,
        backlog,
        readAlarms,
        testAlarms,
      }),
  }
  return await openLater(await buildServers(deps, options), gate, worker)
}

function accepterOf(
  { log }: AppOptions,
  { counters, databases: { db }, random, secretKey, traces }: Platform,
  { inProgress, statistics, submitter }: MessagePath,
  limits: Limits,
  messages: MessageReads,
): LimitedAccepter {
  const accepter = new GroupAccepter({
    db,
    messages,
    secretKey,
    random,
    log,
    onBatch: counters.batch,
    onAccepted: ({ msgId, accepted }, latencyMs, { traceparent }) => {
      statistics.accepted(accepted, latencyMs)
      if (traces?.samples(msgId)) traces.accepted(msgId, accepted, latencyMs, traceparent)
    },
    journal: inProgress,
    placement: submitter.placement,
  })
  return new LimitedAccepter({ accepter, limits, log })
}

/** The servers listen now. Those of a worker that joins others listen at `open`. */
async function openLater(
  servers: readonly Listener[],
  gate: { isOpen: boolean },
  worker: WorkerOptions | undefined,
): Promise<HttpListener> {
  const close = async () => {
    await Promise.all(servers.map(({ server }) => server.close()))
  }
  let ports: Ports | null = null
  if (worker?.listensFirst !== false) {
    ports = await listenAll(servers, worker).catch(async (error) => {
      await close()
      throw error
    })
  }
  const open = async () => {
    gate.isOpen = true
    ports ??= await listenAll(servers, worker)
    return ports
  }
  return { open, close }
}

interface Listener {
  readonly name: ListenError['listener']
  readonly server: Server
  readonly host: string
  readonly port: number
}

/** One server for all, or one for customers and one for operators. Customers are served if that is the node's role. */
async function buildServers(deps: ServerDeps, options: AppOptions): Promise<readonly Listener[]> {
  const { httpHost: host, httpPort: port, nodeRole = 'all', operatorPort, operatorHost = host } = options
  const isApi = hasDuty(nodeRole, 'api')
  if (operatorPort === undefined) {
    const server = await buildServer(isApi ? deps : { ...deps, serves: 'operators' })
    return [{ name: 'http', server, host, port }]
  }
  const shared = { ...deps, metrics: httpMetrics(deps.registry) }
  const customers = await buildServer({ ...shared, serves: isApi ? 'customers' : 'nobody' })
  const operators = await buildServer({ ...shared, serves: 'operators' })
  return [
    { name: 'http', server: customers, host, port },
    { name: 'operators', server: operators, host: operatorHost, port: operatorPort },
  ]
}

async function listenAll(servers: readonly Listener[], worker: WorkerOptions | undefined): Promise<Ports> {
  const ports: number[] = []
  for (const listener of servers) ports.push(await portOf(listener, worker !== undefined))
  const [port, operatorPort = null] = ports
  return { port: port!, operatorPort }
}

/**
 * Does not use Fastify's own `listen`: for `localhost` that opens another server at each further address of the name, without
 * the limits of this one, and does not drain it.
 */
async function portOf(listener: Listener, reusePort: boolean): Promise<number> {
  const { host, port } = listener
  await listener.server.ready()
  const { server } = listener.server
  server.listen({ host, port, reusePort })
  await once(server, 'listening').catch((error) => {
    throw new ListenError(listener.name, error)
  })
  return (server.address() as AddressInfo).port
}

/** A scrape cannot choose a worker, so each worker returns the figures of all. */
function scrapeOfAll(registry: Registry, { siblings }: WorkerOptions): () => Promise<string> {
  return async () => {
    const [own, rest] = await Promise.all([registry.getMetricsAsJSON(), siblings.metrics()])
    return mergedMetrics([own, ...rest])
  }
}

/** A change made through one worker reaches all workers before it is answered, because the next request may reach another. */
function directoryOfAll(
  service: Platform['directoryService'],
  worker: WorkerOptions | undefined,
): Pick<Platform['directoryService'], 'current' | 'fresh' | 'refresh'> {
  const refresh = async () => {
    await Promise.all([service.refresh(), worker?.siblings.refresh()])
  }
  return { current: () => service.current(), fresh: () => service.fresh(), refresh }
}

function cursorKeys({ secretKey, previousSecretKey }: AppOptions) {
  const oldCursors = previousSecretKey === undefined ? [] : [deriveKey(previousSecretKey, 'cursors')]
  return { cursor: deriveKey(secretKey, 'cursors'), oldCursors }
}

function limitsOf({ httpLimits: limits = HTTP_LIMITS, drainTimeoutMs }: AppOptions): HttpLimits {
  return { ...limits, drainTimeoutMs: Math.min(limits.drainTimeoutMs, drainTimeoutMs * DRAIN.requests) }
}

/** None where the console is turned off. */
function sessionsOf(options: AppOptions, { clock, random }: Platform): ConsoleSessions | undefined {
  const { secretKey, previousSecretKey, console = true } = options
  if (!console) return undefined
  const older = previousSecretKey === undefined ? [] : [deriveKey(previousSecretKey, 'sessions')]
  return new ConsoleSessions({
    keys: [deriveKey(secretKey, 'sessions'), ...older],
    random,
    clock: clock.now,
  })
}

function pagesOf({ operatorTokenHashes }: AppOptions): NonNullable<ServerDeps['pages']> {
  return { operatorTokenHashes, console: builtFiles('console'), docs: builtFiles('docs') }
}

function messageReads(
  db: Queryable,
  records: Queryable,
  own: MessagePath['inProgress'],
  others: LaneFollower,
): MessageReads {
  return new MessageReads({ db, records, own, others, clock: () => performance.now(), wait })
}

/** Test events share the sockets of all other webhooks. */
function startTestEvents({ clock, sender, guard, secretKey, random }: Platform): TestEvents {
  const post: TestEventsDeps['post'] = (account, webhook) =>
    new Promise((ended) => sender.post(account, webhook, ended))
  return new TestEvents({ post, guard, secretKey, random, clock: clock.now })
}

/**
 * Replication, a second primary, unreadable secrets and missing roles are reported, but do not make a node unready, because another
 * node would be no better.
 */
async function readiness(
  { clock, databases: { db, server }, directory }: Platform,
  lease: NodeLease,
  options: AppOptions,
): Promise<Readiness> {
  const checks: Record<string, string> = { lease: lease.alive ? 'ok' : 'not renewed in time' }
  if (clock.isFarOff) checks.clock = offText(clock.aheadMs)
  let replication = {}
  try {
    const { faults, replicated, synchronous } = await checkDurability(db)
    const unsafe = faults.length > 0 && !options.allowUnsafeDurability
    checks.database = unsafe ? `accepted messages can be lost: ${faults.join(', ')}` : 'ok'
    if ((replicated || server.hosts.several) && !synchronous) replication = { replication: ASYNCHRONOUS }
  } catch {
    checks.database = 'does not answer'
  }
  const ok = Object.values(checks).every((check) => check === 'ok')
  const { unreadable } = directory()
  const secrets = unreadable.length > 0 && { secrets: `cannot be decrypted: ${unreadable.length}` }
  const { rivals } = server.hosts
  const primaries = rivals.length > 0 && { primaries: rivals.join('; ') }
  const roles = lease.alive && lease.lacking.length > 0 && { roles: lease.lacking.join('; ') }
  return { ok, checks: { ...checks, ...replication, ...primaries, ...secrets, ...roles } }
}

function offText(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000)
  return `${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database`
}
