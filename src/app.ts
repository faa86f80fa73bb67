import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import type { CallbackPolicy } from './domain/callback-url.ts'
import { deriveKey } from './domain/secrets.ts'
import { AppError } from './errors.ts'
import { HTTP_LIMITS, type HttpLimits } from './http/limits.ts'
import { processRegistry } from './http/metrics.ts'
import { registerAdminRoutes } from './http/routes/admin/api.ts'
import type { Readiness } from './http/routes/health.ts'
import { buildServer } from './http/server.ts'
import { GroupAccepter } from './operations/accept-messages.ts'
import { CallbackGuard } from './outbound/callback-guard.ts'
import { WebhookDispatcher } from './outbound/dispatcher.ts'
import { NameResolver } from './outbound/resolver.ts'
import { Parts } from './parts.ts'
import { randomPool } from './random-pool.ts'
import type { LinkTimings } from './services/carrier-link.ts'
import { carrierTraffic } from './services/carrier-traffic.ts'
import { ensurePartitions } from './services/day-partitions.ts'
import { DirectoryService } from './services/directory.ts'
import { heldEvents, heldInboundEvents } from './services/held-events.ts'
import { Holdings } from './services/holdings.ts'
import { IdRules } from './services/id-rules.ts'
import { Maintenance } from './services/maintenance.ts'
import { eventCounters, serviceMetrics } from './services/metrics.ts'
import { NodeLease } from './services/node-lease.ts'
import { qualityMeters } from './services/quality-meters.ts'
import { QualityWatch } from './services/quality-watch.ts'
import { Receiver } from './services/receiver.ts'
import { Recorder } from './services/recorder.ts'
import { AMBIGUITY_WAIT_MS } from './services/submitter.ts'
import { MAX_PER_DESTINATION, WebhookDeliverer } from './services/webhook-deliverer.ts'
import {
  checkDurability,
  type Database,
  MINIMUM_SERVER_VERSION,
  openDatabase,
  serverVersion,
} from './store/database.ts'
import { freeDispatches, releaseDispatches } from './store/dispatches.ts'
import { migrate } from './store/migrate.ts'
import { releaseEvents } from './store/webhook-events.ts'

export interface AppOptions {
  readonly connectionString: string
  readonly databasePoolSize: number
  readonly databasePrepared: boolean
  readonly databaseStatementTimeoutMs: number
  readonly allowUnsafeDurability: boolean
  readonly httpHost: string
  readonly httpPort: number
  readonly baseUrl: string | null
  /** Master key, 32 bytes. */
  readonly secretKey: Buffer
  /** SHA-256 of each, hex. */
  readonly operatorTokenHashes: readonly string[]
  /** Unique among the nodes of a database; a node takes the place of an earlier one of its name at once. */
  readonly nodeName: string
  readonly retentionDays: number
  readonly drainTimeoutMs: number
  readonly callbackPolicy: CallbackPolicy
  readonly webhookCaPem?: string | undefined
  readonly dnsServers: readonly string[]
  readonly log: Logger
  /** This node's place was taken by another: it must be stopped. */
  readonly onReplaced?: () => void
  readonly ambiguityWaitMs?: number
  readonly linkTimings?: LinkTimings
  readonly heartbeatMs?: number
  readonly holdingsMs?: number
  readonly qualityMs?: number
  /** Clock of the quality watch, Unix milliseconds. */
  readonly qualityClock?: () => number
  readonly httpLimits?: HttpLimits
}

export interface App {
  /** Where the HTTP server listens, http://address:port. */
  readonly url: string
  readonly port: number
  /** Stops accepting, finishes what is under way, gives the rest back. Never rejects; at most `drainTimeoutMs`. */
  stop(): Promise<void>
}

/** Shares of drainTimeoutMs that the parts may take to stop, one after the other; an unbind takes its share twice. */
const DRAIN = { requests: 0.2, submits: 0.3, unbinds: 0.1, outcomes: 0.1, webhooks: 0.15 }

