import type { Accepted } from '../domain/journal/message-facts.ts'
import type { Message } from '../domain/messages/messages.ts'
import type { Queryable } from './database.ts'
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

/** A message that is being accepted. Its columns, in their JSON form. */
export interface NewMessage {
  readonly msgId: string
  readonly accepted: Omit<Accepted, 'kind'>
}

const NEW_MESSAGE_COLUMNS = `(
  "planId" integer, "msgId" uuid, sender text, recipient text, body text, segments smallint, country text,
  "callbackUrl" text)`

function columnsOf(messages: readonly NewMessage[]): string {
  return JSON.stringify(
    messages.map(({ msgId, accepted }) => ({
      ...accepted,
      msgId,
      // They are FAILED, which is an end.
      ...(accepted.discardsText && { body: '' }),
    })),
  )
}

/**
 * Decides about messages whose COMMIT was not answered: stores each as FAILED unless it is there already. Returned ids were not
 * there, or only by an earlier call that was not answered either, and can never be stored as QUEUED afterwards. All others
 * were committed.
 */
export async function decideUncertainMessages(
  db: Queryable,
  messages: readonly NewMessage[],
  errorCode: string,
): Promise<Set<string>> {
  const { rows } = await db.query<{ msgId: string }>({
    name: 'decide_uncertain_messages',
    text: `
      insert into messages as m (plan_id, msg_id, sender, recipient, body, segments, country, callback_url, updated_at,
                                 status, error_code)
      select i.*, now(), 'FAILED', $2 from json_to_recordset($1) as i ${NEW_MESSAGE_COLUMNS}
      on conflict (plan_id, msg_id) do update set updated_at = m.updated_at
        where m.status = 'FAILED' and m.error_code = excluded.error_code
      returning msg_id as "msgId"`,
    values: [columnsOf(messages), errorCode],
  })
  return new Set(rows.map(({ msgId }) => msgId))
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
