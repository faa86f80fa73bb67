import type { Registry } from 'prom-client'
import { HTTP_LIMITS } from '../http/limits.ts'
import { DEFAULT_MAX_LAG_MS, ReadReplica } from '../services/node/read-replica.ts'
import { ensurePartitions } from '../services/upkeep/day-partitions.ts'
import { readReplicaCounter, readReplicaMetrics } from '../services/upkeep/metrics/database.ts'
import {
  checkDurability,
  connectionLimit,
  type Database,
  MINIMUM_SERVER_VERSION,
  type Queryable,
} from '../store/database.ts'
import { type DatabaseOptions, openDatabase } from '../store/database-pool.ts'
import {
  type DatabaseServer,
  directServer,
  keepInRole,
  reachServer,
  type ServerFacts,
} from '../store/database-server.ts'
import { MOST_APPENDS } from '../store/journal.ts'
import { learnPartitions } from '../store/message-list.ts'
import { migrateIfBehind } from '../store/migrate.ts'
import { LEASE_MS } from '../store/nodes.ts'
import { settingsThatDoNotHold } from '../store/session-check.ts'
import { type SessionSettings, sessionSettings } from '../store/session-settings.ts'
import type { AppOptions } from './options.ts'
import type { ShutdownStack } from './shutdown.ts'

/** A node that cannot run on this database; the message is for the operator. */
class StartError extends Error {
  override readonly name = 'StartError'
}

/** The connections of a node. */
export interface Databases {
  readonly server: DatabaseServer
  /** For the message path and everything without a pool of its own. */
  readonly db: Database
  /** For look-ups and lists of customers and operators, so that a slow one takes no connection from the message path. */
  readonly reads: Database
  /** For the heartbeat alone. */
  readonly beats: Database
  /** For journal entries. Transactions that wait for an entry hold a connection of `db`. */
  readonly appends: Database
}

type DatabaseStart = Pick<
  AppOptions,
  | 'connectionString'
  | 'databasePoolSize'
  | 'databasePrepared'
  | 'databaseStatementTimeoutMs'
  | 'allowUnsafeDurability'
  | 'leaseMs'
  | 'worker'
  | 'log'
>

/** The options in which the pools of a node differ. */
type PoolOptions = Pick<
  DatabaseOptions,
  'poolSize' | 'statementTimeoutMs' | 'idleTimeoutMs' | 'connectTimeoutMs' | 'onConnect' | 'readOnly'
>

/** The connections to a read replica. */
interface ReplicaPools {
  readonly replica: Database
  /** For looks at it alone. */
  readonly looks: Database
  /** Cuts all of them. */
  readonly cut: () => void
}

/** Limit for one statement of look-ups and of the heartbeat. */
const READ_TIMEOUT_MS = 5_000
/** Two more than customers' reads use at once: one for all preflights, and one so that the operator never waits for them. */
const READ_POOL_SIZE = HTTP_LIMITS.readsAtOnce + 2
/** Kept for good: a new one takes 30 ms to learn the partitions. A replica may have none yet. */
const READS = {
  poolSize: READ_POOL_SIZE,
  idleTimeoutMs: 0,
  onConnect: (connection: Queryable) => learnPartitions(connection).catch(() => undefined),
}
const BEAT_POOL_SIZE = 1
const APPEND_POOL_SIZE = MOST_APPENDS - 1

/** Most connections that one process opens. */
export function connectionsOfNode({ databasePoolSize }: Pick<DatabaseStart, 'databasePoolSize'>): number {
  return databasePoolSize + READ_POOL_SIZE + BEAT_POOL_SIZE + APPEND_POOL_SIZE
}

/** A replica that cannot be reached is noticed after this time. */
const LOOK_CONNECT_MS = 1_000

