import { createdAtMs } from '../domain/identifiers.ts'
import type {
  TimelineReceipt,
  TravelAttempt,
  TravelEvent,
  TravelSubmission,
  TravelWebhook,
} from '../domain/messages/message-timeline.ts'
import type { Message } from '../domain/messages/messages.ts'
import type { Queryable } from './database.ts'
import { EVENT_STATE } from './event-list.ts'

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

/** Looked up once per plan by primary key: the operator knows no plan, and msg_id alone is not indexed. */
export async function findMessageForOperator(
  db: Queryable,
  msgId: string,
): Promise<AdminMessageRecord | undefined> {
  const { rows } = await db.query<AdminMessageRecord>(
    `select a.account_id as "accountId", p.service_plan_id as "servicePlanId", m.msg_id as "msgId", m.status,
       m.sender, m.recipient, m.body, m.segments, m.callback_url as "callbackUrl", m.country, m.mccmnc,
       m.error_code as "errorCode", m.price, m.ptf, m.currency, r.name as route, m.route_reason as "routeReason",
       c.name as carrier, m.carrier_code as "carrierCode", m.sent_at as "sentAt", m.updated_at as "updatedAt",
       (select n.name from lanes l join nodes n on n.node_id = l.node_id where l.lane = m.lane) as node,
       (select coalesce(json_agg(t), '[]') from (
          select t.attempted_at as "attemptedAt", t.attempted_at + t.took_ms * interval '1 ms' as "endedAt",
                 tc.name as carrier, t.outcome, t.command_status as "commandStatus", t.segment, t.resubmission, t.reason
          from submit_attempts t left join carriers tc on tc.id = t.carrier_id
          where t.plan_id = m.plan_id and t.msg_id = m.msg_id order by t.attempted_at limit $2) t) as attempts,
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
          where x.plan_id = m.plan_id and x.msg_id = m.msg_id
          union all
          select e.occurred_at, null, c.name, null, e.status, e.error_code, e.receipt
          from events e where e.plan_id = m.plan_id and e.msg_id = m.msg_id and e.receipt is not null
          order by 1 limit $2) x) as receipts,
       (select coalesce(json_agg(w), '[]') from (
          select w.sequence as event, w.attempt, w.attempted_at as "attemptedAt", w.latency_ms as "latencyMs",
                 w.response_status as "responseStatus", w.error, w.response_head as "responseHead"
          from webhook_attempts w where w.plan_id = m.plan_id and w.msg_id = m.msg_id
          union all
          select e.sequence, e.attempts, e.delivered_at - e.latency_ms * interval '1 ms', e.latency_ms, e.response_status, null,
                 e.response_head
          from events e
          where e.plan_id = m.plan_id and e.msg_id = m.msg_id and e.attempts = 1 and not exists (
            select from webhook_attempts w
            where w.plan_id = m.plan_id and w.msg_id = m.msg_id and w.sequence = e.sequence and w.attempt = 1)
          order by event, attempt limit $2) w) as "webhookAttempts",
       (select coalesce(json_agg(e), '[]') from (
          select e.sequence as event, e.status, ${EVENT_STATE} as state,
                 greatest(d.earlier_attempts + d.attempt, e.attempts, 0) as attempts, e.occurred_at as "occurredAt",
                 e.delivered_at as "deliveredAt",
                 case when d.state <> 'failed' and d.due_at < 'infinity' then d.due_at end as "dueAt"
          from events e left join event_deliveries d using (plan_id, msg_id, sequence)
          where e.plan_id = m.plan_id and e.msg_id = m.msg_id
          order by e.sequence limit $2) e) as "webhookEvents"
     from service_plans p
     join lateral (select * from messages where plan_id = p.id and msg_id = $1 offset 0) m on true
     join accounts a on a.id = p.account_id
     left join carriers c on c.id = m.carrier_id
     left join routes r on r.id = m.route_id`,
    [msgId, MAX_ENTRIES, new Date(createdAtMs(msgId))],
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
