import { type EventPayload, type FeedPlace, lowestIdWithEventsAt } from '../domain/events.ts'
import { highestIdAt } from '../domain/identifiers.ts'
import type { FeedFilters, Page } from '../domain/lists.ts'
import type { Queryable } from './database.ts'
import { PAYLOAD_COLUMNS, PAYLOAD_JOINS, type PayloadRow, payloadOf } from './event-payloads.ts'

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
      from f ${PAYLOAD_JOINS}
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
