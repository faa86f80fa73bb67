import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { EmbeddedPostgresError } from './failure.ts'

/**
 * What an earlier run may have left when it was killed: a server that still runs on the cluster, backends whose
 * postmaster is gone, a postmaster.pid that names a process of somebody else. Called with the directory lock held, so
 * whatever is found belongs to no living aldis.
 */

const POLL_MS = 20
const FAST_SHUTDOWN_MS = 30_000
const IMMEDIATE_SHUTDOWN_MS = 5_000

/**
 * Stops every server process of the cluster at `cluster` (a real path), gently first, and removes a stale
 * postmaster.pid. Returns the number of processes found.
 * @throws EmbeddedPostgresError LEFTOVER_SERVER: one would not end
 */
export async function clearLeftovers(cluster: string): Promise<number> {
  const found = serverProcesses(cluster)
  const postmaster = postmasterPid(cluster)
  if (postmaster !== undefined && found.includes(postmaster)) {
    signal([postmaster], 'SIGINT')
    // The postmaster ends last. If it is killed meanwhile, it leaves busy backends that its signal never reached.
    await until(() => !serverProcesses(cluster).includes(postmaster), FAST_SHUTDOWN_MS)
  }
  for (const name of ['SIGQUIT', 'SIGKILL'] as const) {
    const rest = serverProcesses(cluster)
    if (rest.length === 0) break
    signal(rest, name)
    await until(() => serverProcesses(cluster).length === 0, IMMEDIATE_SHUTDOWN_MS)
  }
  const rest = serverProcesses(cluster)
  if (rest.length > 0) {
    throw new EmbeddedPostgresError(
      'LEFTOVER_SERVER',
      `a PostgreSQL of an earlier run still uses ${cluster} (process ${rest.join(', ')}): stop it`,
    )
  }
  removeLockFiles(cluster)
  return found.length
}

/** PostgreSQL takes a lock file for a living server's if its process id has been reused or is that of a zombie. */
function removeLockFiles(cluster: string): void {
  const stale = readdirSync(cluster).filter(
    (name) => name === 'postmaster.pid' || name.startsWith('.s.PGSQL.'),
  )
  for (const name of stale) rmSync(join(cluster, name), { force: true })
}

/** Process id in postmaster.pid's first line, whether or not such a process lives. */
function postmasterPid(cluster: string): number | undefined {
  const pid = Number.parseInt(postmasterFile(cluster)[0] ?? '', 10)
  return pid > 0 ? pid : undefined
}

/** Lines of postmaster.pid: pid, directory, start time, port, socket directory, address, shared memory, state. */
export function postmasterFile(cluster: string): readonly string[] {
  try {
    return readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return []
  }
}

/** Every server process works with the cluster as its current directory; nothing in a pid file is trusted for it. */
function serverProcesses(cluster: string): number[] {
  if (process.platform !== 'linux') return serverProcessByName(cluster)
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => isServer(pid, cluster)).map(Number)
}

function isServer(pid: string, cluster: string): boolean {
  try {
    // ' (deleted)' follows the name of a program that was replaced while it ran.
    const program = basename(readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, ''))
    return program === 'postgres' && readlinkSync(`/proc/${pid}/cwd`) === cluster
  } catch {
    return false
  }
}

/** Without /proc: the process that postmaster.pid names, when it is a PostgreSQL. */
function serverProcessByName(cluster: string): number[] {
  const pid = postmasterPid(cluster)
  if (pid === undefined) return []
  try {
    const name = execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' })
    return basename(name.trim()) === 'postgres' ? [pid] : []
  } catch {
    return []
  }
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended meanwhile, or it is not ours to stop; the caller looks again.
    }
  }
}

async function until(holds: () => boolean, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!holds() && performance.now() < deadline) await delay(POLL_MS)
}

// One aldis per data directory, held by the kernel: the lock goes with the process, however it ends, and it also holds
// between containers that share the directory, where process ids mean nothing. Node has no flock; SQLite's exclusive
// transaction on an empty file is the same `fcntl` lock.

interface DirectoryLock {
  release(): void
}

const SQLITE_BUSY = 5

/**
 * Takes the lock kept at `path` or fails at once.
 * @throws EmbeddedPostgresError DATA_DIR_IN_USE
 */
export function lockDirectory(path: string, dataDir: string): DirectoryLock {
  const file = new DatabaseSync(path, { timeout: 0 })
  try {
    file.exec('begin exclusive')
  } catch (error) {
    file.close()
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    throw new EmbeddedPostgresError(
      'DATA_DIR_IN_USE',
      `the data directory ${dataDir} is in use by another aldis process`,
    )
  }
  return { release: () => file.close() }
}
