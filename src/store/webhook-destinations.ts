import type { Endpoint } from '../domain/webhooks/targets.ts'
import type { Queryable } from './database.ts'

/** A destination (scheme, host, port) of a plan that is in trouble. */
export interface TroubledDestination extends Endpoint {
  /** open: only a probe a minute is sent; paused: nothing is sent; recovering: parked events are being delivered. */
  readonly state: 'open' | 'paused' | 'recovering'
  readonly since: Date
  /** What the last failure was. */
  readonly error: string | null
  readonly pausedBy: 'customer' | 'operator' | null
}

/** With this many troubled destinations, a plan's breakers no longer open: events there follow their own schedules. */
export const MAX_TROUBLED_OF_PLAN = 1_000

/** All troubled destinations. */
export async function listTroubledDestinations(db: Queryable): Promise<TroubledDestination[]> {
  const { rows } = await db.query<TroubledDestination>({
    name: 'list_troubled_destinations',
    text: `
      select plan_id as "planId", destination, state, since, error, paused_by as "pausedBy"
      from webhook_destinations`,
  })
  return rows
}

/** Opens a breaker; the first probe is due after `probeAfterMs`. A paused destination stays paused. */
export async function openBreaker(
  db: Queryable,
  breaker: Endpoint & { error: string; probeAfterMs: number },
): Promise<void> {
  await db.query({
    text: `
      insert into webhook_destinations as d (plan_id, destination, state, error, probe_at)
      select $1, $2, 'open', $3, now() + $4 * interval '1 ms'
      where (select count(*) from webhook_destinations where plan_id = $1 and destination <> $2) < $5
        and exists (select from service_plans where id = $1)
      on conflict (plan_id, destination) do update
      set state = 'open', since = now(), error = excluded.error, probe_at = excluded.probe_at
      where d.state = 'recovering'`,
    values: [breaker.planId, breaker.destination, breaker.error, breaker.probeAfterMs, MAX_TROUBLED_OF_PLAN],
  })
}

/** Closes an open breaker: events parked there are now to be delivered. */
export async function closeBreaker(db: Queryable, endpoint: Endpoint): Promise<void> {
  await db.query({
    text: `
      update webhook_destinations set state = 'recovering', since = now(), probe_at = null
      where plan_id = $1 and destination = $2 and state = 'open'`,
    values: [endpoint.planId, endpoint.destination],
  })
}

/** With this many destinations of a plan paused by the customer, or by the operator, that one can pause no more. */
const MAX_PAUSED_OF_PLAN = 1_000

/** Sends nothing more there until it is resumed. False: too many are paused. The operator's pause replaces a customer's. */
export async function pauseDestination(
  db: Queryable,
  { planId, destination }: Endpoint,
  by: 'customer' | 'operator',
): Promise<boolean> {
  const { rows } = await db.query<{ allowed: boolean }>({
    text: `
      with others as (
        select count(*) < $4 as allowed from webhook_destinations
        where plan_id = $1 and destination <> $2 and state = 'paused' and paused_by = $3
      ), paused as (
        insert into webhook_destinations as d (plan_id, destination, state, paused_by)
        select $1, $2, 'paused', $3 from others where allowed
        on conflict (plan_id, destination) do update
        set state = 'paused', since = now(), probe_at = null, paused_by = excluded.paused_by
        where d.state <> 'paused' or (d.paused_by = 'customer' and excluded.paused_by = 'operator')
      )
      select allowed from others`,
    values: [planId, destination, by, MAX_PAUSED_OF_PLAN],
  })
  return rows[0]!.allowed
}

/**
 * Delivers what is parked there now, whether the destination was paused, its breaker is open, or it is in no trouble and
 * has events that wait for their next attempt. False: the operator has paused it, and `by` is somebody else.
 */
export async function resumeDestination(
  db: Queryable,
  { planId, destination }: Endpoint,
  by: 'customer' | 'operator',
): Promise<boolean> {
  const { rows } = await db.query<{ refused: boolean }>({
    text: `
      with resumed as (
        update webhook_destinations
        set state = 'recovering', since = now(), probe_at = null, paused_by = null
        where plan_id = $1 and destination = $2 and state in ('open', 'paused')
          and ($3 = 'operator' or paused_by is distinct from 'operator')
        returning 1
      ), hastened as (
        insert into webhook_destinations (plan_id, destination, state)
        select $1, $2, 'recovering'
        where exists (
            select from event_deliveries
            where plan_id = $1 and destination = $2 and state = 'waiting' and coalesce(holder, 0) = 0)
          and (select count(*) from webhook_destinations where plan_id = $1) < $4
        on conflict do nothing
      )
      select exists (
        select from webhook_destinations
        where plan_id = $1 and destination = $2 and paused_by = 'operator'
      ) and not exists (select from resumed) as refused`,
    values: [planId, destination, by, MAX_TROUBLED_OF_PLAN],
  })
  return !rows[0]!.refused
}

/**
 * Parks events that wait for their next attempt at a destination, until the destination takes them or `scheduleMs` after
 * their schedule began; at most `limit`. Parks none if the breaker is not open and the destination does not recover any
 * more, because nobody would fetch them. Returns how many it parked.
 *
 * The row is locked, so that it cannot be deleted meanwhile. Its new `since` or `probe_at` keeps `deleteRecovered` from deleting
 * it after that wait, when its snapshot does not show what was parked here.
 */
