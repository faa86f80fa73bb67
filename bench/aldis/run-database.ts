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
 * Makes a database on the server, and drops it in the end.
 * @throws (rejects) Error the server is not on this machine, so that its CPU cannot be measured.
 */
export async function createOn(serverUrl: string): Promise<RunDatabase> {
  const name = `aldis_bench_${randomBytes(6).toString('hex')}`
  const rows = await query<{ pid: number }>(serverUrl, 'select pg_backend_pid() as pid')
  const postgresPid = parentOf(rows[0]!.pid, 'postgres')
  if (postgresPid === null) throw new Error('the server of DATABASE_URL must run on this machine')
  await query(serverUrl, `create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return {
    url: url.href,
    postgresPid,
    stop: async () => void (await query(serverUrl, `drop database ${name} with (force)`)),
  }
}

/** Runs the statements on a connection of their own and returns the rows of the last. */
async function query<Row>(connectionString: string, ...statements: string[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    let rows: Row[] = []
    for (const statement of statements) rows = (await client.query(statement)).rows as Row[]
    return rows
  } finally {
    await client.end()
  }
}
