/** A cluster of Citus of a test's own, whose servers it may kill. */
import { afterAll } from 'vitest'
import { ensurePartitions } from '../../src/services/upkeep/day-partitions.ts'
import { serversOfPlans } from '../../src/store/citus.ts'
import type { Database } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/database-pool.ts'
import { directServer, keepInRole } from '../../src/store/database-server.ts'
import { migrate } from '../../src/store/migrate.ts'
import { sessionSettings } from '../../src/store/session-settings.ts'
import { PostgresServer } from '../faults/postgres-server.ts'
import { CITUS_SETTINGS, joinCluster } from '../support/citus.ts'

const WORKERS = 2
/** Citus hides shards, and keeps them from being changed. */
export const SHARDS = [
  'set citus.enable_manual_changes_to_shards = on',
  'set citus.enable_ddl_propagation = off',
  'set citus.override_table_visibility = off',
]

export interface OwnCluster {
  readonly coordinator: PostgresServer
  readonly workers: readonly PostgresServer[]
  readonly connectionString: string
  /** Opens a pool, as a process has one. */
  open(poolSize: number): Database
}

/** A coordinator and two workers, without a schema; gone after the last test of the file. */
export async function ownCluster(): Promise<OwnCluster> {
  const cluster = await unjoinedServers()
  await cluster.join()
  return cluster
}

/** The same, but not a cluster until `join`. `open` is for a database as it is then. */
export async function unjoinedServers(): Promise<OwnCluster & { join(): Promise<void> }> {
  const create = () => PostgresServer.create(CITUS_SETTINGS)
  const [coordinator, ...workers] = (await Promise.all(Array.from({ length: WORKERS + 1 }, create))) as [
    PostgresServer,
    ...PostgresServer[],
  ]
  const connectionString = `postgresql://aldis@127.0.0.1:${coordinator.port}/postgres`
  const pools: Database[] = []
  let sharded = false
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.ended || pool.end()))
    await Promise.all([coordinator, ...workers].map((server) => server.dispose()))
  })
  return {
    ...{ coordinator, workers, connectionString },
    async join() {
      await joinCluster(coordinator, workers, (server, ...statements) => server.run(...statements))
      sharded = true
    },
    open(poolSize) {
      const server = { ...directServer(connectionString, true), sharded }
      const pool = openDatabase({ connectionString, server, poolSize })
      pools.push(pool)
      return pool
    },
  }
}

/** The schema, with the partitions of these days. */
export async function migrated({ connectionString, open }: OwnCluster, poolSize: number): Promise<Database> {
  await migrate({ connectionString })
  // As a node does: no session of a worker may stand still within a transaction.
  await keepInRole(directServer(connectionString, true), sessionSettings(0))
  const db = open(poolSize)
  await ensurePartitions(db, Date.now())
  return db
}

/** As many plans of one account; gives their keys. */
export async function createPlans(db: Database, count: number): Promise<number[]> {
  await db.query(`
    insert into accounts (account_id, name, webhook_secret) values ('aaaaaaaaaaaaaaaaaaaaaaaa', 'Example', 'secret')`)
  const { rows } = await db.query<{ id: number }>({
    text: `
      insert into service_plans (service_plan_id, account_id, name)
      select lpad(n::text, 24, '0'), (select id from accounts limit 1), 'plan' from generate_series(1, $1) as n
      returning id`,
    values: [count],
  })
  return rows.map(({ id }) => id)
}

/** The worker that has the records of a plan. */
export async function workerOf(
  { workers }: OwnCluster,
  db: Database,
  planId: number,
): Promise<PostgresServer> {
  const server = (await serversOfPlans(db)).get(planId)!
  const { rows } = await db.query<{ port: number }>({
    text: 'select nodeport as port from pg_dist_node where groupid = $1',
    values: [server],
  })
  return workers.find(({ port }) => port === rows[0]!.port)!
}
