import sql, { empty, raw, type Sql } from 'sql-template-tag'
import type { EventState } from '../domain/events.ts'
import type { EventKey } from '../domain/identifiers.ts'
import type { EventFilters, Page } from '../domain/lists.ts'
import type { TravelWebhook } from '../domain/messages/message-timeline.ts'
import type { Status } from '../domain/messages/messages.ts'
import { isSharded, mustBeHere } from './citus.ts'
import type { Queryable } from './database.ts'
import { allOf, createdIn, equals } from './list-conditions.ts'

/** An event, and what has become of it. */
export interface EventRecord extends EventKey {
  readonly planId: number
  /** Place in the plan's feed. */
  readonly position: number | bigint
  /** Status of the message at that time; null for an inbound message. */
  readonly messageStatus: Status | null
  readonly state: EventState
  readonly occurredAt: Date
  /** When it was last answered 2xx. */
  readonly deliveredAt: Date | null
  /** Attempts made in all. */
  readonly attempts: number
  /**
   * Latest time of the next attempt; an event that waits for its destination goes sooner if that is back. In the past
   * while an attempt is in flight; null: none is planned.
   */
  readonly nextAttemptAt: Date | null
  readonly destination: string | null
  /** This and the next are of the last attempt. */
  readonly responseStatus: number | null
  readonly error: string | null
}

/** One POST. */
interface EventAttempt extends Omit<TravelWebhook, 'event' | 'attemptedAt'> {
  readonly attemptedAt: Date
}

/** The latest attempts of one event; a day of probes makes more. */
const MAX_ATTEMPTS_SHOWN = 1_000

const KEY = 'plan_id, msg_id, sequence'
/** State of the event `e`, `d` being its delivery, if there is one. */
export const EVENT_STATE = `
  case when d.state = 'failed' then 'failed' when d.plan_id is not null then 'pending'
       when e.delivered_at is not null then 'delivered' else 'kept' end`

/** From `e`, events, and `d`, the deliveries of those that have one. The number tells which attempt is the last. */
const RECORD = raw(`
  e.plan_id as "planId", e.msg_id as "msgId", e.sequence, e.position, e.status as "messageStatus", ${EVENT_STATE} as state,
  e.occurred_at as "occurredAt", e.delivered_at as "deliveredAt",
  greatest(d.earlier_attempts + d.failed_attempts, e.attempts, last.attempt, 0) as attempts,
  case when d.state <> 'failed' and d.due_at < 'infinity' then d.due_at end as "nextAttemptAt",
  coalesce(d.destination, e.destination) as destination,
  case when last.attempt > coalesce(e.attempts, 0) then last.response_status else e.response_status end
    as "responseStatus",
  case when last.attempt > coalesce(e.attempts, 0) then last.error end as error`)
const lastAttempt = (planId: number) => sql`
  left join lateral (
    select w.attempt, w.response_status, w.error from webhook_attempts w
    where w.plan_id = ${planId} and w.msg_id = e.msg_id and w.sequence = e.sequence
    order by w.attempt desc limit 1
  ) last on true`

/**
 * Events of one plan: newest message first, and of each message the latest event first. That is the order of the primary
 * key, so a window of the messages' createdAt is a range and leaves out the partitions of other days. Failed and pending
 * events are found among the deliveries. `delivered`, `kept` and a destination among many others are found by skipping
 * over other events, within the statement timeout of the connection. `offset 0`: keys are looked up whole, whatever
 * statistics a new partition has.
 */
export async function listEvents(db: Queryable, page: Page<EventFilters, EventKey>): Promise<EventRecord[]> {
  mustBeHere(db, [page.planId])
  const { rows } = await db.query<EventRecord>(sql`
    ${deliveriesOf(db, page.planId)}
    select ${RECORD}
    from (${keysOf(page)}) k
    cross join lateral (
      select * from events e where ${equals('e.plan_id', page.planId)} and e.msg_id = k.msg_id and e.sequence = k.sequence offset 0
    ) e
    left join lateral (
      select * from event_deliveries d
      where d.plan_id = k.plan_id and d.msg_id = k.msg_id and d.sequence = k.sequence offset 0
    ) d on true
    ${lastAttempt(page.planId)}
    order by e.msg_id desc, e.sequence desc`)
  return rows
}

/** An event with its attempts, earliest first. */
export interface EventDetail extends EventRecord {
  /** Of its message, as stored; null of an inbound one. */
  readonly callbackUrl: string | null
  readonly attemptRecords: readonly EventAttempt[]
}

