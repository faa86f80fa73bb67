import type { Status } from '../domain/message-states.ts'
import type { Queryable } from './database.ts'
import { insertAttempts, type SubmitAttempt } from './submissions.ts'

/** A message to be submitted, with everything the submitter needs. */
export interface Dispatch {
  /** Node that has it in memory. */
  readonly holder: number
  readonly planId: number
  readonly msgId: string
  readonly sender: string
  readonly recipient: string
  readonly body: string
  readonly segments: number
  /** Submit attempts so far that count against a limit. */
  readonly attempt: number
  /** Bit n: the carrier has accepted segment n. */
  readonly submittedSegments: bigint
  /** How these were cut; null where there are none. */
  readonly cut: string | null
  /** Parts of it were sent again, cut otherwise. */
  readonly startedOver: boolean
  /** Bit n: segment n is delivered. */
  readonly deliveredSegments: bigint
  /** QUEUED, unless a receipt was quicker than the answer. */
  readonly status: Status
  /** It may have reached the carrier in an earlier attempt. */
  readonly ambiguous: boolean
  /** Carrier of the last attempt: the one that has the submitted segments. */
  readonly carrierId: number | null
  /** The recipient wants nothing more from this sender: never to be submitted. */
  readonly optedOut: boolean
  readonly expiresAt: Date
}

interface DispatchRow extends Omit<Dispatch, 'submittedSegments' | 'deliveredSegments' | 'holder'> {
  readonly submittedSegments: string
  readonly deliveredSegments: string
}

/** What a node may take of a plan. */
export interface PlanWish {
  /** By route: how many there is room for. `room`: for any other route. */
  readonly routes: Readonly<Record<number, number>>
  readonly room: number
  /**
   * Carriers of its routes that are left to other nodes, with what was chosen for them; not given: none. One that is of no
   * route of the plan any more keeps nothing back: its node does not look for messages of the plan.
   */
  readonly elsewhere?: readonly number[]
}

/** Which waiting dispatches a node may take. */
export interface DispatchWish {
  readonly nodeId: number
  /** The buckets it owns. */
  readonly buckets: readonly number[]
  readonly plans: ReadonlyMap<number, PlanWish>
  /** Routes whose messages it would have to hand to another node. */
  readonly closedRoutes: readonly number[]
  /** Carriers it submits to: what was chosen for one of these is taken whatever its route and its bucket. */
  readonly carriers: readonly number[]
  /** Of all plans together. */
  readonly limit: number
}

/** Of each plan and route so many are looked at that a few of them fill the limit. */
const LOOKED_AT = `least(p.room, greatest(10, 4 * $4 / p.pairs))`

/**
 * Plans, routes and chosen carriers that anything waits for, by one probe of the index each, and of them those that are
 * wished for. A chosen carrier keeps its messages back only while another node has it and takes them (PlanWish.elsewhere).
 */
const WANTED = `
  recursive waiting as (
    (select plan_id, route_id, chosen_carrier_id from dispatches
     where holder is null order by plan_id, route_id, chosen_carrier_id limit 1)
    union all
    select n.plan_id, n.route_id, n.chosen_carrier_id
    from waiting w cross join lateral (
      select d.plan_id, d.route_id, d.chosen_carrier_id from dispatches d
      where d.holder is null
        and (d.plan_id, d.route_id, d.chosen_carrier_id) > (w.plan_id, w.route_id, w.chosen_carrier_id)
      order by d.plan_id, d.route_id, d.chosen_carrier_id limit 1) n
  ), wanted as (
    select w.plan_id, w.route_id, w.chosen_carrier_id, h.is_handed, p.room, count(*) over () as pairs
    from waiting w
    cross join lateral (select w.chosen_carrier_id = any ($6::integer[]) as is_handed) h
    cross join lateral (select $3::jsonb -> w.plan_id::text as wish) o
    cross join lateral (
      select coalesce(o.wish->'routes'->w.route_id::text, o.wish->'room')::integer as room) p
    where p.room > 0
      and (h.is_handed or w.route_id <> all ($7::integer[])
                          and not coalesce(o.wish->'elsewhere' @> to_jsonb(w.chosen_carrier_id), false))
  )`

/**
 * Makes the node the holder of those of `due` that nobody holds, and gives them, oldest due first. Whether nobody holds a
 * row is asked again, for another node may have been quicker; as an expression, because `is null` would let the planner
 * walk the index of waiting rows for every row.
 */
