/**
 * A PostgreSQL as `initdb` alone makes it, with the settings that the server has by itself: what most people run. Where it
 * listens is all that is chosen.
 */
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type Account, chooseAccount, invocation } from '../../src/postgres/account.ts'
import { type Binaries, binariesIn, locateBinaries } from '../../src/postgres/binaries.ts'
import { type Cluster, serverEnvironment } from '../../src/postgres/cluster.ts'
import { EmbeddedPostgresError } from '../../src/postgres/failure.ts'
import { giveTo, homeFor, reachableBinaries } from '../../src/postgres/reach.ts'
import { type Server, startServer } from '../../src/postgres/server.ts'
import { ServerLog } from '../../src/postgres/server-log.ts'
import { RAM_DISK, ramDiskHas } from './ram-disk.ts'

const ROLE = 'aldis'
/** A whole run writes less; below it a RAM disk is left alone. */
const ROOM_BYTES = 4 * 1024 ** 3
const FIRST_PORT = 20_000
const LAST_PORT = 32_000
const PORT_ATTEMPTS = 20

export interface StockPostgres {
  /** Of the maintenance database, as superuser, over TCP. */
  readonly connectionString: string
  readonly port: number
  /** Where the cluster lies, and who may run programs on it. */
  readonly cluster: Cluster
  /** Stops it and starts it again, on the same port. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/**
 * Makes and starts one.
 * @param root folder that holds `bin`, like /usr/lib/postgresql/15; without it the binaries that npm installed
 * @param settings lines of its postgresql.conf
 */
export async function startStockPostgres(
  root?: string,
  settings: readonly string[] = [],
): Promise<StockPostgres> {
  const cluster = makeCluster(root)
  appendFileSync(join(cluster.path, 'postgresql.conf'), `\n${settings.join('\n')}\n`)
  return await startCluster(cluster)
}

/** A cluster in a folder of its own, in memory where there is room, or in a given one. */
export function makeCluster(root?: string, folder = scratchFolder()): Cluster {
  const installed = root === undefined ? locateBinaries() : binariesIn(root)
  const account = chooseAccount(installed.postgres, folder, undefined)
  const binaries = reachableBinaries(installed, account)
  const path = join(homeFor(folder, account), 'cluster')
  mkdirSync(path, { mode: 0o700 })
  if (account.kind === 'drop') chownSync(path, account.uid, account.gid)
  initialise(path, account, binaries)
  return { path, password: '', account, binaries }
}

function scratchFolder(): string {
  return mkdtempSync(join(ramDiskHas(ROOM_BYTES) ? RAM_DISK : tmpdir(), 'aldis-test-'))
}

/** The locale is the machine's, as it is for whoever runs initdb; of those, one that every machine has. */
function initialise(path: string, account: Account, binaries: Binaries): void {
  const { command, args, identity } = invocation(account, binaries.initdb, [
    ...['--pgdata', path, '--username', ROLE],
  ])
  const env = { ...serverEnvironment(), LC_ALL: process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8' }
  const { status, stderr, error } = spawnSync(command, args, { ...identity, cwd: '/', env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`initdb failed: ${error?.message ?? stderr}`)
}

async function startCluster(cluster: Cluster): Promise<StockPostgres> {
  const { server: first, port } = await startSomewhere(cluster)
  let server = first
  return {
    connectionString: `postgresql://${ROLE}@127.0.0.1:${port}/postgres`,
    port,
    cluster,
    async restart() {
      await server.stop()
      server = await startServer(cluster, port, new ServerLog(`${cluster.path}.log`))
    },
    async stop() {
      await server.stop()
      rmSync(join(cluster.path, '..'), { recursive: true, force: true })
    },
  }
}

async function startSomewhere(cluster: Cluster): Promise<{ server: Server; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT)
    try {
      return { server: await startServer(cluster, port, new ServerLog(`${cluster.path}.log`)), port }
    } catch (error) {
      const taken = error instanceof EmbeddedPostgresError && error.code === 'PORT_IN_USE'
      if (!taken || attempt === PORT_ATTEMPTS) throw error
    }
  }
}

export interface Pair extends AsyncDisposable {
  readonly primary: StockPostgres
  readonly standby: StockPostgres
}

/** Two servers, the second a standby of the first. */
export async function startPair(root?: string): Promise<Pair> {
  const { primary, standbys, ...rest } = await startReplicated(1, root)
  return { primary, standby: standbys[0]!, ...rest }
}

export interface Replicated extends AsyncDisposable {
  readonly primary: StockPostgres
  readonly standbys: readonly StockPostgres[]
}

/** A server, and as many standbys of it: copies of its files, since npm brings no pg_basebackup. */
export async function startReplicated(count: number, root?: string): Promise<Replicated> {
  const cluster = makeCluster(root)
  const copies = Array.from({ length: count }, (_, n) => ({ ...cluster, path: `${cluster.path}-copy-${n}` }))
  for (const { path } of copies) cpSync(cluster.path, path, { recursive: true })
  const primary = await startCluster(cluster)
  const standbys = await Promise.all(copies.map((copy) => startStandby(copy, primary)))
  return {
    primary,
    standbys,
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all([primary, ...standbys].map((server) => server.stop()))),
  }
}

async function startStandby(copy: Cluster, primary: StockPostgres): Promise<StockPostgres> {
  const conninfo = `primary_conninfo = '${conninfoOf(primary)}'\n`
  appendFileSync(join(copy.path, 'postgresql.auto.conf'), conninfo)
  writeFileSync(join(copy.path, 'standby.signal'), '')
  chmodSync(copy.path, 0o700)
  giveTo(copy.account, copy.path)
  return await startCluster(copy)
}

/** How a standby reaches this server. */
export function conninfoOf({ port }: StockPostgres): string {
  return `host=127.0.0.1 port=${port} user=${ROLE}`
}

/** The rows of one statement, on a connection of its own. */
export async function ask<Row extends pg.QueryResultRow>(
  server: StockPostgres,
  statement: string,
): Promise<Row[]> {
  const client = new pg.Client(server.connectionString)
  await client.connect()
  try {
    return (await client.query<Row>(statement)).rows
  } finally {
    await client.end()
  }
}
