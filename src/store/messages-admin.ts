import type { Status } from '../domain/message-states.ts'
import type { Queryable } from './database.ts'

/** An outbound message as the operator sees it: the public record and what the carrier said and was given. */
export interface AdminMessageRecord {
  readonly accountId: string
  readonly servicePlanId: string
  readonly msgId: string
  readonly status: Status
  readonly sender: string
  readonly recipient: string
  readonly body: string
  readonly segments: number
  readonly callbackUrl: string | null
  readonly country: string | null
  readonly mccmnc: string | null
  readonly errorCode: string
  readonly carrier: string | null
  readonly carrierCode: string | null
  readonly sentAt: Date | null
  readonly updatedAt: Date
  readonly submissions: { segment: number; carrierMessageId: string; carrier: string | null }[]
}

/** Looked up once per plan by primary key: the operator knows no plan, and msg_id alone is not indexed. */
export async function findMessageForOperator(
  db: Queryable,
  msgId: string,
): Promise<AdminMessageRecord | undefined> {
  const { rows } = await db.query<AdminMessageRecord>(
    `select a.account_id as "accountId", p.service_plan_id as "servicePlanId", m.msg_id as "msgId", m.status,
       m.sender, m.recipient, m.body, m.segments, m.callback_url as "callbackUrl", m.country, m.mccmnc,
       m.error_code as "errorCode", c.name as carrier, m.carrier_code as "carrierCode",
       m.sent_at as "sentAt", m.updated_at as "updatedAt",
       coalesce((
         select json_agg(json_build_object('segment', s.segment, 'carrierMessageId', s.carrier_message_id,
                                           'carrier', sc.name) order by s.segment)
         from submissions s left join carriers sc on sc.id = s.carrier_id where s.msg_id = m.msg_id
       ), '[]') as submissions
     from service_plans p
     join lateral (select * from messages where plan_id = p.id and msg_id = $1 offset 0) m on true
     join accounts a on a.id = p.account_id
     left join carriers c on c.id = m.carrier_id`,
    [msgId],
  )
  return rows[0]
}

export interface UnownedInboundRecord {
  readonly msgId: string
  readonly carrier: string | null
  readonly sender: string
  readonly recipient: string
  readonly body: string
}

/** Inbound messages to numbers nobody owns, newest first, older than `before` when it is given. */
export async function listUnownedInbound(
  db: Queryable,
  page: { before: string | null; limit: number },
): Promise<UnownedInboundRecord[]> {
  const { rows } = await db.query<UnownedInboundRecord>(
    `select u.msg_id as "msgId", c.name as carrier, u.sender, u.recipient, u.body
     from unowned_inbound_messages u left join carriers c on c.id = u.carrier_id
     where $1::uuid is null or u.msg_id < $1
     order by u.msg_id desc limit $2`,
    [page.before, page.limit],
  )
  return rows
}
