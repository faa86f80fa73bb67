import type { EventPayload } from '../domain/events.ts'
import type { TravelWebhook } from '../domain/messages/message-timeline.ts'
import type { Endpoint } from '../domain/webhooks/targets.ts'
import { byPlan, isSharded, ofPlan } from './citus.ts'
import type { Queryable } from './database.ts'
import {
  type EventOfPlan,
  PAYLOAD_COLUMNS,
  type PayloadRow,
  payloadJoins,
  payloadOf,
  takenWithPayloads,
} from './event-list.ts'

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

interface EventRow extends PayloadRow {
  readonly destination: string | null
  readonly failedAttempts: number
  readonly earlierAttempts: number
  readonly beganAt: Date
}

/** Who takes deliveries into memory: a node, for its buckets, up to a limit. */
export interface Taker {
  readonly nodeId: number
  readonly buckets: readonly number[]
  readonly limit: number
}

/** An event waits while an earlier one of its message does, so a receiver sees a message's events in order. */
const FIRST_OF_ITS_MESSAGE = `not exists (
  select from event_deliveries earlier
  where earlier.plan_id = any (array[e.plan_id]) and earlier.msg_id = e.msg_id and earlier.sequence < e.sequence and earlier.state <> 'failed')`

/**
 * Attempts before a schedule are counted up to here. With a probe a minute for 76 hours after that, they still fit a
 * smallint.
 */
const MOST_EARLIER = 28_000

// `plan_id = any (array[…])` where a batch meets a table by its key: docs/adr/0006.

/**
 * From a CTE `due` of keys to the events, which belong to the node ($1) from now on. An event that was kept back without
 * end restarts its schedule. `coalesce` keeps the planner off the index of rows without a holder.
 */
const TAKEN = `
  taken as (
    update event_deliveries e
    set holder = $1, state = 'waiting',
        (failed_attempts, earlier_attempts, began_at) = (
          select e.failed_attempts, e.earlier_attempts, e.began_at where e.due_at < 'infinity'
          union all
          select 0::smallint, least(e.earlier_attempts + e.failed_attempts, ${MOST_EARLIER}), now() where e.due_at = 'infinity')
    from due
    where e.plan_id = any (array[due.plan_id]) and e.msg_id = due.msg_id and e.sequence = due.sequence and coalesce(e.holder, 0) = 0
    returning e.*
  )`

const TAKEN_COLUMNS = `
  t.destination, t.failed_attempts as "failedAttempts", t.earlier_attempts as "earlierAttempts", t.began_at as "beganAt"`

/** What the events tell, with them. */
const WITH_PAYLOADS = `
  select ${TAKEN_COLUMNS}, ${PAYLOAD_COLUMNS}
  from taken t
  join events f on f.plan_id = any (array[t.plan_id]) and f.msg_id = t.msg_id and f.sequence = t.sequence ${payloadJoins('f.plan_id')}
  order by t.due_at`

type TakenRow = Omit<EventRow, keyof PayloadRow> & EventOfPlan

/** Runs a statement that ends in `taken`, and reads what the events tell: in another one where they are on other servers. */
async function take(
  db: Queryable,
  { name, text, values }: { readonly name: string; readonly text: string; readonly values: unknown[] },
): Promise<EventRow[]> {
  if (!isSharded(db))
    return (
      await db.query<EventRow>({ name, text: `with recursive ${text}, ${TAKEN} ${WITH_PAYLOADS}`, values })
    ).rows
  const { rows } = await db.query<TakenRow>({
    text: `
      with recursive ${text}, ${TAKEN}
      select ${TAKEN_COLUMNS}, t.plan_id as "planId", t.msg_id as "msgId", t.sequence
      from taken t order by t.due_at`,
    values,
  })
  return await takenWithPayloads(db, rows)
}

/**
 * Takes due deliveries into memory, from each plan in turn, so that a plan with many due does not hold up the others.
 * `awayPlans`: none of these, because their records cannot be read now.
 */
