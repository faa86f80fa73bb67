import type { EventKey } from '../domain/identifiers.ts'
import { withTables } from './citus.ts'
import type { Queryable } from './database.ts'
import { dueOf } from './event-deliveries.ts'

/** An event with this many attempts is not redelivered any more. Probes alone make up to 4,560 attempts in 76 hours. */
const MAX_ATTEMPTS = 20_000

/** Leaves room for the due events of other plans in between. */
const SPACING = '1 ms'

/**
 * From a CTE `chosen` of keys of events of the plan $1 to `reachable`, those that have a URL to go to. (Without `offset 0` events were
 * looked for by plan alone where a partition has no statistics yet: 5 s for 1,000.)
 */
const REACHABLE = `
  reachable as (
    select e.plan_id, e.msg_id, e.sequence, e.attempts, e.delivered_at, e.latency_ms, e.response_status, e.response_head,
           made.attempts as made
    from chosen c
    cross join lateral (
      select * from events e where e.plan_id = $1 and e.msg_id = c.msg_id and e.sequence = c.sequence offset 0
    ) e
    cross join lateral (
      select greatest(e.attempts, max(w.attempt), 0) as attempts from webhook_attempts w
      where w.plan_id = $1 and w.msg_id = e.msg_id and w.sequence = e.sequence
    ) made
    cross join lateral (
      select case when c.sequence > 0 then a.default_dlr_url else p.inbound_url end as url
      from service_plans p join accounts a on a.id = p.account_id where p.id = c.plan_id
    ) configured
    left join lateral (
      select callback_url from messages m
      where c.sequence > 0 and m.plan_id = $1 and m.msg_id = c.msg_id offset 0
    ) m on true
    where coalesce(m.callback_url, configured.url) is not null
  )`

const CONFIGURED = { accounts: 'true', service_plans: 'true' }

/** The row `d` of event `e`'s delivery. */
const deliveryOf = (e: string) => `
  select from event_deliveries d
  where d.plan_id = any (array[${e}.plan_id]) and d.msg_id = ${e}.msg_id and d.sequence = ${e}.sequence`

/** (Without `offset 0` all deliveries were read and hashed while the table was planned for as empty.) */
const hasDelivery = (e: string) => `exists (${deliveryOf(e)} offset 0)`

/**
 * From `chosen` to `free`: those among them that wait or have failed, and are in no node's memory. They are locked in the order
 * of their keys, before `queued` locks what waits ahead of them. After that no lock is waited for, so others may lock
 * the events of a message in any order.
 */
const FREE = `
  free as materialized (
    select c.msg_id, c.sequence
    from (select * from chosen order by msg_id, sequence) c
    cross join lateral (${deliveryOf('c')} and coalesce(d.holder, 0) = 0 for no key update) d
  )`

/**
 * From `reachable` and `free` to `queued`, those that were not tried too often and are in no node's memory: due now and SPACING
 * after each other, `ahead` (SQL) being before them, or with an earlier one of their message that waits; at the beginning of
 * their schedule. What is known of a first attempt that was answered 2xx is written down, for the event will tell of the next
 * one. An event whose delivery has just ended is left as it is: its last attempt does not show yet.
 */
const queued = (ahead: string) => `
  logged as (
    insert into webhook_attempts (msg_id, sequence, attempt, plan_id, attempted_at, latency_ms, response_status,
                                  response_head)
    select msg_id, sequence, attempts, plan_id, delivered_at - latency_ms * interval '1 ms', latency_ms, response_status,
           response_head
    from reachable where attempts = 1
    on conflict do nothing
  ), queued as (
    insert into event_deliveries as d (plan_id, msg_id, sequence, bucket, earlier_attempts, due_at, began_at)
    select r.plan_id, r.msg_id, r.sequence, get_byte(uuid_send(r.msg_id), 15), r.made,
           greatest(now() + (${ahead} + row_number() over (order by r.msg_id, r.sequence) - 1) * interval '${SPACING}',
                    ${dueOf({ planId: 'r.plan_id', msgId: 'r.msg_id', where: 'b.sequence < r.sequence' })}),
           now()
    from reachable r
    where (select count(*) from free) is not null and r.made < ${MAX_ATTEMPTS}
      and ((r.msg_id, r.sequence) in (select msg_id, sequence from free) or not ${hasDelivery('r')})
    on conflict (plan_id, msg_id, sequence) do update
    set state = 'waiting', failed_attempts = 0,
        earlier_attempts = d.earlier_attempts + d.failed_attempts, due_at = excluded.due_at,
        began_at = excluded.began_at
    where d.holder is null
    returning d.msg_id
  )`

/** Those that `queued` would queue. */
const COUNTED = `queued as (select from reachable where made < ${MAX_ATTEMPTS})`

