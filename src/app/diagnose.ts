import type { Client } from 'pg'
import type { Directory } from '../domain/configuration/directory.ts'
import {
  defect,
  describeGrowth,
  type Finding,
  fine,
  judgeBinds,
  judgeClock,
  judgeConnections,
  judgeNodes,
  judgePartitions,
  judgePrimaries,
  judgeReadReplica,
  judgeReplication,
  judgeRetention,
  judgeRoles,
  judgeVacuum,
  type ReplicaLook,
  warning,
} from '../domain/diagnosis.ts'
import { DAY_MS, MAX_OFF_MS } from '../domain/instants.ts'
import { bindStates, hasDuty, lackingDuties } from '../domain/nodes.ts'
import { openSecret, SecretError } from '../domain/secrets.ts'
import { DEFAULT_MAX_LAG_MS, troubleOf, untilLevel } from '../services/node/read-replica.ts'
import { dayName, findKept, missingPartitions } from '../services/upkeep/day-partitions.ts'
import { carriers } from '../store/carriers.ts'
import { checkDurability, connectionLimit } from '../store/database.ts'
import { readClockAhead, readGrowth, readReplication, readVacuum } from '../store/database-health.ts'
import type { DatabaseHosts } from '../store/database-hosts.ts'
import { connect, directServer, reachServer } from '../store/database-server.ts'
import { readDirectoryIn } from '../store/directory.ts'
import { listNodes } from '../store/node-reports.ts'
import { primaryPlace } from '../store/read-replica.ts'
import { compareSchema, MIGRATIONS, migrationsIn, schemaFault } from '../store/schema.ts'
import { listTroubledDestinations } from '../store/webhook-destinations.ts'
import { packageVersion } from './build-info.ts'
import { connectionsOfNode, serverFault } from './database.ts'
import type { AppOptions } from './options.ts'
import { secretKeysOf } from './platform.ts'
import { probeCarriers, probeReceivers } from './probes.ts'

export type DiagnosisOptions = Pick<
  AppOptions,
  | 'connectionString'
  | 'databasePoolSize'
  | 'databasePrepared'
  | 'databaseReplicaUrl'
  | 'databaseReplicaMaxLagMs'
  | 'allowUnsafeDurability'
  | 'secretKey'
  | 'previousSecretKey'
  | 'retentionDays'
  | 'callbackPolicy'
  | 'webhookCaPem'
  | 'dnsServers'
  | 'nodeRole'
> & { readonly workers: number }

/** Time for one statement of the diagnosis. */
const STATEMENT_TIMEOUT_MS = 10_000

/**
 * Looks at everything a node with these options needs, and yields what it finds as it is found. Nothing is changed: all
 * statements run in read-only transactions, and carriers and receivers are connected to, without a bind or a request.
 */
export async function* diagnose(options: DiagnosisOptions): AsyncGenerator<Finding> {
  const server = directServer(options.connectionString, options.databasePrepared)
  let client: Client
  try {
    const facts = await reachServer(server)
    const where = `PostgreSQL ${facts.version}, database ${facts.database}, role ${facts.role}`
    const unfit = serverFault(facts)
    yield unfit === null
      ? fine('database', server.pooled ? `${where}, behind a pooler` : where)
      : defect('database', where, unfit)
    client = await connect(server.hosts, 'aldis doctor')
  } catch (error) {
    return yield defect(
      'database',
      (error as Error).message,
      'check DATABASE_URL, and whether the server runs',
    )
  }
  try {
    yield* databaseFindings(client, options, server.hosts)
    const schema = await schemaFinding(client)
    yield schema
    if (schema.level === 'ok') yield* serviceFindings(client, options)
  } finally {
    await client.end()
  }
}

async function schemaFinding(client: Client): Promise<Finding> {
  const known = migrationsIn(MIGRATIONS)
  const schema = await reading(client, (db) => compareSchema(db, known))
  const fault = schemaFault(schema, known)
  if (fault !== null) return defect('schema', fault, 'docs/upgrading.md, "Back again"')
  if (schema.pending.length > 0)
    return warning(
      'schema',
      `not applied yet: ${schema.pending.join(', ')}`,
      'run aldis migrate, or start a node',
    )
  if (schema.newer.length === 0) return fine('schema', 'up to date')
  return fine('schema', `of a newer version, with which this one can work: ${schema.newer.join(', ')}`)
}

/** Runs statements in a transaction that can write nothing. */
async function reading<T>(client: Client, read: (client: Client) => Promise<T>): Promise<T> {
  await client.query(
    `begin isolation level repeatable read, read only; set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`,
  )
  try {
    return await read(client)
  } finally {
    await client.query('rollback')
  }
}

