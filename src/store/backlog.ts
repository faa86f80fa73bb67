import type { WaitingDestination, WaitingGroup } from '../domain/backlog.ts'
import { bucketOf } from '../domain/identifiers.ts'
import type { Queryable } from './database.ts'

/**
 * Counts of what waits in the database. Each reads a bounded number of rows, shared among plans and routes, earliest due
 * first, which the index finds. Reading 40,000 rows of 1,000,000 takes some 40 ms.
 */

/** Most pairs of plan and route, with the carriers that were chosen, that are looked at. */
const MAX_PAIRS = 2_000
/** Most rows looked at: this many that are due, and as many that are not. */
const MAX_ROWS = 20_000
const LEAST_ROWS = 10
/** Destinations in trouble that are looked at. */
const MAX_DESTINATIONS = 1_000

export interface CountedMessages {
  readonly groups: readonly WaitingGroup[]
  /** There are more. */
  readonly more: boolean
}

/** Messages that wait to be submitted, in groups that are alike. */
export async function countWaitingMessages(db: Queryable): Promise<CountedMessages> {
  const { rows } = await db.query<WaitingGroup & { chosenCarrierId: number; share: number; pairs: number }>({
    name: 'count_waiting_messages',
    text: `
      with recursive waiting as (
        (select plan_id, route_id, chosen_carrier_id, 1 as number from dispatches
         order by plan_id, route_id, chosen_carrier_id limit 1)
        union all
        select n.plan_id, n.route_id, n.chosen_carrier_id, w.number + 1
        from waiting w cross join lateral (
          select d.plan_id, d.route_id, d.chosen_carrier_id from dispatches d
          where (d.plan_id, d.route_id, d.chosen_carrier_id) > (w.plan_id, w.route_id, w.chosen_carrier_id)
          order by d.plan_id, d.route_id, d.chosen_carrier_id limit 1) n
        where w.number < $1
      ), shares as (
        select plan_id, route_id, chosen_carrier_id, count(*) over () as pairs,
               greatest($3, $2 / count(*) over ()) as share
        from waiting
      )
      select s.plan_id as "planId", s.route_id as "routeId", s.chosen_carrier_id as "chosenCarrierId",
             coalesce(nullif(s.chosen_carrier_id, 0), d.carrier_id) as "carrierId", d.ambiguous,
             d.failed_attempts > 0 as retried, d.due, count(*)::integer as count,
             min(d.msg_id::text collate "C") as "oldestMsgId", s.share::integer, s.pairs::integer
      from shares s
      cross join lateral (
        (select carrier_id, ambiguous, failed_attempts, msg_id, true as due
         from dispatches
         where plan_id = s.plan_id and route_id = s.route_id
           and chosen_carrier_id = s.chosen_carrier_id and due_at <= now()
         order by due_at limit s.share)
        union all
        (select carrier_id, ambiguous, failed_attempts, msg_id, false from dispatches
         where plan_id = s.plan_id and route_id = s.route_id
           and chosen_carrier_id = s.chosen_carrier_id and due_at > now()
         order by due_at limit s.share)
      ) d
      group by 1, 2, 3, 4, 5, 6, 7, s.share, s.pairs`,
    values: [MAX_PAIRS, MAX_ROWS, LEAST_ROWS],
  })
  const counted = new Map<string, number>()
  for (const { planId, routeId, chosenCarrierId, due, count } of rows) {
    const key = `${planId}:${routeId}:${chosenCarrierId}:${due}`
    counted.set(key, (counted.get(key) ?? 0) + count)
  }
  const [first] = rows
  const isFull = first !== undefined && Math.max(...counted.values()) >= first.share
  return {
    groups: rows.map(({ chosenCarrierId: _, share: __, pairs: ___, ...group }) => group),
    more: isFull || first?.pairs === MAX_PAIRS,
  }
}

