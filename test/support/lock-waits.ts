import type { Queryable } from '../../src/store/database.ts'

const OF_DATABASE = 'datname = current_database()'
const ON_CITUS = `
  select count(distinct waiting_gpid)::integer as count from citus_lock_waits
  where waiting_gpid in (select global_pid from citus_dist_stat_activity where ${OF_DATABASE})`
const ON_ONE_SERVER = `
  select count(*)::integer as count from pg_stat_activity where ${OF_DATABASE} and wait_event_type = 'Lock'`

/** How many transactions of this database wait for a lock, on whichever server. */
export async function lockWaits(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>(db.sharded ? ON_CITUS : ON_ONE_SERVER)
  return rows[0]!.count
}
