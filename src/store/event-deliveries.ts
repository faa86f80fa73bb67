import type { EventPayload } from '../domain/events.ts'
import type { TravelWebhook } from '../domain/messages/message-timeline.ts'
import { byPlan, ofPlan } from './citus.ts'
import { inTime, type Queryable } from './database.ts'

/** An event to be delivered: an inbound message (sequence 0), or a message as it was after one of its status changes. */
export interface WebhookEvent {
  readonly planId: number
  readonly msgId: string
  readonly sequence: number
  /** Node that has it in memory. */
  readonly holder: number
  /** Of its schedule. */
  readonly failedAttempts: number
  /** Attempts made before its schedule was restarted. */
  readonly earlierAttempts: number
  readonly beganAtMs: number
  /** It was read from the table: later events of its message may wait there until it is done. */
  readonly waited: boolean
  readonly payload: EventPayload
}

/** An event waits while an earlier one of its message does, so a receiver sees a message's events in order. */
export const FIRST_OF_ITS_MESSAGE = `not exists (
  select from event_deliveries earlier
  where earlier.plan_id = any (array[e.plan_id]) and earlier.msg_id = e.msg_id and earlier.sequence < e.sequence and earlier.state <> 'failed')`

/**
 * When the events of row `e`'s message that meet `where` and are in no memory are due. An event behind them becomes due with
 * them. They stay locked until COMMIT: if one of them were taken and done before that, nobody would make due what is behind it.
 * One that is being taken does not count, so what is behind it is due at once and waits until it is done.
 */
export const dueOf = (e: { readonly planId: string; readonly msgId: string; readonly where: string }) => `(
  select max(b.due_at) from (
    select b.due_at from event_deliveries b
    where b.plan_id = any (array[${e.planId}]) and b.msg_id = ${e.msgId} and ${e.where}
      and b.state <> 'failed' and coalesce(b.holder, 0) = 0
    for share skip locked) b)`

// `plan_id = any (array[…])` where a batch meets a table by its key: docs/adr/0006.

/** Only its holder may requeue it; another node may have become that since. */
type HeldEvent = Pick<WebhookEvent, 'planId' | 'msgId' | 'sequence' | 'holder'>

/** One attempt, and what was decided after it. */
export interface AttemptRow
  extends HeldEvent,
    Pick<WebhookEvent, 'waited'>,
    Pick<TravelWebhook, 'attemptedAt' | 'latencyMs' | 'responseStatus' | 'error' | 'responseHead'> {
  /** Failed attempts of the schedule, this one included. Read only after `again`, `parked` and `failed`. */
  readonly failedAttempts: number
  /** Its number among all attempts, from 1. */
  readonly attempt: number
  readonly destination: string | null
  /**
   * `delivered` ends it; `again` after `delayMs`; `parked` until its destination takes it or `delayMs` (null: no end) are
   * over; `failed` is left for redelivery; `kept`: there is no URL, and no attempt was made.
   */
  readonly decision: 'delivered' | 'again' | 'parked' | 'failed' | 'kept'
  readonly delayMs: number | null
}

/**
 * Records a batch of attempts, and carries out what was decided after them. When an event is requeued, later events of its message become due
 * together with it; if they were due earlier, they would be looked at in vain each time. They also become due when it is
 * done. An event that another node has in memory by now is still that node's to deliver, before later ones. A first
 * attempt that was answered 2xx is recorded in the event alone. All at once, unless plans are on several servers.
 */
export async function recordAttempts(db: Queryable, attempts: readonly AttemptRow[]): Promise<void> {
  for (const { planId, items } of byPlan(db, attempts, (attempt) => attempt.planId))
    await db.query({
      name: 'record_attempts',
      text: `
      with input as (
        select *, now() as at, now() + "delayMs" * interval '1 ms' as later,
               "attemptedAt" + "latencyMs" * interval '1 ms' as "answeredAt"
        from json_to_recordset($1) as i (
          "planId" integer, "msgId" uuid, sequence smallint, holder integer, "failedAttempts" smallint, attempt smallint,
          "attemptedAt" timestamptz, "latencyMs" integer, "responseStatus" smallint, error text, "responseHead" text,
          destination text, waited boolean, decision text, "delayMs" bigint)
      ), delivered as (
        update events e
        set delivered_at = i."answeredAt", attempts = i.attempt,
            latency_ms = i."latencyMs", response_status = i."responseStatus", response_head = i."responseHead",
            destination = i.destination
        from input i
        where i.decision = 'delivered' and e.plan_id = any (array[i."planId"]) and ${ofPlan('e', '$2')}
          and e.msg_id = i."msgId" and e.sequence = i.sequence
      ), ended as (
        delete from event_deliveries e using input i
        where i.decision in ('delivered', 'kept') and e.plan_id = any (array[i."planId"]) and e.msg_id = i."msgId"
          and e.sequence = i.sequence and (e.holder is null or e.holder = i.holder)
      ), requeued as (
        update event_deliveries e
        set holder = null, failed_attempts = i."failedAttempts", destination = i.destination,
            state = case when i.decision = 'again' then 'waiting' else i.decision end::delivery_state,
            due_at = case when i.decision = 'failed' then 'infinity' else coalesce(i.later, 'infinity') end
        from input i
        where i.decision in ('again', 'parked', 'failed') and e.plan_id = any (array[i."planId"])
          and e.msg_id = i."msgId" and e.sequence = i.sequence and e.holder = i.holder
      ), behind as (
        update event_deliveries e
        set due_at = case when i.decision in ('again', 'parked') then coalesce(i.later, 'infinity')
                          else i.at end,
            began_at = case when e.due_at = 'infinity' then i.at else e.began_at end
        from input i
        where (i.waited or i.decision <> 'delivered') and e.plan_id = any (array[i."planId"]) and e.msg_id = i."msgId"
          and e.sequence > i.sequence and coalesce(e.holder, 0) = 0 and e.state <> 'failed'
      )
      insert into webhook_attempts (msg_id, sequence, attempt, plan_id, attempted_at, latency_ms, response_status, error,
                                    response_head)
      select "msgId", sequence, attempt, "planId", "attemptedAt", "latencyMs", "responseStatus", error, "responseHead" from input
      where decision <> 'kept' and (decision <> 'delivered' or attempt > 1)
      on conflict do nothing`,
      values: [JSON.stringify(items), planId],
      ...inTime(db),
    })
}