async function* databaseFindings(
  client: Client,
  options: DiagnosisOptions,
  hosts: DatabaseHosts,
): AsyncGenerator<Finding> {
  const { faults } = await reading(client, checkDurability)
  const advice = 'set them to on: accepted messages can be lost'
  if (faults.length === 0) yield fine('durability', 'fsync and synchronous_commit are on')
  else
    yield options.allowUnsafeDurability
      ? warning('durability', faults.join(', '), advice)
      : defect('durability', faults.join(', '), advice)
  yield judgeReplication(await reading(client, readReplication), hosts.several)
  if (hosts.several) yield judgePrimaries(hosts.rivals)
  const { databaseReplicaUrl: url, databaseReplicaMaxLagMs: maxLagMs = DEFAULT_MAX_LAG_MS } = options
  if (url !== undefined) yield judgeReadReplica(await lookAtReplica(client, url, maxLagMs))
  yield judgeConnections(options.workers * connectionsOfNode(options), await reading(client, connectionLimit))
  yield judgeVacuum(await reading(client, readVacuum))
  yield judgeClock(await readClockAhead(client, Date.now), MAX_OFF_MS)
}

/** What a node does every second. */
async function lookAtReplica(primary: Client, url: string, maxLagMs: number): Promise<ReplicaLook> {
  let replica: Client | null = null
  try {
    replica = await connect(directServer(url, false).hosts, 'aldis doctor')
    const place = await reading(primary, primaryPlace)
    const askedAtMs = performance.now()
    await reading(replica, (db) => untilLevel(db, place, maxLagMs))
    return { lagMs: performance.now() - askedAtMs }
  } catch (error) {
    return { trouble: troubleOf(error), message: (error as Error).message }
  } finally {
    await replica?.end()
  }
}

async function* serviceFindings(client: Client, options: DiagnosisOptions): AsyncGenerator<Finding> {
  const now = Date.now()
  yield judgePartitions(
    await reading(client, (db) => missingPartitions(db, [now, now + DAY_MS].map(dayName))),
  )
  const { daysLeft } = await reading(client, (db) => findKept(db, now, options.retentionDays))
  yield judgeRetention(daysLeft)
  const yesterday = dayName(now - DAY_MS)
  yield describeGrowth(await reading(client, (db) => readGrowth(db, yesterday)), options.retentionDays)
  const keys = secretKeysOf(options)
  let directory: Directory
  try {
    directory = await reading(client, (db) =>
      readDirectoryIn(db, (sealed, context) => openSecret(keys, sealed, context)),
    )
  } catch (error) {
    const { message } = error as Error
    if (!(error instanceof SecretError))
      return yield defect('configuration', message, 'see the log of the nodes')
    return yield defect('SECRET_KEY', message, 'use the key that the other nodes have')
  }
  const { unreadable } = directory
  yield unreadable.length === 0
    ? fine('SECRET_KEY', 'decrypts every stored secret')
    : defect('SECRET_KEY', unreadable.join('; '), 'docs/operations.md, "Change SECRET_KEY"')
  const nodes = await reading(client, listNodes)
  const versions = nodes.map(({ name, report }) => ({ name, version: report?.version ?? null }))
  yield judgeNodes(versions, packageVersion())
  if (nodes.length > 0) yield judgeRoles(lackingDuties(nodes))
  for (const carrier of nodes.length === 0 ? [] : await reading(client, (db) => carriers.all(db))) {
    const states = bindStates(carrier, nodes)
    const errors = states.flatMap((bind) => bind.errors).sort((a, b) => (a.at < b.at ? 1 : -1))
    const [last] = errors
    yield judgeBinds({
      name: carrier.name,
      state: carrier.state,
      bound: states.filter(({ state }) => state === 'bound').length,
      binds: states.length,
      lastError: last === undefined ? null : [last.error, last.status, last.detail].filter(Boolean).join(' '),
    })
  }
  const troubled = await reading(client, listTroubledDestinations)
  yield troubled.length === 0
    ? fine('webhooks', 'no destination is in trouble')
    : warning('webhooks', `${troubled.length} destinations are in trouble`, '`aldis queue` lists them')
  // Only what a node of this role connects to.
  const { nodeRole = 'all' } = options
  if (hasDuty(nodeRole, 'carrier')) yield* probeCarriers(directory.contents.carriers)
  if (hasDuty(nodeRole, 'webhook')) yield* probeReceivers(directory.contents, options)
}