export async function takeDueEvents(
  db: Queryable,
  taker: Taker,
  awayPlans: readonly number[] = [],
): Promise<WebhookEvent[]> {
  const rows = await take(db, {
    name: 'take_due_events',
    // `waiting`: plans that have something waiting, by one probe of the index each.
    text: `
      waiting as (
        (select plan_id from event_deliveries where holder is null and due_at < 'infinity' order by plan_id limit 1)
        union all
        select next.plan_id
        from waiting w cross join lateral (
          select plan_id from event_deliveries
          where holder is null and due_at < 'infinity' and plan_id > w.plan_id
          order by plan_id limit 1) next
      ), in_turn as (
        select d.*, row_number() over (partition by w.plan_id order by d.due_at) as turn
        from waiting w cross join lateral (
          select plan_id, msg_id, sequence, due_at from event_deliveries e
          where plan_id = w.plan_id and holder is null and due_at < 'infinity' and due_at <= now()
            and bucket = any ($2::smallint[]) and ${FIRST_OF_ITS_MESSAGE}
          order by due_at limit $3) d
        where w.plan_id <> all ($4::integer[])
      ), due as (
        select plan_id, msg_id, sequence from in_turn order by turn, due_at limit $3
      )`,
    values: [taker.nodeId, taker.buckets, taker.limit, awayPlans],
  })
  return rows.map((row) => eventOf(row, taker.nodeId))
}

/** Takes deliveries into memory that are parked for this destination. */
export async function takeParkedEvents(
  db: Queryable,
  taker: Taker,
  endpoint: Endpoint,
): Promise<WebhookEvent[]> {
  const rows = await take(db, {
    name: 'take_parked_events',
    text: `
      due as (
        select plan_id, msg_id, sequence from event_deliveries e
        where plan_id = $4 and destination = $5 and state = 'parked' and coalesce(holder, 0) = 0
          and bucket = any ($2::smallint[]) and ${FIRST_OF_ITS_MESSAGE}
        order by due_at limit $3
      )`,
    values: [taker.nodeId, taker.buckets, taker.limit, endpoint.planId, endpoint.destination],
  })
  return rows.map((row) => eventOf(row, taker.nodeId))
}

/**
 * Probes take the oldest deliveries in turn, up to this many, so that a delivery that is never accepted does not keep
 * a breaker open.
 */
const PROBED_IN_TURN = 100

/**
 * Takes one parked delivery of each destination whose breaker is open and whose next probe is due, at most `limit`. The
 * following probe is due `intervalMs` later, on whichever node.
 */
export async function takeProbes(
  db: Queryable,
  taker: Taker,
  intervalMs: number,
): Promise<{ probe: WebhookEvent; destination: string }[]> {
  const rows = await take(db, {
    name: 'take_probes',
    text: `
      found as (
        select d.plan_id, d.destination, parked.msg_id, parked.sequence
        from webhook_destinations d
        cross join lateral (
          select msg_id, sequence from (
            select msg_id, sequence, failed_attempts, due_at from event_deliveries e
            where plan_id = d.plan_id and destination = d.destination and state = 'parked' and coalesce(holder, 0) = 0
              and bucket = any ($2::smallint[]) and ${FIRST_OF_ITS_MESSAGE}
            order by due_at limit ${PROBED_IN_TURN}
          ) oldest
          order by failed_attempts, due_at limit 1
        ) parked
        where d.state = 'open' and d.probe_at <= now()
        limit $3
      ), claimed as (
        update webhook_destinations d set probe_at = now() + $4 * interval '1 ms'
        from found f
        where d.plan_id = f.plan_id and d.destination = f.destination and d.state = 'open' and d.probe_at <= now()
        returning f.plan_id, f.msg_id, f.sequence
      ), due as (
        select plan_id, msg_id, sequence from claimed
      )`,
    values: [taker.nodeId, taker.buckets, taker.limit, intervalMs],
  })
  return rows.map((row) => ({ probe: eventOf(row, taker.nodeId), destination: row.destination! }))
}

function eventOf(row: EventRow, holder: number): WebhookEvent {
  const { planId, msgId, sequence, failedAttempts, earlierAttempts } = row
  const beganAtMs = row.beganAt.getTime()
  return {
    planId,
    msgId,
    sequence,
    holder,
    failedAttempts,
    earlierAttempts,
    beganAtMs,
    waited: true,
    payload: payloadOf(row),
  }
}

/** Only its holder may requeue it; another node may have become that since. */
type HeldEvent = Pick<WebhookEvent, 'planId' | 'msgId' | 'sequence' | 'holder'>

