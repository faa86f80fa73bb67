import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/postgres/embedded-server.ts'
import { parentOf } from '../cpu-times.ts'

/** The database of a run: the embedded one, made in the run's folder, or a new one on the server of DATABASE_URL. */
export interface RunDatabase {
  readonly url: string
  /** Id of the server's first process, whose descendants do its work. */
  readonly postgresPid: number
  stop(): Promise<void>
}

/** postgres.log gets the plan of one statement in fifty, with its actual figures, and every wait for a lock. */
const EXPLAIN_SETTINGS = [
  `shared_preload_libraries = 'pg_stat_statements', 'auto_explain'`,
  'auto_explain.log_min_duration = 0',
  'auto_explain.sample_rate = 0.02',
  'auto_explain.log_analyze = on',
  'auto_explain.log_buffers = on',
  'auto_explain.log_parameter_max_length = 0',
  // Logs slow statements without their values, and which process waited for whose lock.
  'log_min_duration_statement = 500',
  'log_parameter_max_length = 0',
  'log_lock_waits = on',
  `deadlock_timeout = '200ms'`,
]

export interface EmbeddedOptions {
  readonly dataDir: string
  readonly log: (line: string) => void
  /** Let PostgreSQL count its statements and log some plans. */
  readonly explain: boolean
}

export async function startEmbedded({ explain, ...options }: EmbeddedOptions): Promise<RunDatabase> {
  let postgres: EmbeddedPostgres = await startEmbeddedPostgres(options)
  if (explain) {
    await query(
      postgres.localConnectionString,
      ...EXPLAIN_SETTINGS.map((setting) => `alter system set ${setting}`),
    )
    await postgres.stop()
    postgres = await startEmbeddedPostgres(options)
  }
  const pidFile = readFileSync(join(options.dataDir, 'cluster', 'postmaster.pid'), 'latin1')
  const postgresPid = Number(pidFile.split('\n')[0])
  return { url: postgres.localConnectionString, postgresPid, stop: () => postgres.stop() }
}

/**
 * Makes a database on the server, and drops it in the end. Where its maintenance database is a coordinator of Citus, the new one
 * has the same workers. Only the coordinator's CPU is measured.
 * @throws (rejects) Error the server is not on this machine, so that its CPU cannot be measured.
 */
export async function createOn(serverUrl: string): Promise<RunDatabase> {
  const name = `aldis_bench_${randomBytes(6).toString('hex')}`
  // Looked up while the session is there.
  const postgresPid = await connected(serverUrl, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return parentOf(rows[0]!.pid, 'postgres')
  })
  if (postgresPid === null) throw new Error('the server of DATABASE_URL must run on this machine')
  const workers = await workersOf(serverUrl)
  const servers = [serverUrl, ...workers.map((worker) => at(serverUrl, worker))]
  for (const server of servers) await query(server, `create database ${name}`)
  const url = at(serverUrl, { pathname: `/${name}` })
  if (workers.length > 0) {
    for (const server of servers) await query(at(server, { pathname: `/${name}` }), 'create extension citus')
    const { hostname, port } = new URL(serverUrl)
    await query(
      url,
      `select citus_set_coordinator_host('${hostname}', ${port})`,
      ...workers.map((worker) => `select citus_add_node('${worker.hostname}', ${worker.port})`),
    )
  }
  return {
    url,
    postgresPid,
    stop: async () => {
      for (const server of servers) await query(server, `drop database ${name} with (force)`)
    },
  }
}

async function workersOf(serverUrl: string): Promise<{ hostname: string; port: string }[]> {
  const [{ has } = { has: false }] = await query<{ has: boolean }>(
    serverUrl,
    `select exists (select from pg_extension where extname = 'citus') as has`,
  )
  if (!has) return []
  return await query(
    serverUrl,
    'select node_name as hostname, node_port::text as port from citus_get_active_worker_nodes()',
  )
}

function at(url: string, change: Partial<Pick<URL, 'hostname' | 'port' | 'pathname'>>): string {
  return Object.assign(new URL(url), change).href
}

/** Runs the statements on a connection of their own and returns the rows of the last. */
async function query<Row>(connectionString: string, ...statements: string[]): Promise<Row[]> {
  return await connected(connectionString, async (client) => {
    let rows: Row[] = []
    for (const statement of statements) rows = (await client.query(statement)).rows as Row[]
    return rows
  })
}

async function connected<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
