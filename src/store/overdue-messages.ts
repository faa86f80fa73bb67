import type { Queryable } from './database.ts'
import type { MessageKey } from './messages-at-rest.ts'

interface OverdueStep {
  readonly overdue: readonly MessageKey[]
  /** The first message behind the range and not behind `lastMsgId`, with any status; null when there is none. */
  readonly nextMsgId: string | null
}

/**
 * Messages of a range of ids that are at rest and still SENT, at most `limit`. Asked plan by plan, because the key begins
 * with the plan: this reads only rows of the range, in one or two partitions. Also returns where the next range that is
 * not empty begins, so that hours without messages cost nothing.
 */
export async function findOverdueMessages(
  db: Queryable,
  args: { fromMsgId: string; toMsgId: string; lastMsgId: string; limit: number },
): Promise<OverdueStep> {
  const { rows } = await db.query<OverdueStep>({
    text: `
      select array(
        select json_build_object('planId', m.plan_id, 'msgId', m.msg_id)
        from service_plans p
        cross join lateral (
          select plan_id, msg_id from messages
          where plan_id = p.id and msg_id between $1 and $2 and status = 'SENT' and lane is null
          order by msg_id limit $3
        ) m
        limit $3
      ) as overdue, (
        select next.msg_id
        from service_plans p
        cross join lateral (
          select msg_id from messages where plan_id = p.id and msg_id > $2 and msg_id <= $4 order by msg_id limit 1
        ) next
        order by 1 limit 1
      ) as "nextMsgId"`,
    values: [args.fromMsgId, args.toMsgId, args.limit, args.lastMsgId],
  })
  return rows[0]!
}
