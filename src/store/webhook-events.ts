import type { Status } from '../domain/message-states.ts'
import type { Message } from '../domain/messages.ts'
import type { Queryable } from './database.ts'

/** An event to be delivered: an inbound message (seq 0), or a message as it was after its seq-th status change. */
export interface WebhookEvent {
  readonly planId: number
  readonly msgId: string
  readonly seq: number
  /** Node that has it in memory. */
  readonly holder: number
  /** Attempts made so far. */
  readonly attempt: number
  readonly body: { direction: 'MT'; message: Message } | { direction: 'MO'; inbound: InboundMessage }
}

export interface InboundMessage {
  readonly planId: number
  readonly msgId: string
  readonly sender: string
  readonly recipient: string
  readonly body: string
  readonly keyword: string | null
}

interface EventRow {
  planId: number
  msgId: string
  seq: number
  attempt: number
  status: Status
  sender: string
  recipient: string
  body: string
  segments: number
  callbackUrl: string | null
  country: string | null
  keyword: string | null
  mccmnc: string | null
  errorCode: string
  price: string | null
  ptf: string | null
  currency: string | null
  sentAt: Date | null
  updatedAt: Date
}

/**
 * Takes waiting events that are due into memory: the node becomes their holder. An event waits while an earlier one of
 * its message is there, so a receiver sees a message's events in order. `coalesce`: see holdDueDispatches.
 */
export async function holdDueEvents(
  db: Queryable,
  args: { nodeId: number; buckets: readonly number[]; limit: number },
): Promise<WebhookEvent[]> {
  const { rows } = await db.query<EventRow>({
    name: 'hold_due_events',
    text: `
      with due as (
        select bucket, msg_id, seq from webhook_events e
        where holder is null and due_at <= now() and bucket = any ($2::smallint[])
          and not exists (select from webhook_events earlier where earlier.bucket = e.bucket
                                                               and earlier.msg_id = e.msg_id and earlier.seq < e.seq
                                                               and earlier.due_at < 'infinity')
        order by due_at limit $3
      ), held as (
        update webhook_events e set holder = $1 from due
        where e.bucket = due.bucket and e.msg_id = due.msg_id and e.seq = due.seq and coalesce(e.holder, 0) = 0
        returning e.*
      )
      select h.plan_id as "planId", h.msg_id as "msgId", h.seq, h.attempt, h.status,
             coalesce(m.sender, o.sender) as sender, coalesce(m.recipient, o.recipient) as recipient,
             coalesce(m.body, o.body) as body, m.segments, m.callback_url as "callbackUrl", m.country, o.keyword,
             h.mccmnc, h.error_code as "errorCode", h.price, h.ptf, h.currency, h.sent_at as "sentAt",
             h.occurred_at as "updatedAt"
      from held h
      left join messages m on h.seq > 0 and m.plan_id = h.plan_id and m.msg_id = h.msg_id
      left join inbound_messages o on h.seq = 0 and o.plan_id = h.plan_id and o.msg_id = h.msg_id
      order by h.due_at`,
    values: [args.nodeId, args.buckets, args.limit],
  })
  return rows.map((row) => eventOf(row, args.nodeId))
}

function eventOf(row: EventRow, holder: number): WebhookEvent {
  const { planId, msgId, seq, attempt, keyword, ...message } = row
  const { sender, recipient, body } = row
  if (seq === 0) {
    const inbound = { planId, msgId, sender, recipient, body, keyword }
    return { planId, msgId, seq, holder, attempt, body: { direction: 'MO', inbound } }
  }
  return {
    planId,
    msgId,
    seq,
    holder,
    attempt,
    body: { direction: 'MT', message: { planId, msgId, ...message } },
  }
}

/** One attempt and what follows from it. */
export interface AttemptRow {
  readonly plan_id: number
  readonly msg_id: string
  readonly seq: number
  /** Whose it is to put off: another node may have taken it over since. */
  readonly holder: number
  readonly attempt: number
  /** ISO 8601. */
  readonly attempted_at: string
  readonly latency_ms: number
  readonly response_status: number | null
  readonly error: string | null
  readonly response_head: string | null
  /** `delivered` ends the event; `again` after `delay_ms`; `abandoned` is kept for redelivery. */
  readonly outcome: 'delivered' | 'again' | 'abandoned'
  readonly delay_ms: number
}

/**
 * Records a batch of attempts with their consequences. Later events of a message become due with the one that is tried
 * again: due before it, they would be looked at in vain each time.
 */
export async function recordAttempts(db: Queryable, attempts: readonly AttemptRow[]): Promise<void> {
  await db.query({
    name: 'record_attempts',
    text: `
      with input as (
        select *, get_byte(uuid_send(msg_id), 15) as bucket from json_to_recordset($1) as i (
          plan_id integer, msg_id uuid, seq smallint, holder integer, attempt smallint, attempted_at timestamptz,
          latency_ms integer, response_status smallint, error text, response_head text, outcome text, delay_ms bigint)
      ), ended as (
        delete from webhook_events e using input i
        where i.outcome = 'delivered' and e.bucket = i.bucket and e.msg_id = i.msg_id and e.seq = i.seq
      ), again as (
        update webhook_events e
        set holder = null, attempt = case when e.seq = i.seq then i.attempt else e.attempt end,
            due_at = case when i.outcome = 'again' then now() + i.delay_ms * interval '1 ms'
                          when e.seq = i.seq then 'infinity'
                          else now() end
        from input i
        where i.outcome <> 'delivered' and e.bucket = i.bucket and e.msg_id = i.msg_id
          and (e.seq = i.seq and e.holder = i.holder or e.seq > i.seq and e.holder is null)
      )
      insert into webhook_attempts (msg_id, seq, attempt, plan_id, attempted_at, latency_ms, response_status, error,
                                    response_head)
      select msg_id, seq, attempt, plan_id, attempted_at, latency_ms, response_status, error, response_head from input
      on conflict do nothing`,
    values: [JSON.stringify(attempts)],
  })
}

export interface ReturnedEvent {
  readonly msg_id: string
  readonly seq: number
  readonly holder: number
  readonly delay_ms: number
}

/** Gives events back that were held but not attempted, due after `delay_ms`. */
export async function returnEvents(db: Queryable, events: readonly ReturnedEvent[]): Promise<void> {
  await db.query({
    text: `
      update webhook_events e set holder = null, due_at = now() + i.delay_ms * interval '1 ms'
      from json_to_recordset($1) as i (msg_id uuid, seq smallint, holder integer, delay_ms bigint)
      where e.bucket = get_byte(uuid_send(i.msg_id), 15) and e.msg_id = i.msg_id and e.seq = i.seq
        and e.holder = i.holder`,
    values: [JSON.stringify(events)],
  })
}

/** Ids and sequences of the events that a node is said to have in memory. */
export async function listHeldEvents(
  db: Queryable,
  nodeId: number,
): Promise<{ msg_id: string; seq: number }[]> {
  const { rows } = await db.query<{ msg_id: string; seq: number }>({
    text: 'select msg_id, seq from webhook_events where holder = $1',
    values: [nodeId],
  })
  return rows
}

/** After a takeover: what a dead node held is due again; the receiver may see such an event twice. */
export async function releaseEvents(
  db: Queryable,
  args: { nodeId: number; buckets: readonly number[] },
): Promise<number> {
  const { rowCount } = await db.query({
    text: `
      update webhook_events set holder = null, due_at = now()
      where bucket = any ($2::smallint[]) and holder <> $1 and holder not in (select node_id from nodes)`,
    values: [args.nodeId, args.buckets],
  })
  return rowCount ?? 0
}