const LOOKED_AT = `
  select (select count(*) from queued) as queued, (select count(*) from looked_at) as count,
         last.msg_id as "msgId", last.sequence
  from (select) as one
  left join (select msg_id, sequence from looked_at order by msg_id desc, sequence desc limit 1) last on true`

/** The outcome for one event. `held`: in flight, or about to be; `exhausted`: it was tried too often. */
export type Redelivery = 'queued' | 'held' | 'unreachable' | 'exhausted'

/** Has one event of a plan delivered, again or for the first time; null when there is none. */
export async function redeliverOne(
  db: Queryable,
  planId: number,
  { msgId, sequence }: EventKey,
): Promise<Redelivery | null> {
  const { rows } = await db.query<{ outcome: Redelivery }>({
    name: 'redeliver_one',
    text: `
      with ${withTables(db, CONFIGURED)} chosen as (
        select plan_id, msg_id, sequence from events where plan_id = $1 and msg_id = $2 and sequence = $3
      ), ${FREE}, ${REACHABLE}, ${queued('0')}
      select case when exists (select from queued) then 'queued'
                  when ${hasDelivery('c')} and not exists (select from free) then 'held'
                  when not exists (select from reachable) then 'unreachable'
                  when exists (select from reachable where made < ${MAX_ATTEMPTS}) then 'held' else 'exhausted' end as outcome
      from chosen c`,
    values: [planId, msgId, sequence],
  })
  return rows[0]?.outcome ?? null
}

/** Events of a plan behind `after` up to the message `upTo`, by key. Looks at `limit`; `ahead` were queued before. */
export interface Stretch {
  readonly planId: number
  readonly after: EventKey
  readonly upTo: string
  readonly limit: number
  readonly ahead: number
  /** Counts them, and changes nothing. */
  readonly dryRun: boolean
}

/** How far the stretch was looked at (`last` null: to its end), and how many of its events were queued. */
export interface StretchQueued {
  readonly queued: number
  readonly last: EventKey | null
}

/** Redelivers the failed events of a stretch; only those of one destination if it is given. */
export async function redeliverFailed(
  db: Queryable,
  stretch: Stretch & { readonly destination: string | null },
): Promise<StretchQueued> {
  const { planId, after, upTo, limit, destination } = stretch
  return queuedOf(stretch, db, {
    name: 'redeliver_failed',
    text: `
      with ${withTables(db, CONFIGURED)} looked_at as (
        select plan_id, msg_id, sequence, state, destination from event_deliveries
        where plan_id = $1 and msg_id >= $2 and (msg_id, sequence) > ($2, $3::smallint) and msg_id <= $4
        order by msg_id, sequence limit $5
      ), chosen as (
        select plan_id, msg_id, sequence from looked_at
        where state = 'failed' and ($6::text is null or destination = $6)
      )`,
    values: [planId, after.msgId, after.sequence, upTo, limit, destination],
  })
}

/** Redelivers the events of a stretch that were kept because there was no URL. */
export async function redeliverKept(db: Queryable, stretch: Stretch): Promise<StretchQueued> {
  const { planId, after, upTo, limit } = stretch
  return queuedOf(stretch, db, {
    name: 'redeliver_kept',
    text: `
      with ${withTables(db, CONFIGURED)} looked_at as (
        select plan_id, msg_id, sequence, delivered_at from events
        where plan_id = $1 and msg_id >= $2 and (msg_id, sequence) > ($2, $3::smallint) and msg_id <= $4
        order by msg_id, sequence limit $5
      ), chosen as (
        select plan_id, msg_id, sequence from looked_at k
        where delivered_at is null and not exists (
          select from event_deliveries d where d.plan_id = k.plan_id and d.msg_id = k.msg_id and d.sequence = k.sequence offset 0)
      )`,
    values: [planId, after.msgId, after.sequence, upTo, limit],
  })
}

/** `text`: the CTEs `looked_at` and `chosen`. */
async function queuedOf(
  { limit, ahead, dryRun }: Stretch,
  db: Queryable,
  { name, text, values }: { name: string; text: string; values: unknown[] },
): Promise<StretchQueued> {
  const { rows } = await db.query<{ queued: number; count: number; msgId: string; sequence: number }>(
    dryRun
      ? { text: `${text}, ${REACHABLE}, ${COUNTED} ${LOOKED_AT}`, values }
      : {
          name,
          text: `${text}, ${FREE}, ${REACHABLE}, ${queued(`$${values.length + 1}::integer`)} ${LOOKED_AT}`,
          values: [...values, ahead],
        },
  )
  const { count, msgId, sequence, ...found } = rows[0]!
  return { queued: found.queued, last: count < limit ? null : { msgId, sequence } }
}
