import { awayPlans, byPlan, byServer, isSharded } from './citus.ts'
import { type Database, type Queryable, withTransaction } from './database.ts'
import {
  DISPATCH_COLUMNS,
  type LoadedMessage,
  loadedOf,
  RECORD_COLUMNS,
  type RecordRow,
} from './messages-at-rest.ts'

/** How much a node may take of a plan. */
export interface PlanRequest {
  /** Most messages by route. `room`: for any other route. */
  readonly routes: Readonly<Record<number, number>>
  readonly room: number
  /**
   * Carriers of its routes that are left to other nodes, together with the messages handed to them; absent: none. A
   * carrier that is in no route of the plan any more keeps nothing back, because its node does not look for messages of
   * the plan.
   */
  readonly elsewhere?: readonly number[]
}

/** Which waiting dispatches a node may take. */
export interface TakeRequest {
  /** The buckets it owns. */
  readonly buckets: readonly number[]
  readonly plans: ReadonlyMap<number, PlanRequest>
  /** Routes whose messages the node would have to hand to another node. */
  readonly closedRoutes: readonly number[]
  /** Carriers it submits to: messages handed to one of these are taken whatever their route and bucket. */
  readonly carriers: readonly number[]
  /** For all plans together. */
  readonly limit: number
  /** Also take others of its buckets whose validity is over, of any plan. */
  readonly expired: boolean
  /** For this long, the buckets of other nodes are left to them. */
  readonly overdueMs: number
}

/** A waiting dispatch, and its message. */
export interface DispatchKey {
  readonly bucket: number
  readonly planId: number
  readonly msgId: string
}

/** The plans of which anything waits, due or not, by one probe of the index each. */
export async function findWaitingPlans(db: Queryable): Promise<number[]> {
  const { rows } = await db.query<{ planId: number }>({
    name: 'find_waiting_plans',
    text: `
      with recursive waiting as (
        (select plan_id from dispatches order by plan_id limit 1)
        union all
        select (select d.plan_id from dispatches d where d.plan_id > w.plan_id order by d.plan_id limit 1)
        from waiting w where w.plan_id is not null
      )
      select plan_id as "planId" from waiting where plan_id is not null`,
  })
  return rows.map(({ planId }) => planId)
}

/**
 * Locks the messages of dispatches that are due. Plans have equal shares of the limit, and the routes of a plan equal
 * shares of the plan's, oldest due first. Messages that wait for a closed route are never read (300,000 such rows cost
 * each look 200 ms when all were read in one order).
 *
 * Rows in the buckets of other nodes are also chosen once they have been due for `overdueMs`: their owner cannot submit
 * them, or is behind. Messages that were handed to a carrier of this node are chosen at once. Messages that another
 * transaction is taking or changing are passed over, so no node waits for another.
 *
 * Where messages are on several servers, the dispatches are locked instead, which are not.
 */
export async function lockDueDispatches(tx: Queryable, request: TakeRequest): Promise<DispatchKey[]> {
  if (!isSharded(tx)) return await findDue(tx, request, true)
  const { rows } = await tx.query<DispatchKey>({
    text: `
      select d.bucket, d.plan_id as "planId", d.msg_id as "msgId"
      from json_to_recordset($1) as i (bucket smallint, "msgId" uuid)
      join dispatches d on d.bucket = any (array[i.bucket]) and d.msg_id = i."msgId"
      for update of d skip locked`,
    values: [JSON.stringify(await findDue(tx, request, false))],
  })
  return rows
}

const LOCK_DUE = `
  select due.bucket, m.plan_id as "planId", m.msg_id as "msgId"
  from due join messages m on m.plan_id = any (array[due.plan_id]) and m.msg_id = due.msg_id
  where m.lane is null for no key update of m skip locked`

