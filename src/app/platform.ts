import { randomFillSync } from 'node:crypto'
import type { Registry } from 'prom-client'
import type { Directory } from '../domain/configuration/directory.ts'
import { DatabaseClock } from '../domain/instants.ts'
import { isSandbox } from '../domain/sandbox.ts'
import { deriveKey, type SecretKeys } from '../domain/secrets.ts'
import { IN_FLIGHT_LIMITS } from '../domain/webhooks/delivery-scheduler.ts'
import { processRegistry } from '../http/metrics.ts'
import { CallbackGuard } from '../outbound/callback-guard.ts'
import { NameResolver } from '../outbound/resolver.ts'
import { WebhookSender } from '../outbound/webhook-sender.ts'
import { ATTEMPT_TIMEOUT_MS } from '../outbound/webhook-sockets.ts'
import { CarrierAnomalies } from '../services/links/carrier-anomalies.ts'
import type { NodeParts } from '../services/loops/node-parts.ts'
import { descriptorWatch } from '../services/node/descriptor-watch.ts'
import { DirectoryService } from '../services/node/directory.ts'
import { OwnWrites } from '../services/node/own-writes.ts'
import { primaryWatch } from '../services/node/primary-watch.ts'
import type { Traces } from '../services/tracing/traces.ts'
import { databaseMetrics } from '../services/upkeep/metrics/database.ts'
import { pathCounters, spanCounter, webhookThreadMetrics } from '../services/upkeep/metrics/message-path.ts'
import { stopCarriers } from '../store/carriers.ts'
import { packageVersion } from './build-info.ts'
import { openDatabases, openReadReplica, prepareDatabases } from './database.ts'
import type { AppOptions } from './options.ts'
import type { ShutdownStack } from './shutdown.ts'

/** Random bytes drawn from the system at once. Ids need a few for each message. */
const RANDOM_BYTES = 16_384

/** The keys of stored secrets. */
export function secretKeysOf(options: Pick<AppOptions, 'secretKey' | 'previousSecretKey'>): SecretKeys {
  const { secretKey: master, previousSecretKey: previous } = options
  const current = deriveKey(master, 'secrets')
  return previous === undefined ? current : [current, deriveKey(previous, 'secrets')]
}

/** What all other parts of a node need. Nothing is read before `start`. */
export async function makePlatform(options: AppOptions, shutdown: ShutdownStack) {
  const { log, freshWaitMs } = options
  const random = randomPool()
  const clock = new DatabaseClock(() => performance.now(), Date.now)
  const registry = processRegistry(
    packageVersion(),
    options.worker && { worker: String(options.worker.number) },
  )
  const counters = pathCounters(registry)
  const anomalies = new CarrierAnomalies({ count: counters.anomaly, log, clock: () => performance.now() })
  const secretKey = secretKeysOf(options)
  const databases = openDatabases(options)
  const { db, reads, beats, appends } = databases
  const pools = { path: db, reads, beats, appends }
  shutdown.add('database', () => Promise.all(Object.values(pools).map((pool) => pool.end())))
  const replica = openReadReplica(options, reads, { registry, shutdown })
  const ownWrites = new OwnWrites()
  databaseMetrics(registry, { ...pools, ...(replica && { replica: replica.replica }) }, ownWrites.noted)
  const directoryService = new DirectoryService({
    db,
    secretKey,
    clock: () => performance.now(),
    log,
    freshWaitMs,
  })
  shutdown.add('directory', () => directoryService.stop())
  const descriptors = descriptorWatch(registry, log)
  descriptors.start()
  shutdown.add('file descriptors', () => descriptors.stop())
  const watch = primaryWatch(databases.server.hosts, log)
  shutdown.add('primary', () => watch.stop())
  const resolver = new NameResolver({ servers: options.dnsServers })
  shutdown.add('resolver', () => resolver.close())
  const guard = new CallbackGuard(options.callbackPolicy, resolver)
  const sender = webhookSender(options)
  webhookThreadMetrics(registry, sender)
  shutdown.add('webhook thread', () => sender.close())
  const directory = () => directoryService.current()
  const parts: NodeParts = { db, directory, log, clock: clock.now }
  const traces = await openTraces(options, registry, parts)
  if (traces !== null) shutdown.add('traces', () => traces.stop())
  const start = async () => {
    await prepareDatabases(databases, options)
    if (databases.server.hosts.several) watch.start()
    replica?.records.start()
    if (options.carriersStopped === true) {
      log.warn({ carriers: await stopCarriers(db) }, 'stopped all carriers because CARRIERS_STOPPED is set')
    }
    shutdown.add('few binds', directoryService.onChange(warnOfFewBinds(options)))
    await directoryService.start()
  }
  return {
    start,
    parts,
    registry,
    counters,
    anomalies,
    clock,
    databases,
    ownWrites,
    /** For lists, look-ups and statistics of what is at rest. */
    records: replica?.records ?? reads,
    directoryService,
    directory,
    guard,
    resolver,
    sender,
    traces,
    secretKey,
    random,
  }
}