/** One event of a plan; null when there is none. */
export async function findEvent(db: Queryable, planId: number, key: EventKey): Promise<EventDetail | null> {
  mustBeHere(db, [planId])
  const { rows } = await db.query<Omit<EventDetail, 'attemptRecords'>>(sql`
    ${deliveriesOf(db, planId)}
    select ${RECORD}, m.callback_url as "callbackUrl"
    from events e
    left join event_deliveries d using (${raw(KEY)})
    left join messages m on m.plan_id = ${planId} and m.msg_id = ${key.msgId}
    ${lastAttempt(planId)}
    where e.plan_id = ${planId} and e.msg_id = ${key.msgId} and e.sequence = ${key.sequence}`)
  const [event] = rows
  return event === undefined ? null : { ...event, attemptRecords: await attemptsOf(db, planId, key) }
}

/** Key of the plan that has the event. Looked up in each plan, because the operator names none. */
export async function findPlanOfEvent(db: Queryable, key: EventKey): Promise<number | undefined> {
  const { rows } = await db.query<{ planId: number }>(
    `select plan_id as "planId" from events
     where plan_id = any (array(select id from service_plans)) and msg_id = $1 and sequence = $2`,
    [key.msgId, key.sequence],
  )
  return rows[0]?.planId
}

/** A first attempt that was answered 2xx is recorded in the event alone, until the event is redelivered. */
async function attemptsOf(db: Queryable, planId: number, key: EventKey): Promise<EventAttempt[]> {
  const { rows } = await db.query<EventAttempt>({
    text: `
      select w.attempt, w.attempted_at as "attemptedAt", w.latency_ms as "latencyMs",
             w.response_status as "responseStatus", w.error, w.response_head as "responseHead"
      from webhook_attempts w where w.plan_id = $1 and w.msg_id = $2 and w.sequence = $3
      union all
      select e.attempts, e.delivered_at - e.latency_ms * interval '1 ms', e.latency_ms, e.response_status, null,
             e.response_head
      from events e
      where e.plan_id = $1 and e.msg_id = $2 and e.sequence = $3 and e.attempts = 1 and not exists (
        select from webhook_attempts w
        where w.plan_id = $1 and w.msg_id = $2 and w.sequence = $3 and w.attempt = 1)
      order by attempt desc limit $4`,
    values: [planId, key.msgId, key.sequence, MAX_ATTEMPTS_SHOWN],
  })
  return rows.reverse()
}

/** The deliveries of the plan, in place of the table where the plan's events are on another server. */
function deliveriesOf(db: Queryable, planId: number): Sql {
  if (!isSharded(db)) return empty
  return sql`with event_deliveries as materialized (select * from event_deliveries where plan_id = ${planId})`
}

/** The keys of a page, from the table where there are fewest. */
function keysOf(page: Page<EventFilters, EventKey>): Sql {
  const { state } = page.filters
  if (state === 'failed' || state === 'pending') {
    const wanted = state === 'failed' ? raw(`d.state = 'failed'`) : raw(`d.state <> 'failed'`)
    return sql`
      select d.plan_id, d.msg_id, d.sequence from event_deliveries d
      where ${conditionsOf(page, 'd', 'd.destination')} and ${wanted}
      order by d.msg_id desc, d.sequence desc limit ${page.limit}`
  }
  const wanted = state === null ? empty : sql` and ${raw(EVENT_STATE)} = ${state}`
  return sql`
    select e.plan_id, e.msg_id, e.sequence from events e left join event_deliveries d using (${raw(KEY)})
    where ${conditionsOf(page, 'e', 'coalesce(d.destination, e.destination)')}${wanted}
    order by e.msg_id desc, e.sequence desc limit ${page.limit}`
}

/** The row comparison alone would not leave out partitions. The `<=` does. */
function conditionsOf({ planId, filters, after }: Page<EventFilters, EventKey>, of: string, at: string): Sql {
  const id = `${of}.msg_id`
  return allOf([
    equals(`${of}.plan_id`, planId),
    after === null
      ? empty
      : sql`${raw(id)} <= ${after.msgId}
          and (${raw(id)}, ${raw(of)}.sequence) < (${after.msgId}::uuid, ${after.sequence}::smallint)`,
    createdIn(id, filters),
    equals(id, filters.msgId),
    equals(at, filters.destination),
  ])
}