/** `lock`: their messages, which is the same statement where they are on one server. */
async function findDue(tx: Queryable, request: TakeRequest, lock: boolean): Promise<DispatchKey[]> {
  const { rows } = await tx.query<DispatchKey>({
    name: 'lock_due_dispatches',
    // `waiting`: plans, routes and chosen carriers for which anything waits, by one probe of the index each. `wanted`:
    // those of them in the request; a chosen carrier keeps its messages back only while another node has it and takes them
    // (PlanRequest.elsewhere). `due`: their rows, each plan's oldest first, enough of each that a few plans fill the limit;
    // and some whose validity is over, of any plan. Everyone who changes a message at rest locks the message before its
    // dispatch. Keys: docs/adr/0006. No CTE of this statement changes messages: see lockRecords.
    text: `
      with recursive waiting as (
        (select plan_id, route_id, chosen_carrier_id from dispatches
         order by plan_id, route_id, chosen_carrier_id limit 1)
        union all
        select n.plan_id, n.route_id, n.chosen_carrier_id
        from waiting w cross join lateral (
          select d.plan_id, d.route_id, d.chosen_carrier_id from dispatches d
          where (d.plan_id, d.route_id, d.chosen_carrier_id) > (w.plan_id, w.route_id, w.chosen_carrier_id)
          order by d.plan_id, d.route_id, d.chosen_carrier_id limit 1) n
      ), wanted as (
        select w.plan_id, w.route_id, w.chosen_carrier_id, h.is_handed, p.room, count(*) over () as pairs
        from waiting w
        cross join lateral (select w.chosen_carrier_id = any ($5::integer[]) as is_handed) h
        cross join lateral (select $2::jsonb -> w.plan_id::text as request) o
        cross join lateral (
          select coalesce(o.request->'routes'->w.route_id::text, o.request->'room')::integer as room) p
        where p.room > 0 and w.plan_id <> all ($8::integer[])
          and (h.is_handed or w.route_id <> all ($6::integer[])
                              and not coalesce(o.request->'elsewhere' @> to_jsonb(w.chosen_carrier_id), false))
      ), due as (
        (select bucket, msg_id, plan_id
         from (
           select t.*, row_number() over (partition by t.plan_id order by t.turn, t.due_at) as plan_turn
           from (
             select d.bucket, d.msg_id, d.due_at, p.plan_id,
                    row_number() over (partition by p.plan_id, p.route_id, p.chosen_carrier_id order by d.due_at) as turn
             from wanted p
             cross join lateral (
               select bucket, msg_id, due_at from dispatches
               where plan_id = p.plan_id and route_id = p.route_id and chosen_carrier_id = p.chosen_carrier_id
                 and due_at <= now()
                 and (bucket = any ($1::smallint[]) or p.is_handed or due_at <= now() - $7 * interval '1 ms')
               order by due_at limit least(p.room, greatest(10, 4 * $3 / p.pairs))
             ) d
           ) t
         ) r
         order by plan_turn, due_at limit $3)
        union
        (select bucket, msg_id, plan_id from dispatches
         where $4 and expires_at <= now() and due_at <= now() and bucket = any ($1::smallint[])
           and plan_id <> all ($8::integer[])
         limit $3)
      )
      ${lock ? LOCK_DUE : 'select bucket, plan_id as "planId", msg_id as "msgId" from due'}`,
    values: [
      request.buckets,
      JSON.stringify(Object.fromEntries(request.plans)),
      request.limit,
      request.expired,
      request.carriers,
      request.closedRoutes,
      request.overdueMs,
      awayPlans(tx),
    ],
  })
  return rows
}

/**
 * Takes dispatches that `lockDueDispatches` has locked into `lane`, oldest due first. From the COMMIT of `tx` on, their messages
 * are in progress there; `tx` must append them to the lane. Those of which the message is locked by others may be left out.
 */
export async function takeDispatches(
  db: Database,
  tx: Queryable,
  lane: number,
  dispatches: readonly DispatchKey[],
): Promise<LoadedMessage[]> {
  const taken = isSharded(db)
    ? await takeClaimed(tx, await claimMessages(db, lane, dispatches))
    : await takeOf(tx, lane, dispatches)
  return taken.map((row) => loadedOf(row, row.optedOut))
}

type TakenRow = RecordRow & { readonly optedOut: boolean }