/** Of one message in the database; undefined when it does not wait there. */
export async function findWaitingMessage(
  db: Queryable,
  msgId: string,
): Promise<(WaitingGroup & { readonly dueAt: Date }) | undefined> {
  const { rows } = await db.query<WaitingGroup & { dueAt: Date }>(
    `select plan_id as "planId", route_id as "routeId", coalesce(nullif(chosen_carrier_id, 0), carrier_id) as "carrierId",
            ambiguous, failed_attempts > 0 as retried, due_at <= now() as due, due_at as "dueAt", 1 as count,
            msg_id as "oldestMsgId"
     from dispatches where bucket = $1 and msg_id = $2`,
    [bucketOf(msgId), msgId],
  )
  return rows[0]
}

/** Webhooks that no node holds, except those that wait for a destination in trouble. */
export interface WaitingEvents {
  readonly due: boolean
  /** An attempt has failed; otherwise it waits behind an earlier event of its message. */
  readonly retried: boolean
  readonly count: number
  readonly oldestAt: Date
}

export async function countWaitingEvents(
  db: Queryable,
): Promise<{ groups: readonly WaitingEvents[]; more: boolean }> {
  const { rows } = await db.query<WaitingEvents & { full: boolean }>({
    name: 'count_waiting_events',
    text: `
      with recursive waiting as (
        (select plan_id, 1 as number from event_deliveries where holder is null and due_at < 'infinity'
         order by plan_id limit 1)
        union all
        select n.plan_id, w.number + 1
        from waiting w cross join lateral (
          select plan_id from event_deliveries
          where holder is null and due_at < 'infinity' and plan_id > w.plan_id order by plan_id limit 1) n
        where w.number < $1
      ), shares as (
        select plan_id, greatest($3, $2 / count(*) over ()) as share from waiting
      ), found as (
        select d.*, count(*) over (partition by d.plan_id) >= s.share as full
        from shares s
        cross join lateral (
          select plan_id, destination, state, failed_attempts, began_at, due_at <= now() as due from event_deliveries
          where holder is null and plan_id = s.plan_id and due_at < 'infinity' order by due_at limit s.share
        ) d
      )
      select f.due, f.failed_attempts > 0 or f.destination is not null as retried, count(*)::integer as count,
             min(f.began_at) as "oldestAt", bool_or(f.full) as full
      from found f
      where not exists (select from webhook_destinations t
                        where f.state = 'parked' and t.plan_id = f.plan_id and t.destination = f.destination)
      group by 1, 2`,
    values: [MAX_PAIRS, MAX_ROWS, LEAST_ROWS],
  })
  return { groups: rows.map(({ full: _, ...group }) => group), more: rows.some(({ full }) => full) }
}

/** Destinations in trouble, longest first, each with what is parked for it. */
export async function countParkedEvents(
  db: Queryable,
): Promise<{ destinations: readonly WaitingDestination[]; more: boolean }> {
  const { rows } = await db.query<
    Omit<WaitingDestination, 'oldestMs'> & { oldestAt: Date | null; full: boolean }
  >({
    name: 'count_parked_events',
    text: `
      with troubled as (
        select plan_id, destination, state, since, error, greatest($3, $2 / count(*) over ()) as share
        from (select * from webhook_destinations order by plan_id, destination limit $1) t
      )
      select t.plan_id as "planId", t.destination, t.state, t.since, t.error, d.count, d.oldest_at as "oldestAt",
             d.count >= t.share as full
      from troubled t
      cross join lateral (
        select count(*)::integer as count, min(began_at) as oldest_at
        from (select began_at from event_deliveries
              where plan_id = t.plan_id and destination = t.destination and state = 'parked'
              order by due_at limit t.share) p
      ) d
      order by t.since, t.plan_id, t.destination`,
    values: [MAX_DESTINATIONS, MAX_ROWS, LEAST_ROWS],
  })
  return {
    destinations: rows.map(({ full: _, oldestAt, ...row }) => ({
      ...row,
      oldestMs: oldestAt?.getTime() ?? null,
    })),
    more: rows.length === MAX_DESTINATIONS || rows.some(({ full }) => full),
  }
}
