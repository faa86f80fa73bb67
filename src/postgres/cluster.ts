import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  chownSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { type Account, canReach, chooseAccount, invocation } from './account.ts'
import type { Binaries } from './binaries.ts'
import { EmbeddedPostgresError } from './failure.ts'
import { giveTo, homeFor, reachableBinaries } from './reach.ts'

/**
 * The files of the embedded server. In the data directory:
 *   lock      held by the aldis that runs the server
 *   cluster   PostgreSQL's own directory, or a link to it where its account cannot reach this place
 *   password  of the only role, mode 0600
 *   port      the port it listened on last, kept so that the address stays the same
 *   postgres.log
 */

export const ROLE = 'aldis'
/** initdb makes this database by itself; a further one would need a running server to make it. */
export const DATABASE = 'postgres'

export interface Cluster {
  /** Real path of PostgreSQL's directory. */
  readonly path: string
  readonly password: string
  readonly account: Account
  readonly binaries: Binaries
}

const INITDB_TIMEOUT_MS = 120_000
const PASSWORD_BYTES = 32

/**
 * Finds the cluster of `dataDir` (a real path) or makes it, and brings its settings up to date. The directory lock
 * must be held and no server may run.
 */
export function prepareCluster(dataDir: string, installed: Binaries): Cluster {
  const link = join(dataDir, 'cluster')
  const owner = statSync(link, { throwIfNoEntry: false })
  const account = chooseAccount(installed.postgres, dataDir, owner)
  const binaries = reachableBinaries(installed, account)
  if (owner === undefined) initialise(dataDir, homeFor(dataDir, account), account, binaries)
  const path = realpathSync(link)
  giveTo(account, path)
  if (!canReach(account, path, binaries.postgres)) {
    throw new EmbeddedPostgresError(
      'NO_UNPRIVILEGED_ACCOUNT',
      `PostgreSQL cannot run as root, and uid ${account.uid} cannot reach ${path}: move the data directory`,
    )
  }
  writeFileSync(join(path, 'aldis.conf'), settingsFile(), { mode: 0o644, flush: true })
  return { path, password: readFileSync(join(dataDir, 'password'), 'utf8'), account, binaries }
}

/**
 * Makes the cluster in `staging` and moves it into place when it is complete. A run that is killed half-way leaves only
 * `staging`, or a cluster that nothing points to yet, and the next run starts over.
 */
function initialise(dataDir: string, home: string, account: Account, binaries: Binaries): void {
  const staging = join(home, 'staging')
  rmSync(staging, { recursive: true, force: true })
  rmSync(join(home, 'cluster'), { recursive: true, force: true })
  mkdirSync(staging, { mode: 0o700 })
  const passwordFile = join(staging, 'password')
  writeFileSync(passwordFile, randomBytes(PASSWORD_BYTES).toString('base64url'), { mode: 0o600, flush: true })
  if (account.kind === 'drop') {
    chownSync(staging, account.uid, account.gid)
    chownSync(passwordFile, account.uid, account.gid)
  }
  const cluster = join(staging, 'cluster')
  runInitdb(binaries, account, home, [
    ...['--pgdata', cluster, '--username', ROLE, '--pwfile', passwordFile],
    ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C'],
  ])
  appendFileSync(join(cluster, 'postgresql.conf'), "\ninclude 'aldis.conf'\n", { flush: true })
  moveInto(dataDir, home, staging)
}

function moveInto(dataDir: string, home: string, staging: string): void {
  const password = readFileSync(join(staging, 'password'), 'utf8')
  writeFileSync(join(dataDir, 'password'), password, { mode: 0o600, flush: true })
  renameSync(join(staging, 'cluster'), join(home, 'cluster'))
  syncDirectory(home)
  if (home !== dataDir) symlinkSync(join(home, 'cluster'), join(dataDir, 'cluster'))
  syncDirectory(dataDir)
  rmSync(staging, { recursive: true, force: true })
}

/** A rename outlives power loss only once its directory is synced. */
function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

function runInitdb(binaries: Binaries, account: Account, cwd: string, options: readonly string[]): void {
  const { command, args, identity } = invocation(account, binaries.initdb, options)
  const run = spawnSync(command, args, {
    ...identity,
    cwd,
    env: serverEnvironment(),
    encoding: 'utf8',
    timeout: INITDB_TIMEOUT_MS,
  })
  if (run.status === 0) return
  const reason = run.error?.message ?? run.stderr.trim().split('\n').slice(-3).join('; ')
  throw new EmbeddedPostgresError('INIT_FAILED', `initdb failed in ${cwd}: ${reason}`, { cause: run.error })
}

/** None of our variables: the server must not inherit secrets, a locale or PG* variables that change what it does. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' }
}

// Server settings for this workload: small transactions committed one after another, queue tables that turn over all
// the time, and a machine shared with the service itself.

const MIB = 1024 * 1024
const MAX_SHARED_BUFFERS_MIB = 256
const MIN_SHARED_BUFFERS_MIB = 32

/** An eighth of the memory, 256 MiB at most: the working set is the queues and the newest messages. */
function sharedBuffersMib(memoryBytes: number): number {
  const eighth = Math.floor(memoryBytes / MIB / 8)
  return Math.max(MIN_SHARED_BUFFERS_MIB, Math.min(MAX_SHARED_BUFFERS_MIB, eighth))
}

/** Read before postgresql.auto.conf, so that an operator's ALTER SYSTEM wins over every line. */
function settingsFile(memoryBytes: number = totalmem()): string {
  return `# Written by aldis at each start. Change a setting with ALTER SYSTEM, which wins over this file.
listen_addresses = '127.0.0.1'
unix_socket_permissions = 0700
max_connections = 100
shared_buffers = ${sharedBuffersMib(memoryBytes)}MB

# A COMMIT that was answered survives power loss.
fsync = on
synchronous_commit = on
full_page_writes = on

# Rare checkpoints: after each, every page goes into the WAL whole once. These binaries are built without lz4, and
# pglz costs the processor more than the disk is worth.
wal_compression = off
wal_buffers = 16MB
min_wal_size = 256MB
max_wal_size = 2GB
checkpoint_timeout = 15min
checkpoint_completion_target = 0.9

# A queue table is rewritten many times an hour; vacuum it while its dead rows are few.
autovacuum_naptime = 10s
autovacuum_vacuum_scale_factor = 0.02
autovacuum_vacuum_insert_scale_factor = 0.1
autovacuum_vacuum_cost_limit = 2000

# Dead clients are noticed, and a transaction left open does not hold back vacuum for ever.
tcp_keepalives_idle = 60
idle_in_transaction_session_timeout = 5min

# No statement and no detail: both can hold a message's text or a number.
log_min_messages = warning
log_min_error_statement = panic
log_error_verbosity = terse
log_checkpoints = off
log_line_prefix = '%m [%p] '
log_timezone = 'UTC'
timezone = 'UTC'
`
}