export type Platform = Awaited<ReturnType<typeof makePlatform>>

function webhookSender(options: AppOptions): WebhookSender {
  const { log } = options
  return new WebhookSender({
    callbackPolicy: options.callbackPolicy,
    dnsServers: options.dnsServers,
    caPem: options.webhookCaPem,
    maxSocketsPerOrigin: IN_FLIGHT_LIMITS.perDestination,
    connectTimeoutMs: options.webhookConnectTimeoutMs,
    totalTimeoutMs: options.webhookTimeoutMs ?? ATTEMPT_TIMEOUT_MS,
    tracedShare: options.traces?.share,
    onDeath: (err, delayMs) =>
      log.error({ err, delayMs }, 'the webhook thread has ended and is being restarted'),
    onDefects: (defects) =>
      log.error(defects, 'webhooks failed as INVALID_REQUEST by a damaged secret or a defect of Aldis'),
  })
}

/** OpenTelemetry is imported only here, and only if it is used: that takes 0.1 s of CPU. */
async function openTraces(
  { log, nodeName, traces }: AppOptions,
  registry: Registry,
  { directory, clock }: NodeParts,
): Promise<Traces | null> {
  if (traces === undefined) return null
  const { Traces } = await import('../services/tracing/traces.ts')
  const { share, ...collector } = traces
  const count = spanCounter(registry)
  return new Traces({ collector, share, nodeName, version: packageVersion(), directory, clock, log, count })
}

/** Returns a source of cryptographically strong random bytes. */
function randomPool(): (bytes: number) => Buffer {
  let pool = Buffer.alloc(0)
  let used = RANDOM_BYTES
  return (bytes) => {
    if (used + bytes > RANDOM_BYTES) {
      // Not the same again: bytes drawn earlier may still be in use.
      pool = randomFillSync(Buffer.allocUnsafeSlow(RANDOM_BYTES))
      used = 0
    }
    used += bytes
    return pool.subarray(used - bytes, used)
  }
}

/**
 * Warns of carriers with fewer binds than workers: a worker without a bind hands its messages through the tables to one with
 * a bind. One worker logs it, once per carrier as long as its binds do not change.
 */
function warnOfFewBinds({ worker, log }: AppOptions): (directory: Directory) => void {
  let said = new Map<string, number>()
  return ({ contents }) => {
    if (worker?.number !== 1) return
    const few = contents.carriers.filter(
      (carrier) => carrier.state === 'started' && carrier.binds < worker.workers && !isSandbox(carrier),
    )
    for (const { name, binds } of few) {
      if (said.get(name) !== binds)
        log.warn({ carrier: name, binds, workers: worker.workers }, 'a carrier has fewer binds than workers')
    }
    said = new Map(few.map(({ name, binds }) => [name, binds]))
  }
}
