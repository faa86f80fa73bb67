/** Takes deliveries out of the queue into the memory of a node, with what their events tell. */

import type { Endpoint } from '../domain/webhooks/targets.ts'
import { awayPlans, isSharded } from './citus.ts'
import { CommitOutcomeUnknownError, type Queryable } from './database.ts'
import { FIRST_OF_ITS_MESSAGE, requeueEvents, type WebhookEvent } from './event-deliveries.ts'
import {
  type EventOfPlan,
  PAYLOAD_COLUMNS,
  type PayloadRow,
  payloadJoins,
  payloadOf,
  readPayloads,
} from './event-payloads.ts'

interface EventRow extends PayloadRow {
  readonly holder: number
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

/**
 * Attempts before a schedule are counted up to here. With a probe a minute for 76 hours after that, they still fit a
 * smallint.
 */
const MOST_EARLIER = 28_000

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
  t.holder, t.destination, t.failed_attempts as "failedAttempts", t.earlier_attempts as "earlierAttempts",
  t.began_at as "beganAt"`

/** What the events tell, with them. */
const WITH_PAYLOADS = `
  select ${TAKEN_COLUMNS}, ${PAYLOAD_COLUMNS}
  from taken t
  join events f on f.plan_id = any (array[t.plan_id]) and f.msg_id = t.msg_id and f.sequence = t.sequence ${payloadJoins('f.plan_id')}
  order by t.due_at`

type TakenRow = Omit<EventRow, keyof PayloadRow> & EventOfPlan

/** On several servers, an event may show on its own a little after its delivery does here. */
const UNSEEN_DELAY_MS = 1_000

/** Runs a statement that ends in `taken`, and reads what the events tell: in another one where they are on other servers. */
async function take(
  db: Queryable,
  { nodeId, buckets, limit }: Taker,
  { name, text, values }: { readonly name: string; readonly text: string; readonly values: unknown[] },
): Promise<EventRow[]> {
  const all = [nodeId, buckets, limit, ...values]
  if (!isSharded(db))
    return (
      await db.query<EventRow>({
        name,
        text: `with recursive ${text}, ${TAKEN} ${WITH_PAYLOADS}`,
        values: all,
      })
    ).rows
  const { rows } = await db.query<TakenRow>({
    text: `
      with recursive ${text}, ${TAKEN}
      select ${TAKEN_COLUMNS}, t.plan_id as "planId", t.msg_id as "msgId", t.sequence
      from taken t order by t.due_at`,
    values: all,
  })
  try {
    return await withPayloads(db, rows)
  } catch (cause) {
    // So the node looks for them: it holds events that it does not know.
    throw new CommitOutcomeUnknownError('events are taken, and cannot be read', { cause })
  }
}

/** Those of the events that show, with what they tell. The others are due again later. */
async function withPayloads(db: Queryable, taken: readonly TakenRow[]): Promise<EventRow[]> {
  const payloads = await readPayloads(db, taken)
  const unseen = taken.filter((_, index) => payloads[index] === undefined)
  if (unseen.length > 0)
    await requeueEvents(
      db,
      unseen.map((event) => ({ ...event, delayMs: UNSEEN_DELAY_MS, destination: null })),
    )
  return taken.flatMap((event, index) => {
    const payload = payloads[index]
    return payload === undefined ? [] : [{ ...event, ...payload }]
  })
}

/**
 * Whether anything is due that no node holds, or waits for its time. To find that nothing is due costs a tenth of an attempt
 * to take it.
 */
export async function findWaitingEvents(db: Queryable): Promise<{ isDue: boolean; isWaiting: boolean }> {
  const { rows } = await db.query<{ isDue: boolean }>({
    name: 'find_waiting_events',
    text: `
      select due_at <= now() as "isDue" from event_deliveries
      where holder is null and due_at < 'infinity' order by due_at limit 1`,
  })
  return { isDue: rows[0]?.isDue === true, isWaiting: rows.length > 0 }
}

/** Takes due deliveries into memory, from each plan in turn, so that a plan with many due does not hold up the others. */
export async function takeDueEvents(db: Queryable, taker: Taker): Promise<WebhookEvent[]> {
  const rows = await take(db, taker, {
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
    values: [awayPlans(db)],
  })
  return rows.map(eventOf)
}

/** Takes deliveries into memory that are parked for this destination. */
export async function takeParkedEvents(
  db: Queryable,
  taker: Taker,
  endpoint: Endpoint,
): Promise<WebhookEvent[]> {
  const rows = await take(db, taker, {
    name: 'take_parked_events',
    text: `
      due as (
        select plan_id, msg_id, sequence from event_deliveries e
        where plan_id = $4 and destination = $5 and state = 'parked' and coalesce(holder, 0) = 0
          and bucket = any ($2::smallint[]) and ${FIRST_OF_ITS_MESSAGE}
        order by due_at limit $3
      )`,
    values: [endpoint.planId, endpoint.destination],
  })
  return rows.map(eventOf)
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
  const rows = await take(db, taker, {
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
        where d.state = 'open' and d.probe_at <= now() and d.plan_id <> all ($5::integer[])
        limit $3
      ), claimed as (
        update webhook_destinations d set probe_at = now() + $4 * interval '1 ms'
        from found f
        where d.plan_id = f.plan_id and d.destination = f.destination and d.state = 'open' and d.probe_at <= now()
        returning f.plan_id, f.msg_id, f.sequence
      ), due as (
        select plan_id, msg_id, sequence from claimed
      )`,
    values: [intervalMs, awayPlans(db)],
  })
  return rows.map((row) => ({ probe: eventOf(row), destination: row.destination! }))
}

function eventOf(row: EventRow): WebhookEvent {
  const { planId, msgId, sequence, holder, failedAttempts, earlierAttempts } = row
  const key = { planId, msgId, sequence, holder }
  return {
    ...{ ...key, failedAttempts, earlierAttempts, waited: true },
    beganAtMs: row.beganAt.getTime(),
    payload: payloadOf(row),
  }
}
