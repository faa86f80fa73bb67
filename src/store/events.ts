import type { Queryable } from './database.ts'

/** What is given to `announcedEvents`: SQL expressions of the statement it is part of. */
interface Announcement {
  /** When the changes were made, and by that which of the changed messages have changed their status. */
  readonly changedAt: string
  /** Node that delivers from memory, null for none, and the buckets it may. */
  readonly holder: string
  readonly buckets: string
  /** The receipt that made the change, to be kept with the event. Default: none. */
  readonly receipt?: string
}

/** Place in the feed of what this transaction writes; see `events.position`. */
export const POSITION = '(select base from feed_base) + pg_current_xact_id()::text::bigint'

/**
 * Part of a statement, after a CTE `changed` of messages as they are now: keeps an event for each whose status changed, and
 * its delivery where there is a URL. A delivery is held only if this node holds every earlier one of its message; it
 * becomes due with an earlier one that waits. Ends with `held`, one row: `ids`, an object whose keys are the msg_ids of
 * the deliveries that are held, each with whether an earlier one of its message is not done. (A join of two CTEs is
 * planned for one row each, and compared every message with every event: 63 ms for 500.)
 */
export function announcedEvents({ changedAt, holder, buckets, receipt = 'null' }: Announcement): string {
  return `
    told as (
      insert into events (plan_id, msg_id, seq, position, status, error_code, mccmnc, price, ptf, currency, sent_at,
                          occurred_at, receipt)
      select m.plan_id, m.msg_id, m.event_seq, ${POSITION}, m.status, m.error_code, m.mccmnc, m.price, m.ptf, m.currency,
             m.sent_at, m.updated_at, ${receipt}
      from changed m where m.updated_at = ${changedAt}
      on conflict do nothing
    ), announced as (
      insert into event_deliveries as n (plan_id, msg_id, seq, bucket, holder, due_at, began_at)
      select m.plan_id, m.msg_id, m.event_seq, b.bucket,
             case when b.bucket = any (${buckets}) and not coalesce(earlier.elsewhere, false) then ${holder} end,
             greatest(m.updated_at, earlier.due_at), m.updated_at
      from changed m
      join service_plans p on p.id = m.plan_id
      join accounts a on a.id = p.account_id
      cross join lateral (select get_byte(uuid_send(m.msg_id), 15)::smallint as bucket) b
      cross join lateral (
        select bool_or(d.holder is distinct from ${holder}) as elsewhere,
               max(d.due_at) filter (where d.holder is null) as due_at
        from event_deliveries d
        where m.event_seq > 1 and d.plan_id = m.plan_id and d.msg_id = m.msg_id and d.seq < m.event_seq
          and d.state <> 'failed'
      ) earlier
      where m.updated_at = ${changedAt} and (m.callback_url is not null or a.default_dlr_url is not null)
      on conflict do nothing
      returning msg_id, holder, seq > 1 and exists (
        select from event_deliveries b
        where b.plan_id = n.plan_id and b.msg_id = n.msg_id and b.seq < n.seq and b.state <> 'failed') as behind
    ), held as materialized (
      select coalesce(jsonb_object_agg(msg_id, behind) filter (where holder is not null), '{}') as ids from announced
    )`
}

/**
 * Sees to it that what is written from now on comes behind every event in the feeds. It does already, unless the database
 * was restored into a cluster that has had fewer transactions. To be called before anything is written.
 */
export async function alignFeed(db: Queryable): Promise<void> {
  await db.query(`
    update feed_base set base = last.position - pg_current_xact_id()::text::bigint + 1
    from (
      select max(newest.position) as position
      from service_plans p
      cross join lateral (select position from events where plan_id = p.id order by position desc limit 1) newest
    ) last
    where last.position > base + pg_snapshot_xmax(pg_current_snapshot())::text::bigint`)
}
