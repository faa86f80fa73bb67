/**
 * One run of the server process: started, ready, ended.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { invocation } from './account.ts'
import { type Cluster, serverEnvironment } from './cluster.ts'
import { EmbeddedPostgresError } from './failure.ts'
import { postmasterFile } from './leftovers.ts'
import type { ServerLog } from './server-log.ts'

export interface ServerExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Server {
  readonly pid: number
  /** Settles when the process ends, for whatever reason; never rejects. */
  readonly exited: Promise<ServerExit>
  /** Settles when all it wrote has been read. */
  readonly closed: Promise<unknown>
  /** Fast shutdown, then harder; resolves when the process is gone. */
  stop(): Promise<void>
}

/** Longest name of a unix socket in `sun_path`, one byte less than the field (108 on Linux, 104 on macOS). */
const MAX_SOCKET_PATH_BYTES = 103
const READY_POLL_MS = 5
/** Recovery after a crash reads up to `max_wal_size` of WAL. */
const READY_TIMEOUT_MS = 180_000
const OUTPUT_TIMEOUT_MS = 1_000
const FAST_SHUTDOWN_MS = 30_000
const IMMEDIATE_SHUTDOWN_MS = 5_000

/** Directory of the server's unix socket, undefined where its path would be too long or cannot be written in a setting. */
export function socketDirectory(cluster: Cluster, port: number): string | undefined {
  const path = `${cluster.path}/.s.PGSQL.${port}`
  return Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES || path.includes('"') ? undefined : cluster.path
}

/**
 * Starts the server and waits until it takes connections.
 * @throws EmbeddedPostgresError PORT_IN_USE | START_FAILED; the process is gone then
 */
export async function startServer(cluster: Cluster, port: number, log: ServerLog): Promise<Server> {
  const socket = socketDirectory(cluster, port)
  const { command, args, identity } = invocation(cluster.account, cluster.binaries.postgres, [
    ...['-D', cluster.path, '-p', String(port)],
    ...['-c', `unix_socket_directories=${socket === undefined ? '' : `"${socket}"`}`],
  ])
  const child = spawn(command, args, {
    ...identity,
    cwd: cluster.path,
    env: serverEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
    // A session of its own: the terminal's Ctrl-C is for the service, which stops the server after draining.
    detached: true,
  })
  log.follow(child.stderr!)
  const server = follow(child)
  try {
    await ready(cluster, server, log)
    return server
  } catch (error) {
    await server.stop()
    throw error
  }
}

function follow(child: ChildProcess): Server {
  const watcher = child.pid === undefined ? undefined : watchParent(child.pid)
  let running = child.pid !== undefined
  const exited = new Promise<ServerExit>((resolve) => {
    const end = (code: number | null, signal: NodeJS.Signals | null) => {
      running = false
      watcher?.kill('SIGKILL')
      resolve({ code, signal })
    }
    child.once('exit', end)
    child.once('error', () => end(null, null))
  })
  const closed = new Promise((resolve) => {
    child.once('close', resolve)
    child.once('error', resolve)
  })
  const stop = async () => {
    for (const [signal, timeoutMs] of [
      ['SIGINT', FAST_SHUTDOWN_MS],
      ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
    ] as const) {
      if (!running) return
      child.kill(signal)
      await within(exited, timeoutMs)
    }
    if (running) child.kill('SIGKILL')
    await exited
  }
  return { pid: child.pid ?? -1, exited, closed, stop }
}

/**
 * A shell that waits for this process to end in any way, kill -9 included (its standard input then closes), and shuts
 * the server down: otherwise a killed service would leave a server that holds the port.
 */
function watchParent(pid: number): ChildProcess {
  const watcher = spawn('/bin/sh', ['-c', 'read -r _; kill -INT "$1"', 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: serverEnvironment(),
    cwd: '/',
    detached: true,
  })
  watcher.on('error', () => undefined)
  watcher.stdin?.on('error', () => undefined)
  return watcher
}

/** The postmaster writes its state into postmaster.pid, as pg_ctl reads it: no connection is refused meanwhile. */
async function ready(cluster: Cluster, server: Server, log: ServerLog): Promise<void> {
  let exit: ServerExit | undefined
  void server.exited.then((value) => (exit = value))
  const deadline = performance.now() + READY_TIMEOUT_MS
  while (performance.now() < deadline) {
    const lines = postmasterFile(cluster.path)
    if (Number(lines[0]) === server.pid && lines[7]?.trim() === 'ready') return
    if (exit !== undefined) {
      await within(server.closed, OUTPUT_TIMEOUT_MS)
      throw startFailure(exit, log.tail)
    }
    await delay(READY_POLL_MS)
  }
  throw new EmbeddedPostgresError(
    'START_FAILED',
    `PostgreSQL was not ready after ${READY_TIMEOUT_MS / 1000} s`,
  )
}

function startFailure(exit: ServerExit, tail: readonly string[]): EmbeddedPostgresError {
  const said = tail.join(' ')
  if (said.includes('could not create any TCP/IP sockets') || said.includes('Address already in use')) {
    return new EmbeddedPostgresError('PORT_IN_USE', 'the port of the embedded PostgreSQL is in use')
  }
  const fatal = tail.filter((line) => /FATAL|PANIC|unshare:/.test(line)).at(-1) ?? tail.at(-1)
  const how = exit.signal === null ? `code ${exit.code}` : `signal ${exit.signal}`
  return new EmbeddedPostgresError(
    'START_FAILED',
    `PostgreSQL ended at start (${how}): ${fatal ?? 'no output'}`,
  )
}

async function within(event: Promise<unknown>, timeoutMs: number): Promise<void> {
  const timeout = new AbortController()
  const timer = delay(timeoutMs, undefined, { signal: timeout.signal }).catch(() => undefined)
  await Promise.race([event, timer])
  timeout.abort()
}
