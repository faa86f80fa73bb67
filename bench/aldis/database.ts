import pg from 'pg'
import { ensurePartitions } from '../../src/services/upkeep/day-partitions.ts'
import { openDatabase as openPool } from '../../src/store/database-pool.ts'
import { migrate } from '../../src/store/migrate.ts'
import { type Percentiles, percentiles } from '../percentiles.ts'

/** Queries of the bench, on a connection of its own. */

const TIMED_COMMITS = 300

export async function openDatabase(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  return client
}

const DAY_MS = 86_400_000
/** The days that one call of ensurePartitions makes: yesterday to a week from now. */
const DAYS_AT_ONCE = 9

/**
 * Makes the schema, and the empty partitions of a service that was started `days` days ago. Its connections for reads learn
 * them at the start, as they would have done by then.
 */
export async function addPastDays(connectionString: string, days: number): Promise<void> {
  await migrate({ connectionString })
  const pool = openPool({ connectionString, poolSize: 1 })
  for (let past = DAYS_AT_ONCE; past < days + DAYS_AT_ONCE; past += DAYS_AT_ONCE)
    await ensurePartitions(pool, Date.now() - Math.min(past, days) * DAY_MS)
  await pool.end()
}

const WAL_SEGMENTS = 60

/**
 * Makes the WAL files that a server has after an hour. A new server makes each file of 16 MB when it first needs it, and every
 * commit waits 20 ms for that.
 */
export async function makeWalFiles(db: pg.Client): Promise<void> {
  await db.query('create table bench_wal (n integer)')
  for (let n = 0; n < WAL_SEGMENTS; n += 1) {
    await db.query(`insert into bench_wal values (${n})`)
    await db.query('select pg_switch_wal()')
  }
  await db.query('drop table bench_wal')
  await db.query('checkpoint')
}

/** Single-row INSERTs, each committed and synced. */
export async function timeCommits(db: pg.Client): Promise<Percentiles> {
  await db.query('create table bench_commits (n integer)')
  const latencies: number[] = []
  for (let n = 0; n < TIMED_COMMITS; n += 1) {
    const startMs = performance.now()
    await db.query({ name: 'commit', text: 'insert into bench_commits values ($1)', values: [n] })
    latencies.push(performance.now() - startMs)
  }
  await db.query('drop table bench_commits')
  return percentiles(latencies)
}

/** Bytes of write-ahead log so far, of the whole server. */
export async function walBytes(db: pg.Client): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as n`,
  )
  return rows[0]!.n
}

export async function serverFacts(db: pg.Client): Promise<{ version: string; settings: string }> {
  const { rows } = await db.query<{ version: string; settings: string }>(`
    select current_setting('server_version') as version,
           (select string_agg(name || '=' || current_setting(name), ', ' order by name) from pg_settings
            where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'wal_sync_method'))
             as settings`)
  return rows[0]!
}

/** Every message with its status, except the records made before the run. */
export async function messageStatuses(db: pg.Client, since: string): Promise<Map<string, string>> {
  const { rows } = await db.query<{ id: string; status: string }>(
    'select msg_id::text as id, status::text as status from messages where msg_id >= $1',
    [since],
  )
  return new Map(rows.map(({ id, status }) => [id, status]))
}

/** The number of these messages. */
export async function messageCount(db: pg.Client, since: string): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    'select count(*)::integer as n from messages where msg_id >= $1',
    [since],
  )
  return rows[0]!.n
}

export async function planIdOf(db: pg.Client, servicePlanId: string): Promise<number> {
  const { rows } = await db.query<{ id: number }>('select id from service_plans where service_plan_id = $1', [
    servicePlanId,
  ])
  return rows[0]!.id
}

/** Rows still in the queues; 0 when everything is done. */
export async function queuedRows(db: pg.Client): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    `select ((select count(*) from dispatches) + (select count(*) from messages where lane is not null)
             + (select count(*) from event_deliveries))::integer as n`,
  )
  return rows[0]!.n
}

/** Pauses a destination as the operator does. */
export async function pauseDestination(db: pg.Client, servicePlanId: string, origin: string): Promise<void> {
  await db.query(
    `insert into webhook_destinations (plan_id, destination, state, paused_by)
     select id, $2, 'paused', 'operator' from service_plans where service_plan_id = $1`,
    [servicePlanId, origin],
  )
}

export async function resumeDestination(db: pg.Client, servicePlanId: string, origin: string): Promise<void> {
  await db.query(
    `update webhook_destinations d set state = 'recovering', since = now(), paused_by = null
     from service_plans p where p.service_plan_id = $1 and d.plan_id = p.id and d.destination = $2`,
    [servicePlanId, origin],
  )
}

export async function isBreakerOpen(db: pg.Client, origin: string): Promise<boolean> {
  const { rows } = await db.query(
    `select from webhook_destinations where destination = $1 and state = 'open'`,
    [origin],
  )
  return rows.length > 0
}

/** Events not delivered to URLs of the origin, and how many of them are in the memory of a node. */
export async function waitingDeliveries(
  db: pg.Client,
  origin: string,
): Promise<{ waiting: number; held: number }> {
  const { rows } = await db.query<{ waiting: number; held: number }>(
    `select count(*)::integer as waiting, count(d.holder)::integer as held
     from event_deliveries d join messages m on m.plan_id = d.plan_id and m.msg_id = d.msg_id
     where starts_with(m.callback_url, $1 || '/')`,
    [origin],
  )
  return rows[0]!
}
