import type { NodeRole } from '../domain/nodes.ts'
import type { LinkCondition } from '../domain/routing/routing.ts'
import type { Queryable } from './database.ts'
import { NEWEST_MIGRATION, SchemaError, tooNew } from './schema.ts'

/** How long a node's lease lasts after its last heartbeat; its work is taken over afterwards (docs/adr/0008). */
export const LEASE_MS = 8_000

/** A longer gap between its own heartbeats tells a node nothing about others: the database may have been away from all. */
export function gapMs(leaseMs: number): number {
  return leaseMs / 2
}

interface Registration {
  readonly role?: NodeRole | undefined
  readonly leaseMs?: number
}

interface Registered {
  readonly mustKnow: string
  readonly isKnown: boolean
  readonly nodeId: number | null
}

/** Waits for a migration that requires to be known, so that one of the two sees the other (docs/adr/0031). */
const REQUIRED = `required as (
  select must_know, must_know collate "C" <= $4 as is_known from schema_requirement for share)`

/**
 * Registers a node that starts. An earlier node with the same name is replaced at once: its next heartbeat finds itself
 * gone.
 *
 * @throws SchemaError when this program cannot work with the schema
 */
export async function registerNode(
  db: Queryable,
  name: string,
  { role = 'all', leaseMs = LEASE_MS }: Registration = {},
): Promise<number> {
  const { rows } = await db.query<Registered>({
    text: `
      with ${REQUIRED}, registered as (
        insert into nodes (name, role, expires_at, migration)
        select $1, $2, now() + $3 * interval '1 ms', $4 from required where is_known
        on conflict (name) do update set node_id = default, role = excluded.role, started_at = now(),
          expires_at = excluded.expires_at, migration = excluded.migration
        returning node_id
      )
      select must_know as "mustKnow", is_known as "isKnown", node_id as "nodeId"
      from required left join registered on true`,
    values: [name, role, leaseMs, NEWEST_MIGRATION],
  })
  return known(rows[0]!)!
}

/**
 * Registers a node again after its lease ended; null when a process that was started since has its name.
 *
 * @throws SchemaError when this program can no longer work with the schema
 */
export async function registerNodeAgain(
  db: Queryable,
  name: string,
  { role = 'all', leaseMs = LEASE_MS }: Registration = {},
): Promise<number | null> {
  const { rows } = await db.query<Registered>({
    text: `
      with ${REQUIRED}, registered as (
        insert into nodes (name, role, expires_at, migration)
        select $1, $2, now() + $3 * interval '1 ms', $4 from required where is_known
        on conflict do nothing returning node_id
      )
      select must_know as "mustKnow", is_known as "isKnown", node_id as "nodeId"
      from required left join registered on true`,
    values: [name, role, leaseMs, NEWEST_MIGRATION],
  })
  return known(rows[0]!)
}

function known({ mustKnow, isKnown, nodeId }: Registered): number | null {
  if (!isKnown) throw new SchemaError(tooNew(mustKnow))
  return nodeId
}

export interface Heartbeat {
  /** `expired`: the lease was over and others may have taken the work. `replaced`: another process has this name. */
  readonly state: 'alive' | 'expired' | 'replaced'
  /** Every node that is not dead, this one included. */
  readonly nodes: readonly { readonly nodeId: number; readonly role: NodeRole }[]
  /** Milliseconds until the first lease of another living node ends, unless renewed; null: there is no other. */
  readonly firstEndMs: number | null
  /** The database's clock, Unix milliseconds. */
  readonly databaseMs: number
}

/** A slower heartbeat could not keep the lease, since the next would come too late. The next one takes another connection. */
function heartbeatTimeoutMs(leaseMs: number): number {
  return leaseMs / 4
}

interface Beat {
  readonly nodeId: number
  readonly name: string
  readonly mayRemove: boolean
  readonly leaseMs?: number
  /** When the lease is to begin, by the database's clock, Unix milliseconds; null: when the statement runs. */
  readonly askedMs?: number | null
}

/**
 * Renews the lease and, with `mayRemove`, removes nodes whose lease is over. None is removed after a gap by the
 * database's clock: then the statement may have waited in a server that stood still, or that clock was set, and the
 * others had no chance to renew.
 *
 * A server that stood still runs the statement of a node that has died meanwhile. So the lease begins when it was asked for,
 * and a statement that was overtaken by a later one does not shorten it.
 */
