/**
 * Everything a session must have, in one place. The statements of this folder run under these settings, regardless
 * of the defaults of the server, role or database.
 */
import type { Queryable } from './database.ts'

/** Names are PostgreSQL's own spelling, values as `pg_settings.setting` shows them. */
const SESSION_SETTINGS = {
  // Plans by index (docs/adr/0006). Forbidden plans add 1e10 to a cost, and `jit` compiles statements whose estimated
  // cost is above 100,000: it compiled each statement every time, and a heartbeat took 2,958 ms instead of 0.2.
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  random_page_cost: '1.1',
  plan_cache_mode: 'auto',
  enable_nestloop: 'on',
  enable_indexscan: 'on',
  enable_indexonlyscan: 'on',
  enable_bitmapscan: 'on',
  enable_sort: 'on',
  enable_material: 'on',
  enable_hashagg: 'on',
  enable_partition_pruning: 'on',
  from_collapse_limit: '8',
  join_collapse_limit: '8',
  // The form of values, here and in `pg`.
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  // Transactions are short and wait for locks; a statement's bound is enough.
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  lock_timeout: '0',
  // Others wait for the locks of a process that stands still within one: less than until they take its work over.
  idle_in_transaction_session_timeout: '6000',
  idle_session_timeout: '0',
  transaction_timeout: '0',
  // Servers are asked one after the other, so that locks are taken in one order, and a transaction has one session on each.
  'citus.multi_shard_modify_mode': 'sequential',
} as const

/** Setting -> value. Settings that the server's version does not have are left out on use. */
export type SessionSettings = Readonly<Record<string, string>>

/** The settings of a session whose statements take at most `statementTimeoutMs`; 0 leaves that to the server. */
export function sessionSettings(statementTimeoutMs: number): SessionSettings {
  if (statementTimeoutMs === 0) return SESSION_SETTINGS
  return { ...SESSION_SETTINGS, statement_timeout: String(statementTimeoutMs) }
}

/** A statement instead of startup parameters, which PgBouncer refuses. */
const SET = `
  select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as "readOnly",
         (select count(set_config(key, value, $2)) from json_each_text($1)
          where current_setting(key, true) is not null) as settings`

/** Sets them for the whole session, or only for the current transaction. Returns whether the session is read-only. */
export async function setForSession(
  db: Queryable,
  settings: SessionSettings,
  scope: 'session' | 'transaction',
): Promise<{ readonly readOnly: boolean }> {
  // With jit_above_cost = 0 the statement below would be compiled: 350 ms when the server has not loaded its compiler yet, 31
  // ms afterwards, within a statement_timeout that the role may have. SET itself is never compiled.
  if ('jit' in settings) await db.query(scope === 'session' ? 'set jit = off' : 'set local jit = off')
  const { rows } = await db.query<{ readOnly: boolean }>(SET, [
    JSON.stringify(settings),
    scope === 'transaction',
  ])
  return rows[0]!
}

/** Key of the advisory lock, 'role', under which nodes that start together change the role one after the other. */
const ROLE_LOCK_KEY = 0x726f6c65

/**
 * Makes the settings defaults of the current role, in this database only, for every session that begins from now on. A
 * role may always do so for itself. Call in a transaction. Returns the names of those that changed.
 */
export async function setForRole(transaction: Queryable, settings: SessionSettings): Promise<string[]> {
  await transaction.query('select pg_advisory_xact_lock($1)', [ROLE_LOCK_KEY])
  const { rows } = await transaction.query<{ key: string; statement: string }>(
    `select key, format('alter role %I in database %I set %I to %L',
                        session_user, current_database(), lower(key), value) as statement
     from json_each_text($1)
     where current_setting(key, true) is not null and not exists (
       select from pg_db_role_setting s
       where s.setrole = (select oid from pg_roles where rolname = session_user)
         and s.setdatabase = (select oid from pg_database where datname = current_database())
         and key || '=' || value = any(s.setconfig))`,
    [JSON.stringify(settings)],
  )
  for (const { statement } of rows) await transaction.query(statement)
  return rows.map(({ key }) => key)
}

/** With `replica` no trigger fires, so no node would learn of changes. Only a superuser can set it. */
const TRIGGERS_FIRE = { session_replication_role: 'origin' }

/** PgBouncer gives a session the name that the server has for UTC: on Debian, Etc/UTC. */
const NAMES_OF_UTC = /^(Etc\/)?(UTC|UCT|Universal|Zulu)$/
/** As the server shows times: `6s`, `5min`; 0 has no unit. */
const UNITS_MS: Readonly<Record<string, number>> = {
  '': 1,
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/**
 * Reads back what a session has of `settings`. Returns those that differ, `name=value` each. `pg_settings`, which would show
 * times in ms, costs a session 5 ms; to compare times in the statement, 1.
 */
export async function differingSettings(db: Queryable, settings: SessionSettings): Promise<string[]> {
  const { rows } = await db.query<{ key: string; value: string; found: string }>(
    `select key, value, found from json_each_text($1), current_setting(key, true) as found where found <> value`,
    [JSON.stringify({ ...settings, ...TRIGGERS_FIRE })],
  )
  const differing = rows.filter(({ key, value, found }) => !isSame(key, value, found))
  return differing.map(({ key, found }) => `${key}=${found}`).sort()
}

function isSame(key: string, wanted: string, found: string): boolean {
  if (key === 'TimeZone' && wanted === 'UTC') return NAMES_OF_UTC.test(found)
  const [, count, unit = ''] = /^(\d+)([a-z]*)$/.exec(found) ?? []
  return key.endsWith('_timeout') && Number(count) * UNITS_MS[unit]! === Number(wanted)
}

/** Ends the session of this transaction. Its statement fails with 57P01. */
export async function endSession(transaction: Queryable): Promise<void> {
  await transaction.query('select pg_terminate_backend(pg_backend_pid())')
}
