import type { Queryable } from './database.ts'
import { announcedEvents } from './events.ts'

export interface OverdueStep {
  /** Messages that were SENT and became UNKNOWN, but for those that somebody else changed meanwhile. */
  readonly found: number
  /** The first message behind the range and not behind `lastMsgId`, whatever its status; null when there is none. */
  readonly nextMsgId: string | null
}

/**
 * Makes messages of a range of ids UNKNOWN that are still SENT, with the event that announces it; at most `limit`. Asked
 * plan by plan, because the key begins with the plan: only the rows of the range are read, in one or two partitions. What
 * was found is then looked up by its key alone (docs/adr/0006): with the range as a second condition a table that was never
 * analyzed is read whole for it, and each message compared with each found one (1,000 of 2,600: 5.7 s instead of 36 ms).
 * The events wait for whoever owns their bucket. Returns where the next range that is not empty begins, so that hours
 * without messages cost nothing.
 */
export async function expireOverdueMessages(
  db: Queryable,
  args: {
    fromMsgId: string
    toMsgId: string
    lastMsgId: string
    errorCode: string
    changedAt: string
    limit: number
  },
): Promise<OverdueStep> {
  const { rows } = await db.query<OverdueStep>({
    text: `
      with overdue as materialized (
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
        where m.plan_id = any (array[o.plan_id]) and m.msg_id = o.msg_id and m.status = 'SENT'
        returning m.*
      ), ${announcedEvents({ changedAt: '$4::timestamptz', holder: 'null::integer', buckets: "'{}'::smallint[]" })}
      select (select count(*) from overdue) as found, (
        select next.msg_id
        from service_plans p
        cross join lateral (
          select msg_id from messages where plan_id = p.id and msg_id > $2 and msg_id <= $6 order by msg_id limit 1
        ) next
        order by 1 limit 1
      ) as "nextMsgId"`,
    values: [args.fromMsgId, args.toMsgId, args.errorCode, args.changedAt, args.limit, args.lastMsgId],
  })
  return rows[0]!
}
