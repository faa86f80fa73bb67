/** Events in the database without the service, as they are after their deliveries. */
import { bucketOf } from '../../src/domain/identifiers.ts'
import type { Database } from '../../src/store/database.ts'
import { newId } from './installation.ts'

export const DESTINATION = 'https://hooks.example.com'

interface EventToStore {
  readonly planId: number
  readonly msgId?: string
  /** 0: an inbound message. */
  readonly sequence?: number
  readonly occurredAt?: Date
  /** `pending` has not been attempted, `parked` and `failed` have, and so has `delivered` where `attempts` says so. */
  readonly state: 'pending' | 'held' | 'parked' | 'failed' | 'delivered' | 'kept'
  readonly destination?: string
  /** Of them all but the last of a delivered one have failed. */
  readonly attempts?: number
  /** The message's own; without it, and without the account's default, there is nowhere to go. */
  readonly callbackUrl?: string | null
}

/** Stores an event and its message; gives the message's id. */
export async function storeEvent(db: Database, event: EventToStore): Promise<string> {
  const { planId, sequence = 1, state, destination = DESTINATION, callbackUrl = `${DESTINATION}/dlr` } = event
  const msgId = event.msgId ?? newId(Date.now())
  const attempts = event.attempts ?? (state === 'delivered' ? 1 : 0)
  const occurredAt = event.occurredAt ?? new Date()
  const delivered = state === 'delivered'
  if (sequence === 0)
    await db.query(
      `insert into inbound_messages (plan_id, msg_id, carrier_id, sender, recipient, body)
       values ($1, $2, 1, '+15550002222', '+15550001000', 'hej') on conflict do nothing`,
      [planId, msgId],
    )
  else
    await db.query(
      `insert into messages (plan_id, msg_id, status, sender, recipient, body, segments, callback_url, updated_at)
       values ($1, $2, 'SENT', 'Aldis', '+15551230000', 'hello', 1, $3, now()) on conflict do nothing`,
      [planId, msgId, callbackUrl],
    )
  const [deliveredAt, latencyMs, status, head] = delivered
    ? [new Date(occurredAt.getTime() + 2_000), 12, 200, 'ok']
    : [null, null, null, null]
  await db.query(
    `with feed as (
       insert into feeds (plan_id, position) values ($1, 1)
       on conflict (plan_id) do update set position = feeds.position + 1 returning position
     )
     insert into events (plan_id, msg_id, sequence, position, status, occurred_at, delivered_at, attempts, latency_ms,
                         response_status, response_head, destination)
     select $1, $2, $3, position, $4, $5, $6, $7, $8, $9, $10, $11 from feed`,
    [
      planId,
      msgId,
      sequence,
      sequence > 0 ? 'SENT' : null,
      occurredAt,
      deliveredAt,
      delivered ? attempts : null,
      latencyMs,
      status,
      head,
      delivered ? destination : null,
    ],
  )
  await db.query(
    `insert into webhook_attempts (plan_id, msg_id, sequence, attempt, attempted_at, latency_ms, response_status, error,
                                   response_head)
     select $1, $2, $3, n, $4::timestamptz + n * interval '1 s', n, case when n = $6::integer then 200 else 503 end, null, 'busy'
     from generate_series(1, $5::integer) n where $6::integer <> 1`,
    [planId, msgId, sequence, occurredAt, attempts, delivered ? attempts : 0],
  )
  if (state === 'delivered' || state === 'kept') return msgId
  await db.query(
    `insert into event_deliveries (plan_id, msg_id, sequence, bucket, failed_attempts, holder, due_at, began_at, state, destination)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      planId,
      msgId,
      sequence,
      bucketOf(msgId),
      attempts,
      state === 'held' ? 1 : null,
      state === 'failed' ? 'infinity' : occurredAt,
      occurredAt,
      state === 'pending' || state === 'held' ? 'waiting' : state,
      state === 'failed' || state === 'parked' || attempts > 0 ? destination : null,
    ],
  )
  return msgId
}