async function takeOf(tx: Queryable, lane: number, dispatches: readonly DispatchKey[]): Promise<TakenRow[]> {
  const { rows } = await tx.query<TakenRow>({
    name: 'take_dispatches',
    text: `
      with taken as (
        delete from dispatches d using json_to_recordset($2) as i (bucket smallint, "msgId" uuid)
        where d.bucket = any (array[i.bucket]) and d.msg_id = i."msgId"
        returning d.plan_id, d.msg_id, d.due_at, ${DISPATCH_COLUMNS} as dispatch
      ), loaded as (
        update messages m set lane = $1 from taken d
        where m.plan_id = any (array[d.plan_id]) and m.msg_id = d.msg_id
        returning m.*, d.due_at, d.dispatch
      )
      select ${RECORD_COLUMNS}, m.event_sequence > 0 as "hasWaitingEvents", m.dispatch,
             coalesce(o.refuses, false) as "optedOut"
      from loaded m ${OPTED_OUT}
      order by m.due_at`,
    values: [lane, JSON.stringify(dispatches)],
  })
  return rows
}

const OPTED_OUT = `
      left join lateral (
        select true as refuses from service_plans p
        join opt_outs o on o.plan_id = m.plan_id and o.sender = m.sender and o.recipient = m.recipient
        where p.id = m.plan_id and p.opt_out is not null and o.confirmation is distinct from m.msg_id
        limit 1
      ) o on true`

interface ClaimedRow extends RecordRow {
  readonly bucket: number
}

/**
 * Where messages are on several servers: names the lane in them, on each server in a transaction of its own, so that the entry of
 * the journal waits for none of these servers. Whoever has locked a message's dispatch may claim it, even if it names another
 * lane: a claim means nothing until the dispatch is deleted, and one that was given up is claimed anew.
 */
async function claimMessages(
  db: Database,
  lane: number,
  dispatches: readonly DispatchKey[],
): Promise<ClaimedRow[]> {
  const parts = await byServer(db, dispatches, ({ planId }) => planId)
  // The dispatches must stay locked until the last claim is over.
  const claims = await Promise.allSettled(
    parts.map((part) => withTransaction(db, (tx) => claimOnServer(tx, lane, part))),
  )
  return claims.flatMap((claim) => {
    if (claim.status === 'rejected') throw claim.reason
    return claim.value
  })
}

async function claimOnServer(
  tx: Queryable,
  lane: number,
  dispatches: readonly DispatchKey[],
): Promise<ClaimedRow[]> {
  const claimed: ClaimedRow[] = []
  for (const { planId, items } of byPlan(tx, dispatches, (dispatch) => dispatch.planId)) {
    const { rows } = await tx.query<ClaimedRow>({
      // Whoever changes a message at rest locks it before its dispatch, so this may not wait for a message.
      text: `
        with free as (
          select m.msg_id, i.bucket from json_to_recordset($3) as i (bucket smallint, "msgId" uuid)
          join messages m on m.plan_id = $2 and m.msg_id = i."msgId" for no key update of m skip locked
        ), claimed as (
          update messages m set lane = $1 from free where m.plan_id = $2 and m.msg_id = free.msg_id
          returning m.*, free.bucket
        )
        select ${RECORD_COLUMNS}, m.event_sequence > 0 as "hasWaitingEvents", m.bucket from claimed m`,
      values: [lane, planId, JSON.stringify(items)],
    })
    claimed.push(...rows)
  }
  return claimed
}

/** Deletes the dispatches of messages that are claimed. */
async function takeClaimed(tx: Queryable, claimed: readonly ClaimedRow[]): Promise<TakenRow[]> {
  const { rows } = await tx.query<Pick<TakenRow, 'msgId' | 'dispatch' | 'optedOut'>>({
    text: `
      with taken as (
        delete from dispatches d
        using json_to_recordset($1) as i (bucket smallint, "msgId" uuid, sender text, recipient text)
        where d.bucket = any (array[i.bucket]) and d.msg_id = i."msgId"
        returning d.plan_id, d.msg_id, d.due_at, i.sender, i.recipient, ${DISPATCH_COLUMNS} as dispatch
      )
      select m.msg_id as "msgId", m.dispatch, coalesce(o.refuses, false) as "optedOut"
      from taken m ${OPTED_OUT}
      order by m.due_at`,
    values: [
      JSON.stringify(
        claimed.map(({ bucket, msgId, sender, recipient }) => ({ bucket, msgId, sender, recipient })),
      ),
    ],
  })
  const records = new Map(claimed.map((record) => [record.msgId, record]))
  return rows.map((row) => ({ ...records.get(row.msgId)!, ...row }))
}