const HELD = `
  held as (
    update dispatches d
    set holder = $1, begun = false, ambiguous = d.ambiguous or d.released_from is not null, released_from = null
    from due
    where d.bucket = any (array[due.bucket]) and d.msg_id = due.msg_id and coalesce(d.holder, 0) = 0
    returning d.*
  )
  select h.plan_id as "planId", h.msg_id as "msgId", m.sender, m.recipient, m.body, m.segments, h.attempt,
         h.submitted_segments::text as "submittedSegments", h.cut, h.started_over as "startedOver",
         m.status, m.delivered_segments::text as "deliveredSegments", h.ambiguous, h.carrier_id as "carrierId",
         h.expires_at as "expiresAt", coalesce(o.refuses, false) as "optedOut"
  from held h join messages m on m.plan_id = h.plan_id and m.msg_id = h.msg_id
  left join lateral (
    select true as refuses from service_plans p
    join opt_outs o on o.plan_id = m.plan_id and o.sender = m.sender and o.recipient = m.recipient
    where p.id = m.plan_id and p.opt_out is not null and o.confirmation is distinct from m.msg_id
    limit 1
  ) o on true
  order by h.due_at`

/** Rows of the plans and routes wished for, each plan's oldest first; and some whose validity is over, of any plan. */
const dueText = (which: string) => `
  due as (
    (select bucket, msg_id
     from (
       select t.*, row_number() over (partition by t.plan_id order by t.turn, t.due_at) as plan_turn
       from (
         select d.bucket, d.msg_id, d.due_at, p.plan_id,
                row_number() over (partition by p.plan_id, p.route_id, p.chosen_carrier_id order by d.due_at) as turn
         from wanted p
         cross join lateral (
           select bucket, msg_id, due_at from dispatches
           where holder is null and plan_id = p.plan_id and route_id = p.route_id
             and chosen_carrier_id = p.chosen_carrier_id and due_at <= now() and ${which}
         ) d
       ) t
     ) r
     order by plan_turn, due_at limit $4)
    union
    (select bucket, msg_id from dispatches
     where $5 and holder is null and expires_at <= now() and due_at <= now() and bucket = any ($2::smallint[])
     limit $4)
  )`

const OLDEST = `order by due_at limit ${LOOKED_AT}`

/**
 * Takes waiting dispatches that are due into memory: the node becomes their holder. Those that are wished for, and with
 * `expired` also others of its buckets whose validity is over. Plans have equal shares of the limit, routes of a plan
 * equal shares of its, the oldest due first. What waits for a closed route is never read (300,000 such rows cost each
 * look 200 ms when all were read in one order).
 *
 * A node that owns every bucket takes its rows without a lock. Otherwise rows in the buckets of others are taken too once
 * they have been due for `overdueMs`: their owner cannot submit them, or is behind. Those that were handed to a carrier of
 * this node are taken at once. Rows that somebody is taking just now are passed over then, so no node waits for another.
 */
export async function holdDueDispatches(
  db: Queryable,
  {
    expired,
    overdueMs,
    ...wish
  }: DispatchWish & { readonly expired: boolean; readonly overdueMs: number | null },
): Promise<Dispatch[]> {
  const values = [
    wish.nodeId,
    wish.buckets,
    JSON.stringify(Object.fromEntries(wish.plans)),
    wish.limit,
    expired,
    wish.carriers,
    wish.closedRoutes,
  ]
  const { rows } = await db.query<DispatchRow>(
    overdueMs === null
      ? {
          name: 'hold_due_dispatches',
          text: `with ${WANTED}, ${dueText(`bucket = any ($2::smallint[]) ${OLDEST}`)}, ${HELD}`,
          values,
        }
      : {
          name: 'hold_shared_dispatches',
          text: `with ${WANTED}, ${dueText(`
            (bucket = any ($2::smallint[]) or p.is_handed or due_at <= now() - $8 * interval '1 ms')
            ${OLDEST} for update skip locked`)}, ${HELD}`,
          values: [...values, overdueMs],
        },
  )
  return rows.map((row) => ({
    ...row,
    holder: wish.nodeId,
    submittedSegments: BigInt(row.submittedSegments),
    deliveredSegments: BigInt(row.deliveredSegments),
  }))
}

export interface Postponement {
  readonly msg_id: string
  /** Node that has it in memory: another may have taken it over since. */
  readonly holder: number
  readonly attempt: number
  /** Decimal: 64 bits do not fit a JSON number. */
  readonly submitted_segments: string
  /** How these were cut; null where there are none. */
  readonly cut: string | null
  readonly started_over: boolean
  readonly ambiguous: boolean
  /** Of this attempt; null: none was made. */
  readonly carrier_id: number | null
  /** The route it waits for; null: as before. */
  readonly route_id: number | null
  /** The carrier whose node is to take it up; 0: none. */
  readonly chosen_carrier_id: number
  readonly delay_ms: number
  /** Null where none was made. */
  readonly attempt_made: SubmitAttempt | null
}

/**
 * Gives dispatches back to the database, due again after `delay_ms`. Also those that were released meanwhile because the
 * lease of their holder had ended, as long as nobody has taken them up: their holder knows what became of them.
 */
