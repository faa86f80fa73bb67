/**
 * The connection pool every store function runs on, transactions, and what a database error means for its caller.
 */
import pg from 'pg'
import { clientOf } from './database-client.ts'
import { NoPrimaryError } from './database-hosts.ts'
import { type DatabaseServer, directServer } from './database-server.ts'
import { sessionSettings, setForSession } from './session-settings.ts'

/** Oldest PostgreSQL the statements of this folder are written for. */
export const MINIMUM_SERVER_VERSION = 15

/** One statement. A `name` makes it a prepared statement: give every hot statement one, unique for its text. */
interface Statement {
  readonly name?: string
  readonly text: string
  readonly values?: unknown[]
  /** Milliseconds until the statement is given up and its connection dropped, if sooner than the pool's bound. */
  readonly query_timeout?: number
}

/** What a store function takes as `db`: the pool (each statement commits alone) or a transaction's connection. */
export interface Queryable {
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    statement: Statement | string,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>>
}

export type Database = pg.Pool

/** A connection in a transaction, for work that needs more than statements: COPY. */
export type Transaction = pg.PoolClient

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
    if (readOnly) throw server.hosts.refuse(client as pg.Client)
    await options.onConnect?.(client)
  }
  const pool = new pg.Pool(config)
  // An 'error' nobody listens to ends the process. The pool listens to a connection, and passes it on, only while the
  // connection is idle; the listener on the connection itself hears those and a loss between two statements.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => {
    client.on('error', (error) => report('database connection lost', error))
  })
  return pool
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

/**
 * The COMMIT was sent and its answer never came: the transaction may or may not have taken effect. Read back to learn
 * which.
 */
export class CommitOutcomeUnknownError extends Error {
  override readonly name = 'CommitOutcomeUnknownError'
}

/**
 * Runs `work` in one transaction and returns its value after COMMIT; any throw rolls back and is passed on. No network
 * I/O other than this connection's belongs inside. `settings`: SQL that is sent along with its BEGIN.
 */
export async function withTransaction<T>(
  db: Database,
  work: (transaction: Transaction) => Promise<T>,
  settings: string | null = null,
): Promise<T> {
  const client = await db.connect()
  let broken: Error | undefined
  try {
    await client.query(settings === null ? 'begin' : `begin; ${settings}`)
    const value = await work(client)
    await commit(client)
    return value
  } catch (error) {
    if (isConnectionLost(error) || error instanceof CommitOutcomeUnknownError) broken = error as Error
    else await client.query('rollback').catch((failure: Error) => (broken = failure))
    throw error
  } finally {
    client.release(broken)
  }
}

async function commit(client: pg.PoolClient): Promise<void> {
  let result: pg.QueryResult
  try {
    result = await client.query('commit')
  } catch (error) {
    if (!isConnectionLost(error)) throw error
    throw new CommitOutcomeUnknownError('connection lost during COMMIT', { cause: error })
  }
  // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK and no error: `work` swallowed one.
  if (result.command !== 'COMMIT')
    throw new Error('transaction was rolled back: a statement in it had failed')
}

/** SQLSTATE of the error, or of the error that caused it; undefined when the server did not answer. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return error.code
  if (error instanceof Error && error.cause !== undefined) return sqlState(error.cause)
  return undefined
}

/** After these, the same statement may succeed later (PostgreSQL manual, appendix A: error codes). */
const TRANSIENT_STATES = new Set([
  '25006', // read_only_sql_transaction: connected to a server that has become a standby
  '26000', // invalid_sql_statement_name and
  '42P05', // duplicate_prepared_statement: behind a pooler that mixes them up; names are dropped from then on
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55P03', // lock_not_available
  '57014', // query_canceled: the statement's time bound
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
])

/** Class 53, insufficient resources (too many connections, disk full), and 08, connection exceptions. */
const TRANSIENT_CLASSES = new Set(['53', '08'])

/** The server may have finished the statement before the session ended. */
const SESSION_ENDED_STATES = new Set(['40003', '57P01', '57P02', '57P05'])

