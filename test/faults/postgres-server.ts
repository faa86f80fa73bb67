/** A PostgreSQL as `initdb` makes it, on a fixed port, that can be killed and restarted. */
import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import type { Cluster } from '../../src/postgres/cluster.ts'
import { clearLeftovers } from '../../src/postgres/leftovers.ts'
import { giveTo } from '../../src/postgres/reach.ts'
import { type Server, startServer } from '../../src/postgres/server.ts'
import { ServerLog } from '../../src/postgres/server-log.ts'
import { freePort, serverProcesses } from '../support/process.ts'
import { makeCluster } from '../support/stock-postgres.ts'

const ROLE = 'aldis'
const DATABASE = 'postgres'
/** Separates the name of the first server's folder from a port. */
const STANDBY = '-standby-'

export class PostgresServer {
  readonly cluster: Cluster
  readonly port: number
  #server: Server | null = null

  private constructor(cluster: Cluster, port: number) {
    this.cluster = cluster
    this.port = port
  }

  /**
   * Uses npm's installation, or the one that `TEST_POSTGRES` names: the folder that holds its `bin`.
   * @param settings lines of its configuration
   * @param folder of its data
   */
  static async create(settings: readonly string[], folder?: string): Promise<PostgresServer> {
    const cluster = makeCluster(process.env.TEST_POSTGRES || undefined, folder)
    const lines = settings.map((line) => `${line}\n`).join('')
    appendFileSync(join(cluster.path, 'postgresql.auto.conf'), lines)
    const server = new PostgresServer(cluster, await freePort())
    await server.start()
    return server
  }

  get isRunning(): boolean {
    return this.#server !== null
  }

  get pids(): number[] {
    return serverProcesses(dirname(this.cluster.path))
  }

  /** Starts it, or restarts it, however it ended. */
  async start(): Promise<void> {
    await clearLeftovers(this.cluster.path)
    this.#server = await startServer(this.cluster, this.port, new ServerLog(`${this.cluster.path}.log`))
  }

  /** SIGKILL to the whole tree: nothing is flushed, no client is notified. */
  async kill(): Promise<void> {
    signalAll(this.pids, 'SIGKILL')
    await this.#server?.exited
    this.#server = null
  }

  /** Fast shutdown. */
  async stop(): Promise<void> {
    await this.#server?.stop()
    this.#server = null
  }

  /** A connection of the harness, by which a fault acts on the server. */
  async connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: `postgresql://${ROLE}@127.0.0.1:${this.port}/${DATABASE}`,
      connectionTimeoutMillis: 5_000,
      application_name: 'faults',
    })
    // The connection ends with the server.
    client.on('error', () => undefined)
    await client.connect()
    return client
  }

  /** Runs statements one after the other on a connection of its own. */
  async run(...statements: string[]): Promise<pg.QueryResult> {
    const client = await this.connect()
    try {
      let result: pg.QueryResult | undefined
      for (const statement of statements) result = await client.query(statement)
      return result!
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  /** A standby of this one, from a copy of its files: npm brings no pg_basebackup. */
  async standby(): Promise<PostgresServer> {
    // Beside the first server's folder: nested folders of standbys would get names that are too long.
    const [first] = dirname(this.cluster.path).split(STANDBY)
    const path = join(`${first}${STANDBY}${await freePort()}`, 'cluster')
    const copy = { ...this.cluster, path }
    mkdirSync(dirname(path), { recursive: true })
    chmodSync(dirname(path), 0o755)
    const client = await this.connect()
    await client.query(`select pg_backup_start('standby', true)`)
    // Files that vanish during the copy are not needed: the WAL has their content.
    spawnSync('cp', ['-a', this.cluster.path, path], { stdio: 'ignore' })
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    await client.end()
    rmSync(join(path, 'postmaster.pid'), { force: true })
    writeFileSync(join(path, 'backup_label'), rows[0]!.labelfile)
    writeFileSync(join(path, 'standby.signal'), '')
    const conninfo = `primary_conninfo = 'host=127.0.0.1 port=${this.port} user=${ROLE}'\n`
    appendFileSync(join(path, 'postgresql.auto.conf'), conninfo)
    giveTo(copy.account, dirname(path))
    giveTo(copy.account, path)
    const server = new PostgresServer(copy, await freePort())
    await server.start()
    return server
  }

  /** Stops it for good. */
  async dispose(): Promise<void> {
    signalAll(this.pids, 'SIGCONT')
    await this.kill()
    rmSync(dirname(this.cluster.path), { recursive: true, force: true, maxRetries: 5 })
  }
}

export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, signal)
    } catch {
      // The process has ended already.
    }
}
