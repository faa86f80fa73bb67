import type { Queryable } from './database.ts'
import type { TroubledDestination } from './webhook-destinations.ts'

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