/** One attempt and its consequence. */
export interface AttemptRow
  extends HeldEvent,
    Pick<WebhookEvent, 'waited'>,
    Pick<TravelWebhook, 'attemptedAt' | 'latencyMs' | 'responseStatus' | 'error' | 'responseHead'> {
  /** Failed attempts of the schedule, this one included. */
  readonly failedAttempts: number
  /** Its number among all attempts, from 1. */
  readonly attempt: number
  readonly destination: string | null
  /**
   * `delivered` ends it; `again` after `delayMs`; `parked` until its destination takes it or `delayMs` (null: no end) are
   * over; `failed` is left for redelivery; `kept`: there is no URL, and no attempt was made.
   */
  readonly outcome: 'delivered' | 'again' | 'parked' | 'failed' | 'kept'
  readonly delayMs: number | null
}

/**
 * Records a batch of attempts with their consequences. When an event is requeued, later events of its message become due
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
          destination text, waited boolean, outcome text, "delayMs" bigint)
      ), delivered as (
        update events e
        set delivered_at = i."answeredAt", attempts = i.attempt,
            latency_ms = i."latencyMs", response_status = i."responseStatus", response_head = i."responseHead",
            destination = i.destination
        from input i
        where i.outcome = 'delivered' and e.plan_id = any (array[i."planId"]) and ${ofPlan('e', '$2')}
          and e.msg_id = i."msgId" and e.sequence = i.sequence
      ), ended as (
        delete from event_deliveries e using input i
        where i.outcome in ('delivered', 'kept') and e.plan_id = any (array[i."planId"]) and e.msg_id = i."msgId"
          and e.sequence = i.sequence and (e.holder is null or e.holder = i.holder)
      ), requeued as (
        update event_deliveries e
        set holder = null, failed_attempts = i."failedAttempts", destination = i.destination,
            state = case when i.outcome = 'again' then 'waiting' else i.outcome end::delivery_state,
            due_at = case when i.outcome = 'failed' then 'infinity' else coalesce(i.later, 'infinity') end
        from input i
        where i.outcome in ('again', 'parked', 'failed') and e.plan_id = any (array[i."planId"])
          and e.msg_id = i."msgId" and e.sequence = i.sequence and e.holder = i.holder
      ), behind as (
        update event_deliveries e
        set due_at = case when i.outcome in ('again', 'parked') then coalesce(i.later, 'infinity')
                          else i.at end,
            began_at = case when e.due_at = 'infinity' then i.at else e.began_at end
        from input i
        where (i.waited or i.outcome <> 'delivered') and e.plan_id = any (array[i."planId"]) and e.msg_id = i."msgId"
          and e.sequence > i.sequence and coalesce(e.holder, 0) = 0 and e.state <> 'failed'
      )
      insert into webhook_attempts (msg_id, sequence, attempt, plan_id, attempted_at, latency_ms, response_status, error,
                                    response_head)
      select "msgId", sequence, attempt, "planId", "attemptedAt", "latencyMs", "responseStatus", error, "responseHead" from input
      where outcome <> 'kept' and (outcome <> 'delivered' or attempt > 1)
      on conflict do nothing`,
      values: [JSON.stringify(items), planId],
    })
}

export interface RequeuedEvent extends HeldEvent {
  /** Null: without end. */
  readonly delayMs: number | null
  /** Set when it is parked until its destination takes it. */
  readonly destination: string | null
}

/** Requeues deliveries that were in memory and not attempted; they are due again after `delayMs`. */
export async function requeueEvents(db: Queryable, events: readonly RequeuedEvent[]): Promise<void> {
  await db.query({
    name: 'requeue_events',
    text: `
      update event_deliveries e
      set holder = null, due_at = coalesce(now() + i."delayMs" * interval '1 ms', 'infinity'),
          state = case when i.destination is null then 'waiting' else 'parked' end::delivery_state,
          destination = coalesce(i.destination, e.destination)
      from json_to_recordset($1) as i (
        "planId" integer, "msgId" uuid, sequence smallint, holder integer, "delayMs" bigint, destination text)
      where e.plan_id = any (array[i."planId"]) and e.msg_id = i."msgId" and e.sequence = i.sequence and e.holder = i.holder`,
    values: [JSON.stringify(events)],
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
 * Makes due events that were never tried and have waited longer than `waitMs` behind an event that is no longer there: it
 * was recorded as delivered while they were being written. Looks at the earliest due first; at most `limit`. Returns how
 * many.
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
