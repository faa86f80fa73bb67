/**
 * A database that is spread over several servers: a coordinator of Citus, which is what Aldis connects to, and its workers.
 * The records of a plan are on one worker, all other tables with the coordinator (docs/adr/0035).
 */
import { CommitOutcomeUnknownError, type Queryable, RowFaultError, sqlState } from './database.ts'
import { PARTITIONED_TABLES } from './partitions.ts'

/**
 * The records of a plan. `feeds` is among them because a position and its event must appear at once, which holds only within
 * one server. A carrier's id leads to a submission before its plan is known.
 */
const BY_PLAN = [...PARTITIONED_TABLES.filter((table) => table !== 'submissions'), 'message_kinds', 'feeds']

/** The server with the records of one of these messages is away, so nothing was asked of any server. */
export class ServerAwayError extends RowFaultError {
  override readonly name = 'ServerAwayError'

  constructor() {
    super('a server with records is away')
  }
}

/** Whether a worker has answered with this error, and not the coordinator. */
export function isOfWorker(error: unknown): boolean {
  return error instanceof Error && / on .+:\d+$/m.test((error as { where?: string }).where ?? '')
}

/** connection_failure */
const CONNECTION_FAILURE = '08006'

export function isSharded(db: Queryable): boolean {
  return db.sharded === true
}

/** The server with the records of this plan is away, as far as this process knows (`AwayServers`). */
export function isAway(db: Queryable, planId: number): boolean {
  return db.awayPlans?.has(planId) ?? false
}

/**
 * For statements about these plans, so that none waits for a server that is known to be away.
 *
 * @throws ServerAwayError when the server of one of them is away
 */
export function mustBeHere(db: Queryable, planIds: readonly number[]): void {
  if (db.awayPlans?.size && planIds.some((planId) => isAway(db, planId))) throw new ServerAwayError()
}

/** The plans whose records are on servers that are away: none of them is to be taken from a queue. */
export function awayPlans(db: Queryable): number[] {
  return [...(db.awayPlans ?? [])]
}

/** Items that one statement is for. `planId` null: they may be of several plans. */
export interface OfPlan<Item> {
  readonly planId: number | null
  readonly items: readonly Item[]
}

/**
 * What statements are made of these items: one or, where the plans are on several servers, one for each plan, in the order
 * of their ids. A statement with `ofPlan` of each table then runs whole on the plan's server.
 *
 * @throws ServerAwayError when the server of one of these plans is away
 */
export function byPlan<Item>(
  db: Queryable,
  items: readonly Item[],
  planOf: (item: Item) => number,
): readonly OfPlan<Item>[] {
  if (!isSharded(db)) return [{ planId: null, items }]
  const plans = Map.groupBy(items, planOf)
  mustBeHere(db, [...plans.keys()])
  return [...plans]
    .map(([planId, its]) => ({ planId, items: its }))
    .sort((one, other) => one.planId - other.planId)
}

/**
 * Has Citus commit `tx` in two phases on the servers of these plans; changes no row. The DELETE: it overlooks COPY to a server
 * that the transaction has only read from, so it prepares nothing there, and if that server does not commit, it warns and commits
 * the rest. The INSERT: without a COPY, or an INSERT of what was selected, it commits a single server before the coordinator.
 */
export async function markAsWritten(tx: Queryable, planIds: readonly number[]): Promise<void> {
  if (planIds.length === 0) return
  await tx.query({
    text: `
      with none as (delete from feeds where plan_id = any($1) and position < 0 returning plan_id, position)
      insert into feeds (plan_id, position) select plan_id, position from none`,
    values: [planIds],
  })
}

/** Condition: the row's plan is `OfPlan.planId`, unless that is null. `parameter` like '$2'. */
export function ofPlan(row: string, parameter: string): string {
  return `${row}.plan_id = coalesce(${parameter}::integer, ${row}.plan_id)`
}

/**
 * The first CTEs of a statement. Where records are on other servers, the rows of these tables for which the condition holds
 * are read first and sent along: a statement with records of one plan then runs on their server.
 */
export function withTables(db: Queryable, tables: Readonly<Record<string, string>>): string {
  if (!isSharded(db)) return ''
  return Object.entries(tables)
    .map(([table, condition]) => `${table} as materialized (select * from ${table} where ${condition}), `)
    .join('')
}

/** The ids of all plans, by which records of all of them are looked up by key. */
export async function listPlanIds(db: Queryable): Promise<number[]> {
  const { rows } = await db.query<{ ids: number[] }>('select array(select id from service_plans) as ids')
  return rows[0]!.ids
}

/**
 * The server that holds each plan's records, by plan. The coordinator knows it, even while that server is away.
 *
 * @param planIds null: all plans
 */
