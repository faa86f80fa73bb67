/** Brings the schema up to date from `migrations/*.sql`. Any number of processes may do so at once. */
import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import type pg from 'pg'
import { isTransient, type Queryable, sqlState } from './database.ts'
import { DatabaseHosts } from './database-hosts.ts'
import { connect } from './database-server.ts'
import { sessionSettings, setForSession } from './session-settings.ts'

export interface MigrateOptions {
  readonly connectionString: string
  /** Folder of `NNNN_name.sql`, run in that order. Default: the folder next to this file, in `src` as in `dist`. */
  readonly directory?: string
  /** Progress, one line at a time. */
  readonly log?: (line: string) => void
  /** Bound on waiting for another process that is migrating. Default 120,000. */
  readonly lockTimeoutMs?: number
}

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url))
const MIGRATIONS_TABLE = 'schema_migrations'
/** Key of the advisory lock: 'aldi' as a number. Any constant does; other programs on the same database differ. */
const LOCK_KEY = 0x616c6469
const ATTEMPTS = 5
const RETRY_DELAY_MS = 500
/** lock_not_available: the wait reached its bound. */
const LOCK_TIMEOUT = '55P03'

/**
 * Runs the migrations this database has not had, all in one transaction, and returns their names ([] when up to date).
 * Processes that start together wait for each other: the lock belongs to the transaction, so it also works behind a
 * pooler and ends with the connection. A lost connection is retried up to 5 times; a failing migration is not.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const log = options.log ?? (() => undefined)
  for (let attempt = 1; ; attempt++) {
    try {
      return await migrateOnce(options, log)
    } catch (error) {
      if (attempt === ATTEMPTS || !isTransient(error) || sqlState(error) === LOCK_TIMEOUT) throw error
      log(`migration interrupted (${(error as Error).message}), trying again`)
      await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS * attempt))
    }
  }
}

/** The migrations that this database has not had, in their order. */
export async function pendingMigrations(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    MIGRATIONS_TABLE,
  ])
  const done = rows[0]!.exists
    ? await db.query<{ name: string }>(`select name from ${MIGRATIONS_TABLE}`)
    : null
  const names = new Set(done?.rows.map(({ name }) => name))
  const known = readdirSync(MIGRATIONS).filter((file) => file.endsWith('.sql'))
  return known
    .map((file) => basename(file, '.sql'))
    .filter((name) => !names.has(name))
    .sort()
}

async function migrateOnce(options: MigrateOptions, log: (line: string) => void): Promise<string[]> {
  const client = await connect(new DatabaseHosts(options.connectionString), 'aldis migrate')
  try {
    await client.query('begin isolation level read committed')
    await takeLock(client, options.lockTimeoutMs ?? 120_000)
    const done = await runner({
      dbClient: client,
      dir: options.directory ?? MIGRATIONS,
      direction: 'up',
      migrationsTable: MIGRATIONS_TABLE,
      singleTransaction: true,
      // We already hold a lock. The runner's own belongs to the session, which a transaction pooler takes away.
      noLock: true,
      logger: progressLogger(log),
    })
    await client.query('commit')
    return done.map(({ name }) => name)
  } finally {
    await client.end().catch(() => undefined)
  }
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