/** True when a retry may succeed: connection trouble, restart, deadlock, time-out, no room. */
export function isTransient(error: unknown): boolean {
  const state = sqlState(error)
  if (state !== undefined) return TRANSIENT_STATES.has(state) || TRANSIENT_CLASSES.has(state.slice(0, 2))
  return error instanceof CommitOutcomeUnknownError || isConnectFailure(error) || isConnectionLost(error)
}

/** True when two transactions locked each other out: the same work succeeds when it is repeated at once. */
export function isConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(sqlState(error) ?? '')
}

/** Class 22, data exception; 23, integrity constraint violation; 54, program limit exceeded (an index row too big). */
const ROW_FAULT_CLASSES = new Set(['22', '23', '54'])

/** A batch was refused because of one of its rows (see `isRowFault`): the rest of the batch can be written. */
export class RowFaultError extends Error {
  override readonly name: string = 'RowFaultError'
}

/**
 * True when the statement was refused because of its data. Any other error, such as a missing privilege or database or a
 * lost connection, says nothing about its rows.
 */
export function isRowFault(error: unknown): boolean {
  return error instanceof RowFaultError || ROW_FAULT_CLASSES.has(sqlState(error)?.slice(0, 2) ?? '')
}

/**
 * True when the statement (alone, or the COMMIT of a transaction) may have taken effect although it failed here: the
 * connection was lost while waiting for the answer. False when it certainly did not, so that it may simply be run again.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof CommitOutcomeUnknownError || isConnectionLost(error)
}

/** What `pg` and `pg-pool` say when they could not get a connection at all; nothing was sent. */
const CONNECT_FAILURES = [
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
  'Cannot use a pool after calling end on the pool',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
]

function isConnectFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError) return error.errors.every(isConnectFailure)
  if (error instanceof NoPrimaryError) return true
  const syscall = (error as NodeJS.ErrnoException).syscall
  return syscall === 'connect' || syscall === 'getaddrinfo' || CONNECT_FAILURES.includes(error.message)
}

const LOST_CODES = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ECONNABORTED',
])
const LOST_MESSAGES = ['Connection terminated', 'Query read timeout']

function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error) || isConnectFailure(error)) return false
  const state = sqlState(error)
  if (state !== undefined) return SESSION_ENDED_STATES.has(state) || state.startsWith('08')
  if (LOST_CODES.has((error as NodeJS.ErrnoException).code ?? '')) return true
  return LOST_MESSAGES.some((message) => error.message.startsWith(message))
}

/** Resolves when the database answers. */
export async function ping(db: Queryable): Promise<void> {
  await db.query('select 1')
}

/** Lists the open transactions of processes of this service in the database. */
export async function transactionsUnderWay(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(`
    select pid || ' ' || xact_start as name from pg_stat_activity
    where datname = current_database() and application_name = current_setting('application_name')
      and xact_start is not null and pid <> pg_backend_pid()`)
  return rows.map(({ name }) => name)
}

export interface Durability {
  /** Server settings that lose committed work, `name=value` each; empty when a COMMIT survives power loss. */
  readonly faults: readonly string[]
  /** Standbys are connected. */
  readonly replicated: boolean
  /** A COMMIT waits for a standby. */
  readonly synchronous: boolean
}

/** Reads whether an answered COMMIT in this database survives a crash of the server or of the machine, or its loss. */
export async function checkDurability(db: Queryable): Promise<Durability> {
  const { rows } = await db.query<Durability>(
    `select array(select name || '=' || setting from pg_settings
                  where name in ('fsync', 'synchronous_commit') and setting = 'off' order by name) as faults,
            exists (select from pg_stat_replication) as replicated,
            current_setting('synchronous_standby_names') <> ''
              and current_setting('synchronous_commit') not in ('off', 'local') as synchronous`,
  )
  return rows[0]!
}

/** How many connections to the server this role may have, including those of others. */
export async function connectionLimit(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ most: number }>(
    `select current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
            - coalesce(current_setting('reserved_connections', true)::integer, 0) as most`,
  )
  return rows[0]!.most
}
