import type { Queryable } from './database.ts'

/** Position by plan, in digits: it may be beyond what a number holds. */
export type FeedPositions = Readonly<Record<string, string>>

/**
 * Part of a statement: draws the next position in the feed of each plan that the query `plans` returns (`plan_id`). Ends
 * with `drawn`, one row: `positions`, an object by plan. The plans' rows stay locked until the transaction ends. So
 * positions appear in their order, and a reader who is behind one has missed none before it. Draw once per transaction,
 * after its locks on messages and as late as possible, because everyone else who writes events of the plan waits.
 */
export function drawnPositions(plans: string): string {
  return `
    places as (
      insert into feeds as f (plan_id, position)
      select distinct p.plan_id, 1 from (${plans}) p order by p.plan_id
      on conflict (plan_id) do update set position = f.position + 1
      returning plan_id, position
    ), drawn as materialized (
      select coalesce(jsonb_object_agg(plan_id, position::text), '{}') as positions from places
    )`
}

/** The position of row `row`, a SQL expression, where `drawn` is joined. */
export function positionOf(row: string): string {
  return `(drawn.positions ->> ${row}.plan_id::text)::bigint`
}

/** For events that are written by another statement of this transaction. */
export async function drawPositions(tx: Queryable, planIds: readonly number[]): Promise<FeedPositions> {
  const { rows } = await tx.query<{ positions: FeedPositions }>({
    name: 'draw_positions',
    text: `with ${drawnPositions('select unnest($1::integer[]) as plan_id')} select positions from drawn`,
    values: [planIds],
  })
  return rows[0]!.positions
}
