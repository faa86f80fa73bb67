import type { Duplex } from 'node:stream'
import pg from 'pg'
import type { Database, Queryable } from './database.ts'
import { clientOf } from './database-client.ts'
import { type DatabaseServer, directServer } from './database-server.ts'
import { sessionSettings, setForSession } from './session-settings.ts'

export interface DatabaseOptions {
  readonly connectionString: string
  /** Most connections held at once. */
  readonly poolSize: number
  /** False behind a pooler that cannot carry prepared statements: names are dropped. Default true. */
  readonly prepared?: boolean
  /** Bound on one statement, in the server and here. Default 30,000; 0 leaves it to the server's own setting. */
  readonly statementTimeoutMs?: number
  /** Facts about the server, shared by the pools of a process. Default: no pooler is in front of it. */
  readonly server?: DatabaseServer
  /** Also connects to a server that takes no writes. Default: false. */
  readonly readOnly?: boolean
  /**
   * An idle connection is closed after this long; 0: never. Default a minute; the next burst opens it again in a few
   * milliseconds.
   */
  readonly idleTimeoutMs?: number
  /** Runs on each new connection before its first use. An error closes the connection and fails what waits for it. */
  readonly onConnect?: (connection: Queryable) => Promise<void>
  /** Bound on getting a connection, including the wait for a free one. Default 10,000. */
  readonly connectTimeoutMs?: number
  readonly applicationName?: string
  /** Called for connections lost while idle or between statements; such a loss never ends the process. */
  readonly log?: (message: string, error: Error) => void
}

const DEFAULT_STATEMENT_TIMEOUT_MS = 30_000
/** Extra time that the client allows beyond the server's own bound, for an answer still on its way. */
const STATEMENT_GRACE_MS = 5_000
const IDLE_TIMEOUT_MS = 60_000
const KEEP_ALIVE_DELAY_MS = 10_000

/** Opens the pool. Connections are made when first needed, so an unreachable server shows up at the first statement. */
export function openDatabase(options: DatabaseOptions): Database {
  const statementTimeoutMs = options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS
  const server = options.server ?? directServer(options.connectionString, options.prepared ?? true)
  const report = options.log ?? (() => undefined)
  const config: pg.PoolConfig = {
    connectionString: server.hosts.primary.connectionString,
    max: options.poolSize,
    connectionTimeoutMillis: (options.connectTimeoutMs ?? 10_000) + server.hosts.searchMs,
    idleTimeoutMillis: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    application_name: options.applicationName ?? 'aldis',
    types: TYPES,
    Client: clientOf(server, report),
  }
  if (statementTimeoutMs > 0) config.query_timeout = statementTimeoutMs + STATEMENT_GRACE_MS
  config.onConnect = async (client) => {
    const settings = server.pooled ? {} : sessionSettings(statementTimeoutMs)
    const { readOnly } = await setForSession(client, settings, 'session')
    if (readOnly && options.readOnly !== true) throw server.hosts.refuse(client as pg.Client)
    await options.onConnect?.(client)
  }
  const pool = new pg.Pool(config)
  Object.defineProperty(pool, 'sharded', { get: () => server.sharded })
  Object.defineProperty(pool, 'awayPlans', {
    get: () => server.awayPlans,
    set: (plans: ReadonlySet<number>) => (server.awayPlans = plans),
  })
  // An 'error' nobody listens to ends the process. The pool listens to a connection, and passes it on, only while the
  // connection is idle; the listener on the connection itself hears those and a loss between two statements.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => {
    client.on('error', (error) => report('database connection lost', error))
    readInTurns(client.connection.stream)
  })
  return pool
}

/** Octets of a result that are read without a pause: some 3 ms, if they are rows of accounts or service plans. */
const READ_AT_ONCE = 128 * 1024

/** Without pauses, up to 2 MB of a large result would be read and parsed before anything else has its turn. */
function readInTurns(stream: Duplex): void {
  let octets = 0
  stream.on('data', ({ length }: Buffer) => {
    octets += length
    if (octets < READ_AT_ONCE) return
    octets = 0
    stream.pause()
    setImmediate(() => stream.resume())
  })
}

const INT8 = 20
const INT8_ARRAY = 1016
const DATE = 1082

/** int8 as a number when that is exact, as a bigint when not. */
function int8(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

/** The declared type of `oid` lists only the scalar types; array types are found the same way. */
const parserFor = pg.types.getTypeParser as (oid: number, format: 'text') => (text: string) => unknown
const int8Array = parserFor(INT8_ARRAY, 'text')

/**
 * timestamptz becomes a Date and numeric an exact string, as `pg` does by default; int8 becomes a number where that is
 * exact; a date stays 'YYYY-MM-DD', because a Date at local midnight is another day elsewhere. Set per pool, so that
 * nothing else in the process that uses `pg` changes.
 */
const TYPES = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format === 'binary') return pg.types.getTypeParser(oid, format)
    if (oid === INT8) return int8
    if (oid === DATE) return (text: string) => text
    if (oid === INT8_ARRAY) {
      return (text: string) =>
        (int8Array(text) as (string | null)[]).map((item) => (item === null ? null : int8(item)))
    }
    return parserFor(oid, 'text')
  },
} as pg.CustomTypesConfig

interface PoolWatch {
  /**
   * A statement was answered or failed. `name`: its name as a prepared statement, a constant of the code; null: it has
   * none.
   */
  statement(name: string | null, seconds: number): void
  /** The wait for a connection is over, with or without one. */
  waited(seconds: number): void
}

type Callback = (...results: unknown[]) => void
type AnyFunction = (...args: unknown[]) => unknown

/** Reports how long statements and waits for connections take, in transactions too. Call before the pool is used. */
export function watchPool(db: Database, watch: PoolWatch): void {
  const connect = db.connect.bind(db) as AnyFunction
  db.connect = timed(connect, watch.waited) as typeof db.connect
  db.on('connect', (client: pg.PoolClient) => {
    const query = client.query.bind(client) as AnyFunction
    const timedQuery = (...args: unknown[]) => {
      const { name } = (args[0] ?? {}) as { name?: string }
      return timed(query, (seconds) => watch.statement(name ?? null, seconds))(...args)
    }
    client.query = timedQuery as typeof client.query
  })
}

/** Wraps the function to report how long it takes until its callback is called or its promise is settled. */
function timed(call: AnyFunction, tell: (seconds: number) => void): AnyFunction {
  return (...args) => {
    const startedAtMs = performance.now()
    const end = () => tell((performance.now() - startedAtMs) / 1_000)
    const last = args.findLastIndex((arg) => typeof arg === 'function')
    if (last >= 0) {
      const callback = args[last] as Callback
      args[last] = (...results: unknown[]) => {
        end()
        callback(...results)
      }
      return call(...args)
    }
    const result = call(...args)
    if (result instanceof Promise) result.then(end, end)
    return result
  }
}
