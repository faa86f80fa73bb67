import type { Growth, Replication, Vacuum } from '../domain/diagnosis.ts'
import { checkDurability, type Queryable } from './database.ts'
import { PARTITIONED_TABLES } from './partitions.ts'

/** How the database is doing, for `aldis doctor`. Nothing here is read while messages are accepted. */

/** Details of a standby are null for a role without pg_monitor. */
export async function readReplication(db: Queryable): Promise<Replication> {
  const { rows: standbys } = await db.query<Replication['standbys'][number]>(
    `select application_name as name, state, sync_state as "syncState",
            extract(epoch from replay_lag)::double precision as "lagSeconds"
     from pg_stat_replication order by application_name limit 10`,
  )
  const { synchronous } = await checkDurability(db)
  return { standbys, synchronous }
}

/** Milliseconds by which this machine's clock is ahead of the database's, halfway between question and answer. */
export async function readClockAhead(db: Queryable, clock: () => number): Promise<number> {
  const askedMs = clock()
  const { rows } = await db.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms',
  )
  return (askedMs + clock()) / 2 - rows[0]!.ms
}

const MANY_DEAD_ROWS = 100_000
const DEAD_SHARE = 0.3

export async function readVacuum(db: Queryable): Promise<Vacuum> {
  const { rows: bloated } = await db.query<Vacuum['bloated'][number]>(
    `select relname as "table", n_dead_tup::double precision as dead, n_live_tup::double precision as live
     from pg_stat_user_tables where n_dead_tup > $1 and n_dead_tup > $2::float8 * n_live_tup
     order by n_dead_tup desc limit 5`,
    [MANY_DEAD_ROWS, DEAD_SHARE],
  )
  const { rows } = await db.query<Omit<Vacuum, 'bloated'>>(
    `select (select extract(epoch from now() - min(xact_start))::double precision
             from pg_stat_activity where backend_type = 'client backend') as "oldestSeconds",
            (select age(datfrozenxid)::double precision from pg_database where datname = current_database())
              as "frozenAge"`,
  )
  return { bloated, ...rows[0]! }
}

/** `yesterday`: YYYYMMDD. */
export async function readGrowth(db: Queryable, yesterday: string): Promise<Growth> {
  const { rows } = await db.query<Growth>(
    `select pg_database_size(current_database())::double precision as bytes,
            (select sum(pg_total_relation_size(i.inhrelid))::double precision
             from pg_inherits i join pg_class c on c.oid = i.inhrelid
             where i.inhparent = any ($1::regclass[]) and c.relname like '%' || $2) as "dayBytes"`,
    [PARTITIONED_TABLES, yesterday],
  )
  return rows[0]!
}