/** Connects when it is first used. */
export function openReplica(
  options: Pick<DatabaseStart, 'databasePrepared' | 'log'>,
  url: string,
): ReplicaPools {
  const server = directServer(url, options.databasePrepared)
  const shared = { statementTimeoutMs: READ_TIMEOUT_MS, readOnly: true }
  return {
    replica: openPool(options, server, { ...shared, ...READS }),
    looks: openPool(options, server, { ...shared, poolSize: 1, connectTimeoutMs: LOOK_CONNECT_MS }),
    cut: () => server.hosts.cut(),
  }
}

/** Opens the pools. Use none before `prepareDatabases`, which finds out what they connect to. */
export function openDatabases(options: DatabaseStart): Databases {
  const server = directServer(options.connectionString, options.databasePrepared)
  const open = (poolSize: number, statementTimeoutMs: number, others: Partial<PoolOptions> = {}) =>
    openPool(options, server, { poolSize, statementTimeoutMs, ...others })
  return {
    server,
    db: open(options.databasePoolSize, options.databaseStatementTimeoutMs),
    reads: open(READS.poolSize, READ_TIMEOUT_MS, READS),
    // With a longer limit the lease would end before the next heartbeat has a chance.
    beats: open(BEAT_POOL_SIZE, READ_TIMEOUT_MS, { connectTimeoutMs: (options.leaseMs ?? LEASE_MS) / 2 }),
    appends: open(APPEND_POOL_SIZE, options.databaseStatementTimeoutMs),
  }
}

/**
 * Makes sure that this node can work on the database: it is reachable, new enough and durable, its sessions are as the
 * statements need them, and it has the newest schema and today's partitions.
 */
export async function prepareDatabases(databases: Databases, options: DatabaseStart): Promise<void> {
  const { server, db, reads, beats, appends } = databases
  const { connectionString, log } = options
  const facts = await reachServer(server)
  const unfit = serverFault(facts)
  if (unfit !== null) throw new StartError(unfit)
  const settings = sessionSettings(options.databaseStatementTimeoutMs)
  const ofReads = server.pooled ? settings : sessionSettings(READ_TIMEOUT_MS)
  if (server.pooled) await keepSettings(server, settings, options)
  const pools = [[db, settings] as const, [beats, ofReads] as const, [appends, settings] as const]
  await Promise.all(pools.map(([pool, wanted]) => checkSettings(server, pool, wanted)))
  if (server.sharded && !server.pooled) await keepSettings(server, settings, options)
  tellServer(server, facts, settings, options)
  await judgeDurability(db, server, options)
  if (!server.pooled) await judgeConnections(db, options)
  const { applied, newer } = await migrateIfBehind(db, { connectionString, log: (line) => log.debug(line) })
  for (const name of applied) log.info({ migration: name }, 'schema brought up to date')
  if (newer.length > 0) log.info({ migrations: newer }, 'the schema is that of a newer version')
  await ensurePartitions(db, Date.now())
  // Last, because its connections learn the partitions when they are made.
  await checkSettings(server, reads, ofReads)
}

/** Why no node can run on this server; null: one can. */
export function serverFault(facts: ServerFacts): string | null {
  const { versionNumber, version, encoding, schema, role, database } = facts
  if (versionNumber < MINIMUM_SERVER_VERSION * 10_000)
    return `PostgreSQL ${version} is too old: ${MINIMUM_SERVER_VERSION} or newer is needed`
  if (encoding !== 'UTF8')
    return `the database ${database} has the encoding ${encoding}: make one with "create database … encoding 'UTF8' template template0"`
  if (schema === null || schema.startsWith('pg_'))
    return `the search_path of ${role} names no schema for tables: alter role ${role} in database ${database} set search_path = public`
  if (!facts.mayCreate)
    return `${role} may make no tables in the schema ${schema}: alter database ${database} owner to ${role}`
  return null
}

/**
 * Behind a pooler, and on the workers of Citus, only the role's defaults hold. They are written once, and a later start finds
 * them.
 */