export async function postponeDispatches(db: Queryable, rows: readonly Postponement[]): Promise<void> {
  await db.query({
    name: 'postpone_dispatches',
    text: `
      with attempted as (
        ${insertAttempts('$2')}
      )
      update dispatches d
      set holder = null, released_from = null, attempt = i.attempt, submitted_segments = i.submitted_segments, cut = i.cut,
          started_over = i.started_over, ambiguous = i.ambiguous,
          carrier_id = coalesce(i.carrier_id, d.carrier_id), route_id = coalesce(i.route_id, d.route_id),
          chosen_carrier_id = i.chosen_carrier_id, due_at = now() + i.delay_ms * interval '1 ms'
      from json_to_recordset($1) as i (
        msg_id uuid, holder integer, attempt smallint, submitted_segments bigint, cut text,
        started_over boolean, ambiguous boolean, carrier_id integer, route_id integer, chosen_carrier_id integer, delay_ms bigint)
      where d.bucket = any (array[get_byte(uuid_send(i.msg_id), 15)]) and d.msg_id = i.msg_id
        and coalesce(d.holder, d.released_from) = i.holder`,
    values: [
      JSON.stringify(rows.map(({ attempt_made: _, ...row }) => row)),
      JSON.stringify(rows.flatMap((row) => row.attempt_made ?? [])),
    ],
  })
}

/** Segments that a carrier accepted after their dispatch was given back, whoever holds it now. */
export interface LateSegments {
  readonly msg_id: string
  readonly cut: string
  /** Decimal; bit n: segment n. */
  readonly segments: string
}

/** Where the message has segments on record that were cut otherwise, those stay the ones it goes on after. */
export async function recordLateSegments(db: Queryable, rows: readonly LateSegments[]): Promise<void> {
  await db.query({
    name: 'record_late_segments',
    text: `
      update dispatches d set submitted_segments = d.submitted_segments | i.segments, cut = i.cut
      from (select msg_id, cut, bit_or(segments) as segments
            from json_to_recordset($1) as i (msg_id uuid, cut text, segments bigint) group by msg_id, cut) i
      where d.bucket = any (array[get_byte(uuid_send(i.msg_id), 15)]) and d.msg_id = i.msg_id
        and (d.submitted_segments = 0 or d.cut = i.cut)`,
    values: [JSON.stringify(rows)],
  })
}

/**
 * After a takeover: what a dead node held may have been sent by it, so it waits before anything is decided, and is ambiguous
 * to whoever takes it up. `nodeId` is the new owner, whose own rows stay, like those of a living node that has given a
 * bucket up. A node that lost its lease and is not dead still says what became of them (`postponeDispatches`,
 * `freeDispatches`).
 */
export async function releaseDispatches(
  db: Queryable,
  args: { nodeId: number; buckets: readonly number[]; waitMs: number },
): Promise<number> {
  const { rowCount } = await db.query({
    text: `
      update dispatches
      set holder = null, released_from = case when begun then holder end,
          due_at = case when begun then now() + $3 * interval '1 ms' else now() end
      where bucket = any ($2::smallint[]) and holder <> $1 and holder not in (select node_id from nodes)`,
    values: [args.nodeId, args.buckets, args.waitMs],
  })
  return rowCount ?? 0
}

/**
 * Notes that the holder is about to send these: from now on they are in doubt when it dies. Gives the ids of those that are
 * its own still; the others must not be sent.
 */
export async function beginDispatches(
  db: Queryable,
  rows: readonly { msg_id: string; holder: number }[],
): Promise<string[]> {
  const { rows: begun } = await db.query<{ msg_id: string }>({
    name: 'begin_dispatches',
    text: `
      update dispatches d set begun = true
      from json_to_recordset($1) as i (msg_id uuid, holder integer)
      where d.bucket = any (array[get_byte(uuid_send(i.msg_id), 15)]) and d.msg_id = i.msg_id and d.holder = i.holder
      returning d.msg_id`,
    values: [JSON.stringify(rows)],
  })
  return begun.map(({ msg_id }) => msg_id)
}

/** Ids of the dispatches that a node is said to have in memory, or to have had when its lease ended. */
export async function listHeldDispatches(db: Queryable, nodeId: number): Promise<string[]> {
  const { rows } = await db.query<{ msg_id: string }>({
    text: `select msg_id from dispatches where holder = $1
           union all
           select msg_id from dispatches where holder is null and released_from = $1`,
    values: [nodeId],
  })
  return rows.map((row) => row.msg_id)
}

/** Frees such dispatches, which the node has not in memory: it never sent them. */
export async function freeDispatches(
  db: Queryable,
  nodeId: number,
  msgIds: readonly string[],
): Promise<void> {
  await db.query({
    text: `
      update dispatches set holder = null, released_from = null, due_at = now()
      where coalesce(holder, released_from) = $1 and msg_id = any ($2::uuid[])
        and bucket = any (select get_byte(uuid_send(id), 15)::smallint from unnest($2::uuid[]) as id)`,
    values: [nodeId, msgIds],
  })
}