export async function heartbeat(db: Queryable, beat: Beat): Promise<Heartbeat> {
  const { nodeId, name, mayRemove, leaseMs = LEASE_MS, askedMs = null } = beat
  const { rows } = await db.query<Omit<Heartbeat, 'state'> & { state: Heartbeat['state'] | null }>({
    name: 'heartbeat',
    text: `
      with renewed as (
        update nodes
        set expires_at = greatest(least(now(), coalesce(to_timestamp($6 / 1000.0), now())) + $2 * interval '1 ms',
                                  least(expires_at, now() + $2 * interval '1 ms'))
        where node_id = $1 returning node_id
      ), dead as (
        delete from nodes where $4 and expires_at < now() and node_id <> $1
          and exists (select from nodes where node_id = $1 and expires_at >= now() + $5 * interval '1 ms')
        returning node_id
      )
      select case when exists (select from renewed) then 'alive'
                  when exists (select from nodes where name = $3 and node_id <> $1) then 'replaced'
                  when not exists (select from nodes where node_id = $1) then 'expired' end as state,
             (select coalesce(json_agg(json_build_object('nodeId', node_id, 'role', role)), '[]')
              from nodes where node_id not in (select node_id from dead)) as nodes,
             (select (extract(epoch from min(expires_at) - now()) * 1000)::double precision from nodes
              where node_id <> $1 and expires_at >= now()) as "firstEndMs",
             (extract(epoch from clock_timestamp()) * 1000)::double precision as "databaseMs"`,
    values: [nodeId, leaseMs, name, mayRemove, leaseMs - gapMs(leaseMs), askedMs],
    query_timeout: heartbeatTimeoutMs(leaseMs),
  })
  const { state, ...others } = rows[0]!
  // The node was there when the statement began, and gone when it was to be renewed: only a new statement sees what
  // happened.
  return state === null ? heartbeat(db, beat) : { state, ...others }
}

/**
 * Takes up to `limit` buckets that no node owns: a node is dead once its row is gone. Returns all that the node owns
 * then.
 */
export async function takeBuckets(
  db: Queryable,
  nodeId: number,
  limit: number,
): Promise<{ owned: number[]; taken: number[] }> {
  const { rows } = await db.query<{ bucket: number; taken: boolean }>({
    name: 'take_buckets',
    text: `
      with free as (
        select bucket from buckets
        where node_id is null or node_id not in (select node_id from nodes)
        order by bucket limit greatest($2 - (select count(*) from buckets where node_id = $1), 0)
        for update
      ), taken as (
        update buckets b set node_id = $1 from free where b.bucket = free.bucket
          and (b.node_id is null or b.node_id not in (select node_id from nodes))
        returning b.bucket
      )
      select bucket, true as taken from taken
      union all
      select bucket, false from buckets where node_id = $1 and bucket not in (select bucket from taken)`,
    values: [nodeId, limit],
  })
  return {
    owned: rows.map((row) => row.bucket),
    taken: rows.filter((row) => row.taken).map((row) => row.bucket),
  }
}

/** Gives buckets up, so that another node may take them. */
export async function releaseBuckets(
  db: Queryable,
  nodeId: number,
  buckets: readonly number[],
): Promise<void> {
  await db.query({
    text: 'update buckets set node_id = null where node_id = $1 and bucket = any ($2::smallint[])',
    values: [nodeId, buckets],
  })
}

/** Removes a node; its buckets are free at once. */
export async function removeNode(db: Queryable, nodeId: number): Promise<void> {
  await db.query({
    text: `
      with freed as (update buckets set node_id = null where node_id = $1)
      delete from nodes where node_id = $1`,
    values: [nodeId],
  })
}

/** Records what the sessions of a node can do. `conditions`: JSON, LinkCondition by carrier id. */
export async function publishConditions(db: Queryable, nodeId: number, conditions: string): Promise<void> {
  await db.query({
    name: 'publish_conditions',
    text: 'update nodes set carriers = $2 where node_id = $1',
    values: [nodeId, conditions],
  })
}

export interface OtherNodes {
  /** One object for each other node that may send, by carrier id. */
  readonly others: readonly Readonly<Record<string, LinkCondition>>[]
  /** Whether messages are due that were handed to one of `carriers`. */
  readonly handed: boolean
}

/** What the other nodes with at least `leftMs` of lease can do, and whether anything was handed to these carriers. */
export async function readOtherNodes(
  db: Queryable,
  { nodeId, leftMs, carriers }: { nodeId: number; leftMs: number; carriers: readonly number[] },
): Promise<OtherNodes> {
  const { rows } = await db.query<OtherNodes>({
    name: 'read_other_nodes',
    text: `
      select (select coalesce(json_agg(carriers), '[]') from nodes
              where node_id <> $1 and expires_at > now() + $2 * interval '1 ms') as others,
             exists (
               select from unnest($3::integer[]) as c (id)
               cross join lateral (
                 select from dispatches
                 where chosen_carrier_id <> 0 and chosen_carrier_id = c.id and due_at <= now()
                 order by due_at limit 1) d
             ) as handed`,
    values: [nodeId, leftMs, carriers],
  })
  return rows[0]!
}
