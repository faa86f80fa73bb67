/** Brings the schema up to date from `migrations/*.sql`. Any number of processes may do so at once. */
import type pg from 'pg'
import { distributeRecords, isSharded } from './citus.ts'
import { isTransient, type Queryable, sqlState } from './database.ts'
import { DatabaseHosts } from './database-hosts.ts'
import { connect } from './database-server.ts'
import {
  compareSchema,
  MIGRATIONS,
  MIGRATIONS_TABLE,
  migrationsIn,
  type SchemaComparison,
  SchemaError,
  schemaFault,
} from './schema.ts'
import { sessionSettings, setForSession } from './session-settings.ts'

export interface MigrateOptions {
  readonly connectionString: string
  /** Folder of `NNNN_name.sql`, run in that order. Default: the folder next to this file, in `src` as in `dist`. */
  readonly directory?: string
  /** Progress, one line at a time. */
  readonly log?: (line: string) => void
  /** Bound on waiting for another process that is migrating, and for tables that others use. Default 120,000. */
  readonly lockTimeoutMs?: number
}

export interface Migrated {
  /** The migrations that were run; empty when the schema was up to date. */
  readonly applied: readonly string[]
  /** Migrations that only a newer program knows, and with which this one can work. */
  readonly newer: readonly string[]
}

/** Key of the advisory lock: 'aldi' as a number. Any constant does; other programs on the same database differ. */
const LOCK_KEY = 0x616c6469
const ATTEMPTS = 5
const RETRY_DELAY_MS = 500
/** lock_not_available: the wait reached its bound. */
const LOCK_TIMEOUT = '55P03'
/**
 * While a migration waits to lock a table, later statements on that table queue behind it. So the wait is short: the migration
 * gives up, lets them pass, and starts again.
 */
const TABLE_LOCK_TIMEOUT_MS = 2_000

/**
 * Runs the migrations this database has not had, all in one transaction. Processes that start together wait for each other:
 * the lock belongs to the transaction, so it also works behind a pooler and ends with the connection. A lost connection is
 * retried up to 5 times, a table that is in use until the bound; a failing migration is not.
 *
 * @throws SchemaError when a newer program has changed the schema so that this one cannot work with it.
 */
export async function migrate(options: MigrateOptions): Promise<Migrated> {
  const { log = () => undefined, lockTimeoutMs = 120_000 } = options
  const deadlineMs = performance.now() + lockTimeoutMs
  for (let attempt = 1; ; attempt++) {
    const leftMs = deadlineMs - performance.now()
    try {
      return await migrateOnce(options, log, Math.max(1, Math.ceil(leftMs)))
    } catch (error) {
      const isLocked = sqlState(error) === LOCK_TIMEOUT
      const mayRetry = isLocked ? leftMs > TABLE_LOCK_TIMEOUT_MS : isTransient(error) && attempt < ATTEMPTS
      if (!mayRetry) throw error
      log(`migration interrupted (${(error as Error).message}), trying again`)
      const delayMs = isLocked ? RETRY_DELAY_MS : RETRY_DELAY_MS * attempt
      await new Promise((resolve) => setTimeout(resolve, delayMs))
    }
  }
}

/**
 * The same for a start. Most find nothing to do: those read that over a connection of their pool, and need neither one of
 * their own nor the lock.
 */
export async function migrateIfBehind(db: Queryable, options: MigrateOptions): Promise<Migrated> {
  const { pending, newer } = await workableSchema(db, migrationsIn(options.directory ?? MIGRATIONS))
  return pending.length === 0 && !isSharded(db) ? { applied: [], newer } : await migrate(options)
}

/** @throws SchemaError */
async function workableSchema(db: Queryable, known: readonly string[]): Promise<SchemaComparison> {
  const found = await compareSchema(db, known)
  const fault = schemaFault(found, known)
  if (fault !== null) throw new SchemaError(fault)
  return found
}

async function migrateOnce(
  { connectionString, directory = MIGRATIONS }: MigrateOptions,
  log: (line: string) => void,
  lockTimeoutMs: number,
): Promise<Migrated> {
  const client = await connect(new DatabaseHosts(connectionString), 'aldis migrate')
  try {
    await client.query('begin isolation level read committed')
    await takeLock(client, lockTimeoutMs)
    const found = await workableSchema(client, migrationsIn(directory))
    await client.query(`set local lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}`)
    const applied = found.pending.length === 0 ? [] : await run(client, directory, log)
    const distributed = await distributeRecords(client)
    if (distributed.length > 0) log(`distributed over the workers: ${distributed.join(', ')}`)
    await client.query('commit')
    return { applied, newer: found.newer }
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Returns the migrations that were run. The runner is loaded here: most starts find nothing pending, and it takes 50 ms of CPU. */
async function run(client: pg.Client, directory: string, log: (line: string) => void): Promise<string[]> {
  const { runner } = await import('node-pg-migrate')
  const done = await runner({
    dbClient: client,
    dir: directory,
    direction: 'up',
    migrationsTable: MIGRATIONS_TABLE,
    singleTransaction: true,
    // We already hold a lock. The runner's own belongs to the session, which a transaction pooler takes away.
    noLock: true,
    logger: progressLogger(log),
  })
  return done.map(({ name }) => name)
}

/**
 * Waits for the lock. The transaction has the settings that every statement is written for, and no statement timeout: a
 * migration of a large table takes as long as it takes.
 */
async function takeLock(client: pg.Client, timeoutMs: number): Promise<void> {
  const bounds = { lock_timeout: String(timeoutMs), statement_timeout: '0' }
  await setForSession(client, { ...sessionSettings(0), ...bounds }, 'transaction')
  await client.query('select pg_advisory_xact_lock($1)', [LOCK_KEY])
}

/** The runner's lines without its decoration. Its error text per statement is also in the error it throws. */
function progressLogger(log: (line: string) => void) {
  const line = (text: string) => log(text.replace(/^[>#\s-]+|[#\s]+$/g, ''))
  return { debug: () => undefined, info: line, warn: line, error: line }
}
