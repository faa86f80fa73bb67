import { createdAtMs } from '../domain/identifiers.ts'
import type {
  TimelineReceipt,
  TravelAttempt,
  TravelEvent,
  TravelSubmission,
  TravelWebhook,
} from '../domain/messages/message-timeline.ts'
import type { Message } from '../domain/messages/messages.ts'
import { isSharded, listPlanIds, mustBeHere, withTables } from './citus.ts'
import type { Queryable } from './database.ts'
import { EVENT_STATE } from './event-list.ts'
import type { MessageKey } from './messages-at-rest.ts'

/** The columns of a Message, in the order of the table; `m` is the alias of messages. */
export const MESSAGE_COLUMNS = `
  m.plan_id as "planId", m.msg_id as "msgId", m.status, m.sender, m.recipient, m.body, m.segments,
  m.callback_url as "callbackUrl", m.country, m.mccmnc, m.error_code as "errorCode", m.price, m.ptf, m.currency,
  m.sent_at as "sentAt", m.updated_at as "updatedAt"`

/**
 * Of a record: the lane whose process has the message in progress; null when there is none, and the record is the
 * message.
 */
export interface InLane {
  readonly lane: number | null
}

/**
 * One message of any of these plans. As a named statement it would be planned for all partitions once per connection: 30
 * ms.
 */
export async function findMessage(
  db: Queryable,
  planIds: readonly number[],
  msgId: string,
): Promise<(Message & InLane) | null> {
  mustBeHere(db, planIds)
  const { rows } = await db.query<Message & InLane>({
    text: `select ${MESSAGE_COLUMNS}, m.lane from messages m where m.plan_id = any ($1::integer[]) and m.msg_id = $2`,
    values: [planIds, msgId],
  })
  return rows[0] ?? null
}

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
  if (isSharded(db)) return await findOverdueOnShards(db, args)
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

/** The same of all servers at once: none of them can go plan by plan. */
async function findOverdueOnShards(
  db: Queryable,
  args: { fromMsgId: string; toMsgId: string; lastMsgId: string; limit: number },
): Promise<OverdueStep> {
  const planIds = await listPlanIds(db)
  const { rows: overdue } = await db.query<MessageKey>({
    text: `
      select plan_id as "planId", msg_id as "msgId" from messages
      where plan_id = any ($4::integer[]) and msg_id between $1 and $2 and status = 'SENT' and lane is null
      limit $3`,
    values: [args.fromMsgId, args.toMsgId, args.limit, planIds],
  })
  const { rows: next } = await db.query<{ msgId: string }>({
    text: `
      select msg_id as "msgId" from messages
      where plan_id = any ($3::integer[]) and msg_id > $1 and msg_id <= $2 order by msg_id limit 1`,
    values: [args.toMsgId, args.lastMsgId, planIds],
  })
  return { overdue, nextMsgId: next[0]?.msgId ?? null }
}

/** An outbound message as the operator sees it: the public record, and everything known about its way. */
export interface AdminMessageRecord extends Omit<Message, 'planId'> {
  readonly accountId: string
  readonly servicePlanId: string
  readonly route: string | null
  readonly routeReason: string | null
  readonly carrier: string | null
  readonly carrierCode: string | null
  readonly attempts: TravelAttempt[]
  readonly submissions: TravelSubmission[]
  readonly receipts: TimelineReceipt[]
  readonly webhookAttempts: TravelWebhook[]
  readonly webhookEvents: TravelEvent[]
  /** The node that has it in memory; null: none. */
  readonly node: string | null
}

/** Most entries of each list that are shown: more than a message can have unless something loops. */
const MAX_ENTRIES = 200

/** What is not a record of a plan. */
const OTHERS = {
  accounts: 'true',
  service_plans: 'true',
  carriers: 'true',
  routes: 'true',
  lanes: 'true',
  nodes: 'true',
  submissions: 'msg_id = $1',
  event_deliveries: 'plan_id = $4 and msg_id = $1',
}

