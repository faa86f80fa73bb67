/**
 * The PostgreSQL that aldis brings along: one server on one data directory, kept running until stopped.
 */

import { randomInt } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { locateBinaries } from './binaries.ts'
import { type Cluster, DATABASE, prepareCluster, ROLE } from './cluster.ts'
import { EmbeddedPostgresError } from './failure.ts'
import { clearLeftovers, lockDirectory } from './leftovers.ts'
import { type Server, type ServerExit, socketDirectory, startServer } from './server.ts'
import { ServerLog } from './server-log.ts'

export interface EmbeddedPostgresOptions {
  /** Made when missing; the database's files, password and log lie in it. */
  readonly dataDir: string
  /** One line for each event worth telling an operator. */
  readonly log?: (line: string) => void
  /** TCP port on 127.0.0.1. Default: the one of last time, or a free one. */
  readonly port?: number
}

export interface EmbeddedPostgres {
  /** Over TCP, for any client; holds the password. Stays the same over restarts of the server. */
  readonly connectionString: string
  /** For this process: over the unix socket where there is one (20 µs less for a small statement). */
  readonly localConnectionString: string
  readonly port: number
  /** Stops the server and frees the directory. Close connections first: those still open are cut. */
  stop(): Promise<void>
  /** Called once if the server has ended and cannot be kept running. Not called by `stop`. */
  onExit(listener: (exit: ServerExit) => void): void
}

/** Below the range from which Linux and macOS take ports for outgoing connections. */
const FIRST_PORT = 20_000
const LAST_PORT = 32_000
const PORT_ATTEMPTS = 20
/** A server that ends by itself is started again; five times within a minute is a fault that restarting cannot mend. */
const MAX_RESTARTS = 5
const RESTART_WINDOW_MS = 60_000
const RESTART_DELAY_MS = 100

/**
 * Starts the server of `dataDir`, made first when new, and resolves when it takes connections. What an earlier run left
 * behind (a server still running, a stale postmaster.pid, a half-made cluster) is cleared up first.
 * @throws EmbeddedPostgresError with a `code` and a message of one line
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => undefined)
  const binaries = locateBinaries()
  const dataDir = writableDirectory(options.dataDir)
  const lock = lockDirectory(join(dataDir, 'lock'), dataDir)
  try {
    const existing = existingCluster(dataDir)
    const leftovers = existing === undefined ? 0 : await clearLeftovers(existing)
    if (leftovers > 0) log('stopped a PostgreSQL that an earlier run had left')
    const cluster = prepareCluster(dataDir, binaries)
    const serverLog = new ServerLog(join(dataDir, 'postgres.log'))
    const { server, port } = await startOnSomePort(dataDir, cluster, serverLog, options.port)
    const supervisor = new Supervisor({ cluster, port, serverLog, log, server })
    const stop = async () => {
      await supervisor.stop()
      lock.release()
    }
    const credentials = `postgresql://${ROLE}:${cluster.password}`
    const connectionString = `${credentials}@127.0.0.1:${port}/${DATABASE}`
    const socket = socketDirectory(cluster, port)
    const localConnectionString =
      socket === undefined
        ? connectionString
        : `${credentials}@localhost:${port}/${DATABASE}?host=${encodeURIComponent(socket)}`
    const onExit = (listener: (exit: ServerExit) => void) => supervisor.onExit(listener)
    return { connectionString, localConnectionString, port, stop: once(stop), onExit }
  } catch (error) {
    lock.release()
    throw error
  }
}

function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => (running ??= work())
}

function writableDirectory(path: string): string {
  try {
    makeDirectory(resolve(path))
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return realpathSync(path)
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    const message = `cannot write the data directory ${resolve(path)} (${reason})`
    throw new EmbeddedPostgresError('DATA_DIR_UNWRITABLE', message, { cause: error })
  }
}

/** Not mkdir's own recursion, which never ends where the kernel answers ENOENT below an existing folder, as in /proc. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return
  makeDirectory(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function existingCluster(dataDir: string): string | undefined {
  try {
    return realpathSync(join(dataDir, 'cluster'))
  } catch {
    return undefined
  }
}

/** The wanted port, else the last one, else any: PostgreSQL itself finds out whether a port is free. */
async function startOnSomePort(
  dataDir: string,
  cluster: Cluster,
  serverLog: ServerLog,
  wanted: number | undefined,
): Promise<{ server: Server; port: number }> {
  const portFile = join(dataDir, 'port')
  let port = wanted ?? lastPort(portFile) ?? randomInt(FIRST_PORT, LAST_PORT)
  for (let attempt = 1; ; attempt++) {
    try {
      const server = await startServer(cluster, port, serverLog)
      writeFileSync(portFile, String(port), { mode: 0o600 })
      return { server, port }
    } catch (error) {
      const taken = error instanceof EmbeddedPostgresError && error.code === 'PORT_IN_USE'
      if (!taken || wanted !== undefined || attempt === PORT_ATTEMPTS) throw error
      port = randomInt(FIRST_PORT, LAST_PORT)
    }
  }
}

function lastPort(portFile: string): number | undefined {
  try {
    const port = Number(readFileSync(portFile, 'utf8'))
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined
  } catch {
    return undefined
  }
}

interface Supervised {
  readonly cluster: Cluster
  readonly port: number
  readonly serverLog: ServerLog
  readonly log: (line: string) => void
  readonly server: Server
}

/** Starts the server again when it ends by itself, on the same port, so that pools reconnect and nothing else notices. */
class Supervisor {
  readonly #parts: Supervised
  readonly #listeners: ((exit: ServerExit) => void)[] = []
  #server: Server
  #stopping = false
  #watching: Promise<void>

  constructor(parts: Supervised) {
    this.#parts = parts
    this.#server = parts.server
    this.#watching = this.#watch()
  }

  onExit(listener: (exit: ServerExit) => void): void {
    this.#listeners.push(listener)
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await this.#server.stop()
    await this.#watching
    // A restart may have been in progress when the flag was set.
    await this.#server.stop()
  }

  async #watch(): Promise<void> {
    const restarts: number[] = []
    for (;;) {
      const exit = await this.#server.exited
      if (this.#stopping) return
      const now = performance.now()
      restarts.push(now)
      const recent = restarts.filter((at) => now - at < RESTART_WINDOW_MS).length
      this.#parts.log(
        `PostgreSQL ended unexpectedly (${exit.signal ?? `code ${exit.code}`}), starting it again`,
      )
      if (recent > MAX_RESTARTS || !(await this.#restart(recent))) {
        if (!this.#stopping) for (const listener of this.#listeners) listener(exit)
        return
      }
    }
  }

  async #restart(recent: number): Promise<boolean> {
    const { cluster, port, serverLog, log } = this.#parts
    try {
      await delay(RESTART_DELAY_MS * recent)
      await clearLeftovers(cluster.path)
      if (this.#stopping) return false
      this.#server = await startServer(cluster, port, serverLog)
      return true
    } catch (error) {
      log(`PostgreSQL could not be started again: ${(error as Error).message}`)
      return false
    }
  }
}