export async function serversOfPlans(
  db: Queryable,
  planIds: readonly number[] | null = null,
): Promise<ReadonlyMap<number, number>> {
  const { rows } = await db.query<{ planId: number; server: number }>({
    text: `
      select p.id as "planId", s.groupid as server
      from unnest(coalesce($1::integer[], array(select id from service_plans))) as p (id)
      join pg_dist_placement s on s.shardid = get_shard_id_for_distribution_column('feeds', p.id)`,
    values: [planIds],
  })
  return new Map(rows.map(({ planId, server }) => [planId, server]))
}

/**
 * Divides what is to be written in transactions: one that waits for a server keeps its locks on all of them. `planOf` null: it
 * is not for one of the servers with records.
 */
export async function byServer<Item>(
  db: Queryable,
  items: readonly Item[],
  planOf: (item: Item) => number | null,
): Promise<readonly (readonly Item[])[]> {
  if (!isSharded(db) || items.length === 0) return [items]
  const planIds = new Set(items.flatMap((item) => planOf(item) ?? []))
  return divide(items, planOf, await serversOfPlans(db, [...planIds]))
}

/** Groups items by the server of their plan. Items of plans that are not in `servers`, or of none, are one group. */
export function divide<Item>(
  items: readonly Item[],
  planOf: (item: Item) => number | null,
  servers: ReadonlyMap<number, number>,
): readonly (readonly Item[])[] {
  const serverOf = (planId: number | null) => (planId === null ? undefined : servers.get(planId))
  return [...Map.groupBy(items, (item) => serverOf(planOf(item))).values()]
}

/**
 * Whether a transaction that failed may be committed. The coordinator says 08006 of a worker that did not prepare its part:
 * then it is committed nowhere.
 */
export function mayBeCommitted(error: unknown): boolean {
  return error instanceof CommitOutcomeUnknownError && sqlState(error) !== CONNECTION_FAILURE
}

/**
 * For each server, a plan that nobody has and whose records would be there. A probe writes its row of `feeds`, so it waits
 * for no message's.
 */
export async function probesOfServers(db: Queryable): Promise<ReadonlyMap<number, number>> {
  const { rows } = await db.query<{ probe: number; server: number }>({
    text: `
      select max(-n) as probe, s.groupid as server from generate_series(1, $1::integer) as n
      join pg_dist_placement s on s.shardid = get_shard_id_for_distribution_column('feeds', -n)
      group by s.groupid`,
    values: [PROBES],
  })
  return new Map(rows.map(({ probe, server }) => [server, probe]))
}

/** Enough that every server with shards has one. */
const PROBES = 1_000
/** The answer of a probe is awaited for as long as its server takes: nothing at the coordinator ends a wait for a worker. */
const NEVER_MS = 2 ** 31 - 1

/**
 * Writes on one server, and commits there. Resolves when that is done, however long it takes; rejects when the server refuses
 * it. `connection` is of no use to others afterwards.
 */
export async function reachServer(connection: Queryable, probe: number): Promise<void> {
  await connection.query('set statement_timeout = 0')
  await connection.query({
    text: `
      insert into feeds as f (plan_id, position) values ($1, 1)
      on conflict (plan_id) do update set position = f.position + 1`,
    values: [probe],
    query_timeout: NEVER_MS,
  })
}

/** Distributes the records by plan, those that are not yet; nothing without the extension. Returns the tables' names. */
export async function distributeRecords(db: Queryable): Promise<string[]> {
  if (!(await hasCitus(db))) return []
  const { rows } = await db.query<{ name: string }>({
    text: `
      select name from unnest($1::text[]) with ordinality as t (name, place)
      where name::regclass not in (select logicalrelid from pg_dist_partition) order by place`,
    values: [BY_PLAN],
  })
  if (rows.length === 0) return []
  // A shard takes no triggers that look into other tables: whoever writes messages notes their kinds (message-kinds.ts).
  await db.query(`
    set local citus.multi_shard_modify_mode = 'sequential';
    drop trigger if exists new_kind on messages; drop trigger if exists other_kind on messages`)
  await distributeFunctions(db)
  for (const { name } of rows) {
    await db.query({
      text: `select create_distributed_table($1::regclass, 'plan_id', colocate_with => $2)`,
      values: [name, name === BY_PLAN[0] ? 'default' : BY_PLAN[0]],
    })
  }
  return rows.map(({ name }) => name)
}

/** Citus sends a function to the workers when it is created, so not those from before there was Citus. */
async function distributeFunctions(db: Queryable): Promise<void> {
  await db.query(`
    select create_distributed_function(p.oid::regprocedure) from pg_proc p
    where p.pronamespace = (select relnamespace from pg_class where oid = 'messages'::regclass)
      and p.prorettype <> 'trigger'::regtype and p.prokind = 'f'
      and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = p.oid and deptype = 'e')
      and p.oid not in (select objid from pg_dist_object where classid = 'pg_proc'::regclass)`)
}

async function hasCitus(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query(`select from pg_extension where extname = 'citus'`)
  return rowCount === 1
}