/** Its plan is looked for first, by the key of each: the operator knows none, and msg_id alone is not indexed. */
export async function findMessageForOperator(
  db: Queryable,
  msgId: string,
): Promise<AdminMessageRecord | undefined> {
  const { rows: plans } = await db.query<{ id: number }>(
    'select plan_id as id from messages where plan_id = any (array(select id from service_plans)) and msg_id = $1',
    [msgId],
  )
  const { rows } = await db.query<AdminMessageRecord>(
    `with ${withTables(db, OTHERS)} m as (select * from messages where plan_id = $4 and msg_id = $1)
     select a.account_id as "accountId", p.service_plan_id as "servicePlanId", m.msg_id as "msgId", m.status,
       m.sender, m.recipient, m.body, m.segments, m.callback_url as "callbackUrl", m.country, m.mccmnc,
       m.error_code as "errorCode", m.price, m.ptf, m.currency, r.name as route, m.route_reason as "routeReason",
       c.name as carrier, m.carrier_code as "carrierCode", m.sent_at as "sentAt", m.updated_at as "updatedAt",
       (select n.name from lanes l join nodes n on n.node_id = l.node_id where l.lane = m.lane) as node,
       (select coalesce(json_agg(t), '[]') from (
          select t.attempted_at as "attemptedAt", t.attempted_at + t.took_ms * interval '1 ms' as "endedAt",
                 tc.name as carrier, t.outcome, t.command_status as "commandStatus", t.segment, t.resubmission, t.reason
          from submit_attempts t left join carriers tc on tc.id = t.carrier_id
          where t.plan_id = $4 and t.msg_id = m.msg_id order by t.attempted_at limit $2) t) as attempts,
       (select coalesce(json_agg(s), '[]') from (
          select s.segment, s.carrier_message_id as "carrierMessageId", sc.name as carrier,
                 $3::timestamptz + s.answered_ms * interval '1 ms' - s.latency_ms * interval '1 ms' as "sentAt",
                 $3::timestamptz + s.answered_ms * interval '1 ms' as "answeredAt", s.outcome,
                 s.error_code as "errorCode", s.carrier_code as "carrierCode", s.receipt_at as "receiptAt"
          from submissions s left join carriers sc on sc.id = s.carrier_id
          where s.msg_id = m.msg_id order by s.segment, s.carrier_message_id limit $2) s) as submissions,
       (select coalesce(json_agg(x), '[]') from (
          select x.received_at as "receivedAt", x.matched_at as "matchedAt", xc.name as carrier, x.carrier_message_id as "carrierMessageId",
                 x.outcome, x.error_code as "errorCode", x.receipt
          from receipts x left join carriers xc on xc.id = x.carrier_id
          where x.plan_id = $4 and x.msg_id = m.msg_id
          union all
          select e.occurred_at, null, c.name, null, e.status, e.error_code, e.receipt
          from events e where e.plan_id = $4 and e.msg_id = m.msg_id and e.receipt is not null
          order by 1 limit $2) x) as receipts,
       (select coalesce(json_agg(w), '[]') from (
          select w.sequence as event, w.attempt, w.attempted_at as "attemptedAt", w.latency_ms as "latencyMs",
                 w.response_status as "responseStatus", w.error, w.response_head as "responseHead"
          from webhook_attempts w where w.plan_id = $4 and w.msg_id = m.msg_id
          union all
          select e.sequence, e.attempts, e.delivered_at - e.latency_ms * interval '1 ms', e.latency_ms, e.response_status, null,
                 e.response_head
          from events e
          where e.plan_id = $4 and e.msg_id = m.msg_id and e.attempts = 1 and not exists (
            select from webhook_attempts w
            where w.plan_id = $4 and w.msg_id = m.msg_id and w.sequence = e.sequence and w.attempt = 1)
          order by event, attempt limit $2) w) as "webhookAttempts",
       (select coalesce(json_agg(e), '[]') from (
          select e.sequence as event, e.status, ${EVENT_STATE} as state,
                 greatest(d.earlier_attempts + d.failed_attempts, e.attempts, 0) as attempts, e.occurred_at as "occurredAt",
                 e.delivered_at as "deliveredAt",
                 case when d.state <> 'failed' and d.due_at < 'infinity' then d.due_at end as "dueAt"
          from events e left join event_deliveries d using (plan_id, msg_id, sequence)
          where e.plan_id = $4 and e.msg_id = m.msg_id
          order by e.sequence limit $2) e) as "webhookEvents"
     from m
     join service_plans p on p.id = m.plan_id
     join accounts a on a.id = p.account_id
     left join carriers c on c.id = m.carrier_id
     left join routes r on r.id = m.route_id`,
    [msgId, MAX_ENTRIES, new Date(createdAtMs(msgId)), plans[0]?.id],
  )
  return rows[0] && inUtc(rows[0])
}

/** JSON has instants in the session's time zone. */
function inUtc(message: AdminMessageRecord): AdminMessageRecord {
  const utc = (at: string) => new Date(at).toISOString()
  const orNull = (at: string | null) => (at === null ? null : utc(at))
  const { attempts, submissions, receipts, webhookAttempts, webhookEvents } = message
  return {
    ...message,
    attempts: attempts.map((row) => ({
      ...row,
      attemptedAt: utc(row.attemptedAt),
      endedAt: orNull(row.endedAt),
    })),
    submissions: submissions.map((row) => ({
      ...row,
      sentAt: orNull(row.sentAt),
      answeredAt: orNull(row.answeredAt),
      receiptAt: orNull(row.receiptAt),
    })),
    receipts: receipts.map((row) => ({
      ...row,
      receivedAt: utc(row.receivedAt),
      matchedAt: orNull(row.matchedAt),
    })),
    webhookAttempts: webhookAttempts.map((row) => ({ ...row, attemptedAt: utc(row.attemptedAt) })),
    webhookEvents: webhookEvents.map((row) => ({
      ...row,
      occurredAt: utc(row.occurredAt),
      deliveredAt: orNull(row.deliveredAt),
      dueAt: orNull(row.dueAt),
    })),
  }
}