/** A node that cannot run on this database; the message is for the operator. */
class StartError extends Error {
  override readonly name = 'StartError'
}

/** Builds a node, starts its parts in order, and gives it when everything answers. */
export async function startApp(options: AppOptions): Promise<App> {
  const parts = new Parts(options.log, options.drainTimeoutMs)
  try {
    const base = await startBase(options, parts)
    const path = await startMessagePath(options, parts, base)
    const port = await startHttp(options, parts, { ...base, ...path })
    const host = options.httpHost.includes(':') ? `[${options.httpHost}]` : options.httpHost
    return { url: `http://${host}:${port}`, port, stop: () => parts.stop() }
  } catch (error) {
    await parts.stop()
    throw error
  }
}

const READ_POOL_SIZE = 4
const READ_TIMEOUT_MS = 5_000

/** What everything else stands on. */
async function startBase(options: AppOptions, parts: Parts) {
  const { log } = options
  const onError = (message: string, error: unknown) => log.error({ err: error }, message)
  const random = randomPool()
  const registry = processRegistry()
  const counters = eventCounters(registry)
  const onUnowned = (count: number) => {
    counters.unowned(count)
    log.warn({ count }, 'inbound messages to numbers that nobody owns')
  }
  const secretKey = deriveKey(options.secretKey, 'secrets')
  const db = await startDatabase(options)
  parts.add('database', () => db.end())
  // Customers' look-ups and lists have connections of their own: a slow one takes none from the message path. Nor does
  // anything from the heartbeat.
  const reads = openPool(options, { poolSize: READ_POOL_SIZE, statementTimeoutMs: READ_TIMEOUT_MS })
  const beats = openPool(options, { poolSize: 1, statementTimeoutMs: READ_TIMEOUT_MS })
  parts.add('database, reads and beats', () => Promise.all([reads.end(), beats.end()]))
  const directoryService = new DirectoryService({
    db,
    secretKey,
    clock: () => performance.now(),
    onError: (error) => onError('configuration not read', error),
  })
  await directoryService.start()
  parts.add('directory', () => directoryService.stop())
  const resolver = new NameResolver({ servers: options.dnsServers })
  parts.add('resolver', () => resolver.close())
  const guard = new CallbackGuard(options.callbackPolicy, resolver)
  const directory = () => directoryService.current()
  return {
    registry,
    counters,
    onUnowned,
    db,
    reads,
    beats,
    directoryService,
    directory,
    guard,
    secretKey,
    onError,
    random,
  }
}

type Base = Awaited<ReturnType<typeof startBase>>

