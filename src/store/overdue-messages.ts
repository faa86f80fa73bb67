import type { Queryable } from './database.ts'
import { announcedEvents } from './events.ts'

/**
 * Makes messages of a range of ids UNKNOWN that are still SENT, with the event that announces it; at most `limit`. Asked
 * plan by plan, because the key begins with the plan: only the rows of the range are read, in one or two partitions.
 * The events wait for whoever owns their bucket. Gives how many messages changed.
 */
export async function expireOverdueMessages(
  db: Queryable,
  args: { fromMsgId: string; toMsgId: string; errorCode: string; changedAt: string; limit: number },
): Promise<number> {
  const { rows } = await db.query<{ changed: number }>({
    text: `
      with overdue as (
        select m.plan_id, m.msg_id
        from service_plans p
        cross join lateral (
          select plan_id, msg_id from messages
          where plan_id = p.id and msg_id between $1 and $2 and status = 'SENT'
          order by msg_id limit $5
        ) m
        limit $5
      ), changed as (
        update messages m
        set status = 'UNKNOWN', event_seq = m.event_seq + 1, updated_at = $4::timestamptz, error_code = $3
        from overdue o
        where m.plan_id = o.plan_id and m.msg_id = o.msg_id and m.msg_id between $1 and $2 and m.status = 'SENT'
        returning m.*
      ), ${announcedEvents({ changedAt: '$4::timestamptz', holder: 'null::integer', buckets: "'{}'::smallint[]" })}
      select count(*) as changed from changed`,
    values: [args.fromMsgId, args.toMsgId, args.errorCode, args.changedAt, args.limit],
  })
  return rows[0]!.changed
}
