import type { LinkCondition } from '../domain/routing.ts'
import type { Queryable } from './database.ts'

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