async function keepSettings(server: DatabaseServer, settings: SessionSettings, { log }: DatabaseStart) {
  const changed = await keepInRole(server, settings).catch((error) => {
    throw new StartError(`the role must keep its settings itself: ${error.message}`)
  })
  if (changed.length > 0) log.info({ settings: changed }, 'set the defaults of the role in this database')
}

async function checkSettings(server: DatabaseServer, db: Database, wanted: SessionSettings): Promise<void> {
  const differing = await settingsThatDoNotHold(server, db, wanted)
  if (differing.length > 0)
    throw new StartError(
      `sessions do not keep the settings they need: ${differing.join(', ')}; restart the pooler, or connect without it`,
    )
}

/** Logs one line about what this node runs on. It contains no password, because it omits the connection string. */
function tellServer(
  server: DatabaseServer,
  facts: ServerFacts,
  settings: SessionSettings,
  { log }: DatabaseStart,
): void {
  const { host, port } = server.hosts.primary
  const { version, database, role, schema } = facts
  log.info(
    {
      server: `PostgreSQL ${version}`,
      host: `${host}:${port}`,
      database,
      role,
      schema,
      pooler: server.pooled,
      prepared: server.prepared,
      settings,
    },
    server.pooled ? 'database, behind a pooler that shares connections' : 'database',
  )
}

export const ASYNCHRONOUS =
  'asynchronous: messages accepted last are lost with the primary (synchronous_standby_names is empty)'

async function judgeDurability(
  db: Database,
  { hosts }: DatabaseServer,
  options: DatabaseStart,
): Promise<void> {
  const { faults, replicated, synchronous } = await checkDurability(db)
  if (faults.length > 0 && !options.allowUnsafeDurability)
    throw new StartError(
      `the database can lose accepted messages (${faults.join(', ')}); ALLOW_UNSAFE_DURABILITY=on runs all the same`,
    )
  if ((replicated || hosts.several) && !synchronous) options.log.warn(`replication is ${ASYNCHRONOUS}`)
}

/** Logged once, by the first worker: all pools together may need more connections than the server allows. */
async function judgeConnections(db: Database, options: DatabaseStart): Promise<void> {
  const { number, workers } = options.worker ?? { number: 1, workers: 1 }
  if (number > 1) return
  const connections = workers * connectionsOfNode(options)
  const allowed = await connectionLimit(db)
  if (connections > allowed)
    options.log.warn(
      { workers, connections, allowed },
      'the database allows fewer connections than this may open: raise max_connections or lower DATABASE_POOL_SIZE',
    )
}

function openPool(
  options: Pick<DatabaseStart, 'log'>,
  server: DatabaseServer,
  ofPool: PoolOptions,
): Database {
  const db: Database = openDatabase({
    connectionString: server.hosts.primary.connectionString,
    server,
    ...ofPool,
    log: (message, error) => {
      if (!db.ending) options.log.warn({ err: error }, message)
    },
  })
  return db
}

interface OpenReadReplica {
  readonly records: ReadReplica
  /** Its connections, for metrics. */
  readonly replica: Database
}

/** Null without DATABASE_REPLICA_URL: the primary answers everything, and nothing is opened. */
export function openReadReplica(
  options: AppOptions,
  primary: Database,
  { registry, shutdown }: { readonly registry: Registry; readonly shutdown: ShutdownStack },
): OpenReadReplica | null {
  const { databaseReplicaUrl, databaseReplicaMaxLagMs: maxLagMs = DEFAULT_MAX_LAG_MS, log } = options
  if (databaseReplicaUrl === undefined) return null
  const { replica, looks, cut } = openReplica(options, databaseReplicaUrl)
  const count = readReplicaCounter(registry)
  const records = new ReadReplica({ primary, replica, looks, cut, maxLagMs, count, log })
  readReplicaMetrics(registry, records)
  shutdown.add('read replica', async () => {
    await records.stop()
    await Promise.all([replica.end(), looks.end()])
  })
  return { records, replica }
}
