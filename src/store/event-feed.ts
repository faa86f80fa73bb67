import { type EventPayload, type FeedPlace, lowestIdWithEventsAt } from '../domain/events.ts'
import { highestIdAt } from '../domain/identifiers.ts'
import type { FeedFilters, Page } from '../domain/lists.ts'
import { mustBeHere } from './citus.ts'
import type { Queryable } from './database.ts'
import { PAYLOAD_COLUMNS, type PayloadRow, payloadJoins, payloadOf } from './event-payloads.ts'

export interface FeedEvent {
  readonly msgId: string
  readonly sequence: number
  readonly occurredAt: Date
  readonly payload: EventPayload
  /** The place behind this event. */
  readonly place: FeedPlace
}

/** Before the first event. */
const BEGINNING: FeedPlace = {
  position: '0',
  msgId: '00000000-0000-0000-0000-000000000000',
  sequence: -1,
  atMs: 0,
}
/** Clocks of nodes differ, and a statement may take half a minute. */
const SINCE_MARGIN_MS = 60_000

/** The current last position in the plan's feed. Everything up to it is written; it never goes back. */
export async function feedEnd(db: Queryable, planId: number): Promise<string> {
  mustBeHere(db, [planId])
  const { rows } = await db.query<{ end: string }>({
    name: 'feed_end',
    text: 'select position::text as end from feeds where plan_id = $1',
    values: [planId],
  })
  return rows[0]?.end ?? BEGINNING.position
}

/**
 * A page of a plan's feed, up to `end`, which was read before. Every position is drawn under the plan's row (`feeds`),
 * which stays locked until its events are committed. So a reader that continues behind the last one misses nothing. Days
 * before `after` are left out: with 600,000 events in 90 days, a page of 100 takes 1 ms near the end, 4 to 20 from the
 * oldest, 4 from a `since`.
 */
export async function readFeed(
  db: Queryable,
  { planId, filters, after, limit }: Page<FeedFilters, FeedPlace>,
  end: string,
): Promise<FeedEvent[]> {
  const { since } = filters
  const from = after ?? (since === null ? BEGINNING : await startOf(db, planId, since, end))
  const { rows } = await db.query<PayloadRow & { position: string }>({
    name: 'read_feed',
    text: `
      with f as materialized (
        select * from events
        where plan_id = $1 and (position, msg_id, sequence) > ($2::bigint, $3::uuid, $4::smallint) and position <= $5::bigint
          and msg_id >= $6::uuid and occurred_at >= $7::timestamptz
        order by position, msg_id, sequence limit $8
      )
      select f.position::text as position, ${PAYLOAD_COLUMNS}
      from f ${payloadJoins('$1')}
      order by f.position, f.msg_id, f.sequence`,
    values: [
      planId,
      from.position,
      from.msgId,
      from.sequence,
      end,
      lowestIdWithEventsAt(from.atMs),
      new Date(since ?? 0),
      limit,
    ],
  })
  return rows.map((row) => {
    const { position, msgId, sequence, updatedAt: occurredAt } = row
    return {
      msgId,
      sequence,
      occurredAt,
      payload: payloadOf(row),
      place: { position, msgId, sequence, atMs: occurredAt.getTime() },
    }
  })
}

/**
 * The first event that happened at `sinceMs` or later, found by bisection: positions rise with time, and no index is by
 * time. The last event before it belongs to an earlier message.
 */
async function startOf(db: Queryable, planId: number, sinceMs: number, end: string): Promise<FeedPlace> {
  const startMs = sinceMs - SINCE_MARGIN_MS
  const { rows } = await db.query<{ position: string }>({
    name: 'find_feed_start',
    text: `
      with recursive halves (low, high) as (
        select 0::bigint, $5::bigint
        union all
        select case when earlier then middle + 1 else low end, case when earlier then high else middle end
        from (
          select low, high, middle, coalesce(next.occurred_at < $2, false) as earlier
          from (select *, (low + high) / 2 as middle from halves where low < high) h
          left join lateral (
            select occurred_at from events
            where plan_id = $1 and position >= middle and msg_id between $3::uuid and $4::uuid
            order by position, msg_id, sequence limit 1
          ) next on true
        ) h
      )
      select low::text as position from halves where low = high`,
    values: [planId, new Date(startMs), lowestIdWithEventsAt(startMs), highestIdAt(startMs), end],
  })
  return { ...BEGINNING, position: rows[0]!.position, atMs: startMs }
}

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
