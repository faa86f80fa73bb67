/**
 * What every store function runs on: statements, transactions, and what a database error means for its caller.
 */
import pg from 'pg'

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
  /** The records are on several servers (store/citus.ts). */
  readonly sharded?: boolean
  /** Plans whose records are on a server that is away; set by `AwayServers`. */
  awayPlans?: ReadonlySet<number> | undefined
}

type OfServers = Pick<Queryable, 'sharded' | 'awayPlans'>
export type Database = pg.Pool & OfServers

/** A connection in a transaction, for work that needs more than statements: COPY. */
export type Transaction = pg.PoolClient &
  OfServers & {
    /** It is closed at the end of its transaction. */
    isSpoilt?: boolean
    /** How long the answer to a statement is awaited; absent: as long as the pool allows. */
    answerMs?: number | undefined
  }

/**
 * The COMMIT was sent and its answer never came: the transaction may or may not have taken effect. Read back to learn
 * which.
 */
export class CommitOutcomeUnknownError extends Error {
  override readonly name = 'CommitOutcomeUnknownError'
}

/** Of several servers, one that hangs holds up a statement that writes records no longer than this. */
const SEVERAL_SERVERS_MS = 5_000
/** Bound on ending the session of one. */
const END_MS = 1_000

/**
 * Runs `work` in one transaction and returns its value after COMMIT; any throw rolls back and is passed on. No network
 * I/O other than this connection's belongs inside. `settings`: SQL that is sent along with its BEGIN.
 */
export async function withTransaction<T>(
  db: Database,
  work: (transaction: Transaction) => Promise<T>,
  settings: string | null = null,
): Promise<T> {
  const client: Transaction = await db.connect()
  let broken: Error | undefined
  if (db.sharded === true) client.answerMs = SEVERAL_SERVERS_MS
  try {
    await client.query(settings === null ? 'begin' : `begin; ${settings}`)
    const value = await work(client)
    await commit(client)
    return value
  } catch (error) {
    if (db.sharded === true && isUnanswered(error)) await endSessionOf(client, db)
    if (isConnectionLost(error) || error instanceof CommitOutcomeUnknownError) broken = error as Error
    else await client.query('rollback').catch((failure: Error) => (broken = failure))
    throw error
  } finally {
    client.answerMs = undefined
    client.release(broken ?? client.isSpoilt)
  }
}

function isUnanswered(error: unknown): boolean {
  return error instanceof Error && (error.message === UNANSWERED || isUnanswered(error.cause))
}

/**
 * Ends a session whose transaction waits for one of several servers, unless it already waits in a way that nothing ends until
 * that server is back (docs/adr/0035). It would answer no ROLLBACK. Never rejects.
 */
async function endSessionOf(client: pg.PoolClient, db: Database): Promise<void> {
  const statement = {
    text: `
      select pg_terminate_backend(pid) from pg_stat_activity
      where pid = $1 and application_name = current_setting('application_name')
        and xact_start < clock_timestamp() - $2 * interval '1 ms'`,
    values: [(client as unknown as { processID: number }).processID, SEVERAL_SERVERS_MS / 2],
    query_timeout: END_MS,
  }
  await db.query(statement).catch(() => undefined)
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

/**
 * For a statement without a transaction that writes records, or reads them for what others wait for: where they are on several
 * servers, its answer is awaited no longer than one in a transaction.
 */
export function inTime(db: Queryable): Pick<Statement, 'query_timeout'> {
  return db.sharded === true ? { query_timeout: SEVERAL_SERVERS_MS } : {}
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
  '25P03', // idle_in_transaction_session_timeout: this process stood still within a transaction
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

/** No server of DATABASE_URL takes writes now; one may later. */
export class NoPrimaryError extends Error {
  override readonly name = 'NoPrimaryError'
}

/** The server is starting up, shutting down or recovering. */
const CANNOT_CONNECT_NOW = '57P03'

/** What `pg-pool` says when each of its connections was in use, or being made, for as long as a statement may wait for one. */
const POOL_EXHAUSTED = 'timeout exceeded when trying to connect'
/** What `pg` says when an answer took longer than `query_timeout`. */
const UNANSWERED = 'Query read timeout'

/**
 * `unreachable`: there is no connection, or it was lost. `unanswered`: an answer did not come in time. `busy`: no connection
 * of a pool became free in time.
 */
export type Outage = 'unreachable' | 'unanswered' | 'busy'

/** Why this statement failed, if others fail likewise whatever they ask; null: it failed for itself. */
export function outageOf(error: unknown): Outage | null {
  if (!(error instanceof Error)) return null
  if (error.message === POOL_EXHAUSTED) return 'busy'
  if (error.message === UNANSWERED) return 'unanswered'
  const isUnreachable =
    isConnectFailure(error) || isConnectionLost(error) || sqlState(error) === CANNOT_CONNECT_NOW
  return isUnreachable ? 'unreachable' : null
}

/** What `pg` and `pg-pool` say when they could not get a connection at all; nothing was sent. */
const CONNECT_FAILURES = [
  POOL_EXHAUSTED,
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
const LOST_MESSAGES = ['Connection terminated', UNANSWERED]

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
    `select array(select name || '=off' from unnest('{fsync,synchronous_commit}'::text[]) as name
                  where current_setting(name) = 'off') as faults,
            exists (select from pg_stat_get_wal_senders()) as replicated,
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