/** From the database to the carriers and the customers' webhooks, and back. */
async function startMessagePath(options: AppOptions, parts: Parts, base: Base) {
  const { db, directory, guard, secretKey, onError, random } = base
  const { log } = options
  const quality = await startQualityWatch(options, base)
  parts.add('quality watch', () => quality.stop())
  const dispatcher = new WebhookDispatcher(guard, {
    caPem: options.webhookCaPem,
    maxSocketsPerOrigin: MAX_PER_DESTINATION,
  })
  parts.add('webhook sockets', () => dispatcher.close())
  const lease = await startLease(options, base, () => {
    deliverer.forget()
    return submitter.forget()
  })
  parts.add('lease', () => lease.stop())

  const shared = { db, directory, lease, random, onError }
  const deliverer: WebhookDeliverer = new WebhookDeliverer({ ...shared, dispatcher, secretKey })
  parts.add('webhook deliverer', () => deliverer.stop(options.drainTimeoutMs * DRAIN.webhooks))
  const eventHolder = () => deliverer.holder()
  const idRules = new IdRules({
    db,
    directory,
    nowMs: Date.now,
    onLearned: ({ name }, rule) => log.info({ carrier: name, idRule: rule }, 'id rule learned from receipts'),
  })
  const recorder = new Recorder({
    db,
    directory,
    idRules,
    eventHolder,
    onChanged: (messages) => {
      deliverer.enqueue(heldEvents(messages, lease.nodeId))
      quality.changed(messages)
    },
    onError,
  })
  parts.add('recorder', () => recorder.drain(options.drainTimeoutMs * DRAIN.outcomes))
  const receiver = new Receiver({
    ...shared,
    recorder,
    eventHolder,
    onUnowned: base.onUnowned,
    onAnomaly: base.counters.anomaly,
    onReceived: (received) => deliverer.enqueue(heldInboundEvents(received, lease.nodeId)),
  })
  const { submitter, links, binds, follow } = carrierTraffic({
    ...shared,
    recorder,
    receiver,
    quality,
    ambiguityWaitMs: options.ambiguityWaitMs ?? AMBIGUITY_WAIT_MS,
    onAnomaly: base.counters.anomaly,
    timings: { unbindTimeoutMs: options.drainTimeoutMs * DRAIN.unbinds, ...options.linkTimings },
    log: (message, details) => log.info(details, message),
  })
  parts.add('binds', () => binds.stop())
  parts.add('carrier links', () => links.stop())
  parts.add('submitter', () => submitter.stop(options.drainTimeoutMs * DRAIN.submits))
  parts.add('carrier settings', base.directoryService.onChange(follow))
  await binds.start()
  submitter.start()
  deliverer.start()
  const holdings = new Holdings({
    db,
    lease,
    submitter,
    recorder,
    deliverer,
    onError,
    intervalMs: options.holdingsMs,
  })
  holdings.start()
  parts.add('holdings', () => holdings.stop())
  const maintenance = startMaintenance(options, base, { receiver, recorder, idRules })
  parts.add('maintenance', () => maintenance.stop())
  return { lease, deliverer, recorder, submitter, links, quality }
}

type MessagePath = Awaited<ReturnType<typeof startMessagePath>>

async function startLease(
  options: AppOptions,
  { db, beats, onError }: Base,
  forget: () => string[],
): Promise<NodeLease> {
  const waitMs = options.ambiguityWaitMs ?? AMBIGUITY_WAIT_MS
  /** Held when a lease was over, and never sent. */
  const unsent: { nodeId: number; msgIds: string[] }[] = []
  const lease = new NodeLease({
    db: beats,
    name: options.nodeName,
    onTaken: async (buckets, nodeId) => {
      for (; unsent.length > 0; unsent.shift()) await freeDispatches(db, unsent[0]!.nodeId, unsent[0]!.msgIds)
      const messages = await releaseDispatches(db, { nodeId, buckets, waitMs })
      const events = await releaseEvents(db, { nodeId, buckets })
      options.log.info({ buckets: buckets.length, messages, events }, 'took over buckets')
    },
    onExpired: () => {
      options.log.warn('the lease of this node was over; it begins a new one')
      const msgIds = forget()
      if (msgIds.length > 0) unsent.push({ nodeId: lease.nodeId, msgIds })
    },
    onReplaced: () => {
      options.log.fatal('another node has taken the place of this one')
      options.onReplaced?.()
    },
    onError,
    ...(options.heartbeatMs !== undefined && { heartbeatMs: options.heartbeatMs }),
  })
  await lease.start()
  return lease
}

async function startQualityWatch(options: AppOptions, { db, directory, registry, onError }: Base) {
  const quality = new QualityWatch({
    db,
    directory,
    meters: qualityMeters(registry),
    clock: options.qualityClock ?? Date.now,
    log: (message, details) => options.log.warn(details, message),
    onError,
    intervalMs: options.qualityMs,
  })
  await quality.start()
  return quality
}

