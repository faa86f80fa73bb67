import { drawnPositions, positionOf } from './feed-positions.ts'

/** What is given to `announcedEvents`: SQL expressions of the statement it is part of. */
interface Announcement {
  /** When the changes were made, and by that which of the changed messages have changed their status. */
  readonly changedAt: string
  /** Node that delivers from memory, null for none, and the buckets it may. */
  readonly holder: string
  readonly buckets: string
}

/**
 * Part of a statement, after a CTE `changed` of messages as they are now: keeps an event for each whose status changed, and
 * its delivery where there is a URL. A delivery is held only if this node holds every earlier one of its message; it
 * becomes due with an earlier one that waits. Ends with `held`, one row: `ids`, an object whose keys are the msg_ids of
 * the deliveries that are held, each with whether an earlier one of its message is not done. (A join of two CTEs is
 * planned for one row each, and compared every message with every event: 63 ms for 500.)
 */
export function announcedEvents({ changedAt, holder, buckets }: Announcement): string {
  return `
    ${drawnPositions(`select m.plan_id from changed m where m.updated_at = ${changedAt}`)}, told as (
      insert into events (plan_id, msg_id, seq, position, status, error_code, mccmnc, price, ptf, currency, sent_at,
                          occurred_at)
      select m.plan_id, m.msg_id, m.event_seq, ${positionOf('m')}, m.status, m.error_code, m.mccmnc, m.price, m.ptf, m.currency,
             m.sent_at, m.updated_at
      from changed m cross join drawn where m.updated_at = ${changedAt}
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
