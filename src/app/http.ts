import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { deriveKey } from '../domain/secrets.ts'
import { freshDirectory } from '../http/fresh-directory.ts'
import { HTTP_LIMITS } from '../http/limits.ts'
import { httpMetrics } from '../http/metrics.ts'
import { registerAdminRoutes } from '../http/routes/admin/api.ts'
import type { Readiness } from '../http/routes/health.ts'
import { buildServer, type ServerDeps } from '../http/server.ts'
import { GroupAccepter } from '../operations/accept-messages.ts'
import { MessageReads } from '../operations/read-messages.ts'
import { TestEvents, type WebhookPost } from '../operations/send-test-event.ts'
import { postWebhook } from '../outbound/webhook-post.ts'
import type { Parts } from '../parts.ts'
import { backlogMetrics } from '../services/backlog-metrics.ts'
import { BacklogWatch } from '../services/backlog-watch.ts'
import { LaneFollower } from '../services/lane-follower.ts'
import { serviceMetrics } from '../services/metrics.ts'
import { checkDurability } from '../store/database.ts'
import type { Base } from './base.ts'
import { ASYNCHRONOUS } from './database.ts'
import { ListenError } from './listen-error.ts'
import type { MessagePath } from './message-path.ts'
import { type AppOptions, DRAIN } from './options.ts'

type Server = Awaited<ReturnType<typeof buildServer>>

export interface HttpListener {
  readonly port: number
  /** Of the operators' own listener; null when they are served at `port`. */
  readonly operatorPort: number | null
  /** From now on every request is answered by its route, and no longer with 503. */
  open(): void
  /** Stops listening and answers what has begun. */
  close(): Promise<void>
}

/**
 * The HTTP server listens before anything is started, so that a port in use fails a start that has taken nothing yet. Until
 * `open` it answers health checks only. @throws ListenError
 */
export async function listenHttp(
  options: AppOptions,
  parts: Parts,
  services: Base & MessagePath,
): Promise<HttpListener> {
  const { db, reads, directoryService, guard, secretKey, onError, random, registry, links, quality } =
    services
  const { batch: onBatch } = services.counters
  const accepter = new GroupAccepter({
    db,
    journal: services.inProgress,
    placement: services.submitter.newMessages,
    secretKey,
    random,
    onBatch,
    onError,
  })
  const testEvents = startTestEvents(parts, services)
  const messages = messageReads(services)
  const backlog = new BacklogWatch({
    reads,
    directory: services.directory,
    held: () => services.submitter.backlog(),
    conditionOf: (carrierId, routeId) => services.submitter.conditionOf(carrierId, routeId),
    clock: services.clock.nowMs,
  })
  serviceMetrics(registry, services)
  backlogMetrics(registry, backlog)
  let isOpen = false
  const limits = options.httpLimits ?? HTTP_LIMITS
  const drainTimeoutMs = Math.min(limits.drainTimeoutMs, options.drainTimeoutMs * DRAIN.requests)
  const deps: ServerDeps = {
    directory: freshDirectory(directoryService),
    accepter,
    db: reads,
    writes: db,
    guard,
    testEvents,
    messages,
    keys: cursorKeys(options),
    limits: { ...limits, drainTimeoutMs },
    baseUrl: options.baseUrl,
    retentionDays: options.retentionDays,
    isOpen: () => isOpen,
    ready: () => readiness(services, options),
    clock: services.clock.nowMs,
    random,
    log: options.log,
    registry,
    adminRoutes: (admin) =>
      registerAdminRoutes(admin, {
        db,
        reads,
        directory: directoryService,
        secretKey,
        operatorTokenHashes: options.operatorTokenHashes,
        clock: services.clock.nowMs,
        guard,
        testEvents,
        messages,
        linkStatus: (carrierId) => links.summary(carrierId),
        carrierAnomalies: (carrierId) => services.anomalies.of(carrierId),
        carrierCondition: (carrierId, routeId) => services.submitter.conditionOf(carrierId, routeId),
        quality,
        backlog,
      }),
  }
  const open = () => {
    isOpen = true
  }
  return { ...(await listen(deps, options)), open }
}

/** One server for all, or one for customers and one for operators. When the second cannot listen, the first is closed. */
async function listen(deps: ServerDeps, options: AppOptions): Promise<Omit<HttpListener, 'open'>> {
  const { httpHost, httpPort, operatorPort, operatorHost = httpHost } = options
  if (operatorPort === undefined) {
    const server = await buildServer(deps)
    const port = await portOf('http', server, httpHost, httpPort)
    return { port, operatorPort: null, close: () => server.close() }
  }
  const shared = { ...deps, metrics: httpMetrics(deps.registry) }
  const customers = await buildServer({ ...shared, serves: 'customers' })
  const operators = await buildServer({ ...shared, serves: 'operators' })
  const close = async () => {
    await Promise.all([customers.close(), operators.close()])
  }
  try {
    const port = await portOf('http', customers, httpHost, httpPort)
    return { port, operatorPort: await portOf('operators', operators, operatorHost, operatorPort), close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Not by Fastify's own `listen`: for `localhost` it opens another server at each further address of the name, which has
 * none of the bounds of this one and is not drained.
 */
async function portOf(
  listener: ListenError['listener'],
  app: Server,
  host: string,
  port: number,
): Promise<number> {
  await app.ready()
  const { server } = app
  server.listen({ host, port })
  await once(server, 'listening').catch((error) => {
    throw new ListenError(listener, error)
  })
  return (server.address() as AddressInfo).port
}

function cursorKeys({ secretKey, previousSecretKey }: AppOptions) {
  const oldCursors = previousSecretKey === undefined ? [] : [deriveKey(previousSecretKey, 'cursors')]
  return { cursor: deriveKey(secretKey, 'cursors'), oldCursors }
}

function messageReads({ reads, onError, inProgress: own }: Base & MessagePath): MessageReads {
  return new MessageReads({
    db: reads,
    own,
    others: new LaneFollower({ db: reads, ownLane: () => own.lane, onError }),
    clock: () => performance.now(),
    wait: (ms) => wait(ms),
  })
}

/** Test events go through the sockets of all others; what is under way is ended when the server is down. */
function startTestEvents(
  parts: Parts,
  { clock, dispatcher, guard, secretKey, random }: Base & MessagePath,
): TestEvents {
  const abort = new AbortController()
  parts.add('test events', () => abort.abort())
  const post = (request: WebhookPost) => postWebhook(dispatcher, { ...request, signal: abort.signal })
  return new TestEvents({ post, guard, secretKey, random, clock: clock.nowMs })
}

/** The replication is said, and does not make a node unready: another node would be no better. */
async function readiness(
  { clock, db, lease, severalHosts }: Base & MessagePath,
  options: AppOptions,
): Promise<Readiness> {
  const checks: Record<string, string> = { lease: lease.alive ? 'ok' : 'not renewed in time' }
  if (clock.isFarOff) checks.clock = offText(clock.aheadMs)
  let replication = {}
  try {
    const { faults, replicated, synchronous } = await checkDurability(db)
    const unsafe = faults.length > 0 && !options.allowUnsafeDurability
    checks.database = unsafe ? `accepted messages can be lost: ${faults.join(', ')}` : 'ok'
    if ((replicated || severalHosts) && !synchronous) replication = { replication: ASYNCHRONOUS }
  } catch {
    checks.database = 'does not answer'
  }
  const ok = Object.values(checks).every((check) => check === 'ok')
  return { ok, checks: { ...checks, ...replication } }
}

function offText(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000)
  return `${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database`
}
