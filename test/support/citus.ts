/** A coordinator of Citus and its workers, each a PostgreSQL of its own. */
import pg from 'pg'
import { type StockPostgres, startStockPostgres } from './stock-postgres.ts'

export interface CitusCluster {
  readonly coordinator: StockPostgres
  readonly workers: readonly StockPostgres[]
}

export const CITUS_SETTINGS = [
  "shared_preload_libraries = 'citus'",
  'max_connections = 300',
  // For shards that are moved while they are written.
  'wal_level = logical',
  // Few, since every test file copies them.
  'citus.shard_count = 4',
  // As `initdb` makes them, the servers have no certificates.
  "citus.node_conninfo = 'sslmode=disable keepalives_idle=2 keepalives_interval=1 keepalives_count=3 tcp_user_timeout=5000'",
]

/** @param root folder that holds the server's `bin`, where Citus is installed */
export async function startCitus(root: string, workers: number): Promise<CitusCluster> {
  const servers = await Promise.all(
    Array.from({ length: workers + 1 }, () => startStockPostgres(root, CITUS_SETTINGS)),
  )
  return { coordinator: servers[0]!, workers: servers.slice(1) }
}

/** Makes a database of a cluster: on every server, each knowing the others. */
export async function createCitusDatabase({ coordinator, workers }: CitusCluster, name: string) {
  for (const { connectionString } of [coordinator, ...workers])
    await runOn(connectionString, 'postgres', `create database ${name}`)
  await joinCluster(coordinator, workers, ({ connectionString }, ...statements) =>
    runOn(connectionString, name, ...statements),
  )
}

/** Makes one cluster of these servers, in the database that `run` runs statements in. */
export async function joinCluster<Server extends { readonly port: number }>(
  coordinator: Server,
  workers: readonly Server[],
  run: (server: Server, ...statements: string[]) => Promise<unknown>,
): Promise<void> {
  for (const server of [coordinator, ...workers]) await run(server, 'create extension citus')
  await run(
    coordinator,
    `select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`,
    ...workers.map(({ port }) => `select citus_add_node('127.0.0.1', ${port})`),
  )
}

async function runOn(connectionString: string, database: string, ...statements: string[]): Promise<void> {
  const url = Object.assign(new URL(connectionString), { pathname: `/${database}` })
  const client = new pg.Client(url.href)
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