function startMaintenance(
  options: AppOptions,
  { db, directory, onError, onUnowned }: Base,
  { receiver, recorder, idRules }: { receiver: Receiver; recorder: Recorder; idRules: IdRules },
): Maintenance {
  const maintenance = new Maintenance({
    db,
    directory,
    newMessageId: () => receiver.newMessageId(),
    retentionDays: options.retentionDays,
    nowMs: Date.now,
    applyReceipts: (rows) => recorder.applyParked(rows),
    readReceipts: () => idRules.readParked(),
    onError: (job, error) => onError(`maintenance failed: ${job}`, error),
    onUnowned,
  })
  maintenance.start()
  return maintenance
}

/** The HTTP server comes last up and first down: nothing is accepted that could not go on. Gives its port. */
async function startHttp(options: AppOptions, parts: Parts, services: Base & MessagePath): Promise<number> {
  const { db, reads, directoryService, guard, secretKey, onError, random, registry, lease, links, quality } =
    services
  // A node that cannot learn of a revoked token serves nobody.
  const directory = () => {
    if (directoryService.stale()) throw new AppError('INTERNAL_ERROR')
    return directoryService.current()
  }
  const accepter = new GroupAccepter({ db, placement: services.submitter, secretKey, random, onError })
  serviceMetrics(registry, services)
  const limits = options.httpLimits ?? HTTP_LIMITS
  const drainTimeoutMs = Math.min(limits.drainTimeoutMs, options.drainTimeoutMs * DRAIN.requests)
  const server = await buildServer({
    directory,
    accepter,
    db: reads,
    guard,
    keys: { cursor: deriveKey(options.secretKey, 'cursors') },
    limits: { ...limits, drainTimeoutMs },
    baseUrl: options.baseUrl,
    ready: () => readiness(db, lease, options),
    clock: Date.now,
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
        guard,
        linkStatus: (carrierId) => links.summary(carrierId),
        carrierCondition: (carrierId, routeId) => services.submitter.conditionOf(carrierId, routeId),
        quality,
      }),
  })
  parts.add('http', () => server.close())
  await server.listen({ host: options.httpHost, port: options.httpPort })
  return (server.server.address() as AddressInfo).port
}

/** A database that this node can work on: reachable, new enough, durable, with the newest schema and today's partitions. */
async function startDatabase(options: AppOptions): Promise<Database> {
  const { connectionString, log } = options
  const db = openPool(options, {
    poolSize: options.databasePoolSize,
    statementTimeoutMs: options.databaseStatementTimeoutMs,
  })
  try {
    const version = await serverVersion(db)
    if (version < MINIMUM_SERVER_VERSION)
      throw new StartError(`PostgreSQL ${version} is too old: ${MINIMUM_SERVER_VERSION} or newer is needed`)
    const { faults } = await checkDurability(db)
    if (faults.length > 0 && !options.allowUnsafeDurability)
      throw new StartError(
        `the database can lose accepted messages (${faults.join(', ')}); ALLOW_UNSAFE_DURABILITY=on runs all the same`,
      )
    for (const name of await migrate({ connectionString, log: (line) => log.debug(line) }))
      log.info({ migration: name }, 'schema brought up to date')
    await ensurePartitions(db, Date.now())
    return db
  } catch (error) {
    await db.end()
    throw error
  }
}

function openPool(options: AppOptions, bounds: { poolSize: number; statementTimeoutMs: number }): Database {
  const db: Database = openDatabase({
    connectionString: options.connectionString,
    prepared: options.databasePrepared,
    ...bounds,
    log: (message, error) => {
      if (!db.ending) options.log.warn({ err: error }, message)
    },
  })
  return db
}

async function readiness(db: Database, lease: NodeLease, options: AppOptions): Promise<Readiness> {
  const checks: Record<string, string> = { lease: lease.alive ? 'ok' : 'not renewed in time' }
  try {
    const { faults } = await checkDurability(db)
    const unsafe = faults.length > 0 && !options.allowUnsafeDurability
    checks.database = unsafe ? `accepted messages can be lost: ${faults.join(', ')}` : 'ok'
  } catch {
    checks.database = 'does not answer'
  }
  return { ok: Object.values(checks).every((check) => check === 'ok'), checks }
}