export interface RequeuedEvent extends HeldEvent {
  /** Null: without end. `behind`: when the earlier ones of its message are due that wait in the table; now if none does. */
  readonly delayMs: number | null | 'behind'
  /** Set when it is parked until its destination takes it. */
  readonly destination: string | null
}

const EARLIER = { planId: 'e.plan_id', msgId: 'e.msg_id', where: 'b.sequence < e.sequence' }

/** Requeues deliveries that were in memory and not attempted; they are due again after `delayMs`. */
export async function requeueEvents(db: Queryable, events: readonly RequeuedEvent[]): Promise<void> {
  await db.query({
    name: 'requeue_events',
    text: `
      update event_deliveries e
      set holder = null,
          due_at = case when i.behind then coalesce(${dueOf(EARLIER)}, now())
                        else coalesce(now() + i."delayMs" * interval '1 ms', 'infinity') end,
          state = case when i.destination is null then 'waiting' else 'parked' end::delivery_state,
          destination = coalesce(i.destination, e.destination)
      from json_to_recordset($1) as i (
        "planId" integer, "msgId" uuid, sequence smallint, holder integer, "delayMs" bigint, behind boolean,
        destination text)
      where e.plan_id = any (array[i."planId"]) and e.msg_id = i."msgId" and e.sequence = i.sequence and e.holder = i.holder`,
    values: [
      JSON.stringify(
        events.map((event) =>
          event.delayMs === 'behind' ? { ...event, delayMs: null, behind: true } : event,
        ),
      ),
    ],
  })
}

/** The deliveries that a node is recorded to have in memory. */
export async function listHeldEvents(db: Queryable, nodeId: number): Promise<HeldEvent[]> {
  const { rows } = await db.query<HeldEvent>({
    text: 'select plan_id as "planId", msg_id as "msgId", sequence, holder from event_deliveries where holder = $1',
    values: [nodeId],
  })
  return rows
}

/**
 * Makes the events due that no living node holds. Their receivers may see them twice. Returns how many there were. All
 * nodes run this when one dies, so it waits for no lock: a locked row is already being released or recorded. Without lock
 * waits no order is needed. An order would read the table by its key: 170 ms for 200,000 rows instead of 30.
 */
export async function releaseEvents(db: Queryable): Promise<number> {
  const { rowCount } = await db.query(`
    with stray as (
      select plan_id, msg_id, sequence from event_deliveries
      where holder is not null and holder not in (select node_id from nodes)
      for update skip locked
    )
    update event_deliveries e set holder = null, due_at = now()
    from stray
    where e.plan_id = any (array[stray.plan_id]) and e.msg_id = stray.msg_id and e.sequence = stray.sequence`)
  return rowCount ?? 0
}

/** Reading this many takes half a second. */
const MAX_STRANDED_SEARCH = 200_000

/**
 * Makes due events that were never tried and have waited longer than `waitMs` behind an event that is no longer there. None
 * is known to be left so: `dueOf`. Looks at the earliest due first; at most `limit`. Returns how many.
 */
export async function requeueStranded(db: Queryable, waitMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    text: `
      update event_deliveries e set due_at = now()
      from (
        select plan_id, msg_id, sequence from (
          select plan_id, msg_id, sequence, state, destination from event_deliveries
          where holder is null and due_at > now() + $1 * interval '1 ms'
          order by due_at limit ${MAX_STRANDED_SEARCH}
        ) e
        where state = 'waiting' and destination is null and ${FIRST_OF_ITS_MESSAGE}
        limit $2
      ) stranded
      where e.plan_id = any (array[stranded.plan_id]) and e.msg_id = stranded.msg_id and e.sequence = stranded.sequence
        and coalesce(e.holder, 0) = 0 and e.state = 'waiting'`,
    values: [waitMs, limit],
  })
  return rowCount ?? 0
}

/**
 * Deletes deliveries of messages with ids below `msgId`, whose records are about to go; at most `limit`. Returns how
 * many.
 */
export async function deleteDeliveriesBefore(db: Queryable, msgId: string, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    text: `
      delete from event_deliveries e using (
        select old.plan_id, old.msg_id, old.sequence
        from service_plans p
        cross join lateral (
          select plan_id, msg_id, sequence from event_deliveries where plan_id = p.id and msg_id < $1
          order by msg_id limit $2
        ) old
        limit $2
      ) old
      where e.plan_id = any (array[old.plan_id]) and e.msg_id = old.msg_id and e.sequence = old.sequence`,
    values: [msgId, limit],
  })
  return rowCount ?? 0
}