export async function parkDeliveriesAt(
  db: Queryable,
  endpoint: Endpoint & { scheduleMs: number; limit: number },
): Promise<number> {
  const { rowCount } = await db.query({
    text: `
      with troubled as (
        update webhook_destinations
        set since = case state when 'recovering' then now() else since end,
            probe_at = case state when 'open' then greatest(probe_at, now()) end
        where plan_id = $1 and destination = $2 and state in ('open', 'recovering')
        returning plan_id, destination
      )
      update event_deliveries e set state = 'parked', due_at = e.began_at + $3 * interval '1 ms'
      from (
        select w.plan_id, w.msg_id, w.sequence
        from troubled t cross join lateral (
          select plan_id, msg_id, sequence from event_deliveries
          where plan_id = t.plan_id and destination = t.destination and state = 'waiting' and coalesce(holder, 0) = 0
          order by due_at limit $4
        ) w
      ) waiting
      where e.plan_id = any (array[waiting.plan_id]) and e.msg_id = waiting.msg_id and e.sequence = waiting.sequence
        and e.state = 'waiting' and coalesce(e.holder, 0) = 0`,
    values: [endpoint.planId, endpoint.destination, endpoint.scheduleMs, endpoint.limit],
  })
  return rowCount ?? 0
}

/**
 * Deletes destinations that recovered `quietMs` ago, long enough for every node to have learned of it, and have nothing
 * parked any more. Also those that are open and had nothing to probe for an hour: receivers that are gone for good would take
 * a plan its breakers.
 */
export async function deleteRecovered(db: Queryable, quietMs: number): Promise<void> {
  await db.query({
    name: 'delete_recovered',
    text: `
      delete from webhook_destinations d
      where (d.state = 'recovering' and d.since < now() - $1 * interval '1 ms'
             or d.state = 'open' and d.probe_at < now() - interval '1 hour')
        and not exists (
          select from event_deliveries e
          where e.plan_id = d.plan_id and e.destination = d.destination and e.state = 'parked')`,
    values: [quietMs],
  })
}

/**
 * Makes due what has been parked for longer than `crowdedMs` at a destination that is in no trouble: a node that had not
 * heard of its recovery parked it. At most `limit`; returns how many.
 */
export async function unparkStray(db: Queryable, crowdedMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    text: `
      update event_deliveries e set state = 'waiting', due_at = now()
      from (
        select s.plan_id, s.msg_id, s.sequence
        from service_plans p
        cross join lateral (
          select plan_id, msg_id, sequence from event_deliveries e
          where plan_id = p.id and state = 'parked' and destination is not null and coalesce(holder, 0) = 0
            and due_at > now() + $1 * interval '1 ms'
            and not exists (select from webhook_destinations d
                            where d.plan_id = e.plan_id and d.destination = e.destination)
          limit $2
        ) s
        limit $2
      ) stray
      where e.plan_id = any (array[stray.plan_id]) and e.msg_id = stray.msg_id and e.sequence = stray.sequence and e.state = 'parked'
        and coalesce(e.holder, 0) = 0`,
    values: [crowdedMs, limit],
  })
  return rowCount ?? 0
}

/** A destination of a plan that is in trouble, or that has deliveries which did not succeed at once. */
export interface DestinationRecord {
  /** Scheme, host and port. */
  readonly destination: string
  /** delivering: in no trouble. */
  readonly state: TroubledDestination['state'] | 'delivering'
  readonly since: Date | null
  readonly error: string | null
  readonly pausedBy: TroubledDestination['pausedBy']
  /** Deliveries there, each counted up to MOST_COUNTED: waiting for their next attempt, for the destination, for somebody. */
  readonly waiting: number
  readonly parked: number
  readonly failed: number
}

/** A higher count would cost more than it tells. */
const MOST_COUNTED = 10_000

/** From a CTE `named` of destinations of the plan $1 to their records. */
const RECORDS = `
  select n.destination, coalesce(t.state, 'delivering') as state, t.since, t.error, t.paused_by as "pausedBy",
         ${['waiting', 'parked', 'failed']
           .map(
             (state) => `(
           select count(*) from (
             select from event_deliveries d
             where d.plan_id = $1 and d.destination = n.destination and d.state = '${state}' limit ${MOST_COUNTED}
           ) counted) as ${state}`,
           )
           .join(', ')}
  from named n
  left join webhook_destinations t on t.plan_id = $1 and t.destination = n.destination
  order by n.destination`

/** Destinations of a plan, by name, behind `after`. Each name is looked up in the index, not each delivery. */
export async function listDestinations(
  db: Queryable,
  page: { planId: number; after: string; limit: number },
): Promise<DestinationRecord[]> {
  const { rows } = await db.query<DestinationRecord>({
    name: 'list_destinations',
    text: `
      with recursive delivering (destination, number) as (
        select $2::text, 0
        union all
        select (select d.destination from event_deliveries d
                where d.plan_id = $1 and d.destination > b.destination order by d.destination limit 1),
               b.number + 1
        from delivering b where b.destination is not null and b.number < $3
      ), named as (
        select destination from delivering where number > 0 and destination is not null
        union
        (select destination from webhook_destinations where plan_id = $1 and destination > $2
         order by destination limit $3)
        order by 1 limit $3
      )
      ${RECORDS}`,
    values: [page.planId, page.after, page.limit],
  })
  return rows
}

/** One destination of a plan, whether anything is known of it or not. */
export async function findDestination(
  db: Queryable,
  planId: number,
  destination: string,
): Promise<DestinationRecord> {
  const { rows } = await db.query<DestinationRecord>({
    name: 'find_destination',
    text: `with named as (select $2::text as destination) ${RECORDS}`,
    values: [planId, destination],
  })
  return rows[0]!
}
