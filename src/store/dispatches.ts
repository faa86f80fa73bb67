import type { Queryable } from './database.ts'
import type { SubmitAttempt } from './submissions.ts'

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
  /** It may have reached the carrier in an earlier attempt. */
  readonly ambiguous: boolean
  /** Carrier of the last attempt: the one that has the submitted segments. */
  readonly carrierId: number | null
  /** The recipient wants nothing more from this sender: never to be submitted. */
  readonly optedOut: boolean
  readonly expiresAt: Date
}

interface DispatchRow extends Omit<Dispatch, 'submittedSegments' | 'holder'> {
  readonly submittedSegments: string
}

/**
 * Takes waiting dispatches that are due into memory: the node becomes their holder. Only the owner of a bucket asks for
 * its rows, so nothing is locked or skipped. Those of `planIds`, and with `expired` also those of other plans whose
 * validity is over. At most `limit` of each, oldest due first. Plans are looked at one by one: what waits for a carrier
 * that is down is never read (300,000 such rows cost each look 200 ms when all were read in one order).
 *
 * The update asks again whether nobody holds the row, for the node that has given the bucket up may have been quicker; as an
 * expression, because `is null` would let the planner walk the index of waiting rows for every row.
 */
export async function holdDueDispatches(
  db: Queryable,
  args: {
    nodeId: number
    buckets: readonly number[]
    planIds: readonly number[]
    expired: boolean
    limit: number
  },
): Promise<Dispatch[]> {
  const { rows } = await db.query<DispatchRow>({
    name: 'hold_due_dispatches',
    text: `
      with recursive waiting as (
        (select plan_id from dispatches where holder is null order by plan_id limit 1)
        union all
        select (select d.plan_id from dispatches d where d.holder is null and d.plan_id > w.plan_id
                order by d.plan_id limit 1)
        from waiting w where w.plan_id is not null
      ), due as (
        (select d.bucket, d.msg_id
         from (select plan_id from waiting where plan_id = any ($3::integer[])) p
         cross join lateral (
           select bucket, msg_id, due_at from dispatches
           where holder is null and plan_id = p.plan_id and due_at <= now() and bucket = any ($2::smallint[])
           order by due_at limit $5
         ) d
         order by d.due_at limit $5)
        union
        (select bucket, msg_id from dispatches
         where $4 and holder is null and expires_at <= now() and due_at <= now() and bucket = any ($2::smallint[])
         limit $5)
      ), held as (
        update dispatches d set holder = $1 from due
        where d.bucket = due.bucket and d.msg_id = due.msg_id and coalesce(d.holder, 0) = 0
        returning d.*
      )
      select h.plan_id as "planId", h.msg_id as "msgId", m.sender, m.recipient, m.body, m.segments, h.attempt,
             h.submitted_segments::text as "submittedSegments", h.ambiguous, h.carrier_id as "carrierId",
             h.expires_at as "expiresAt", coalesce(o.refuses, false) as "optedOut"
      from held h join messages m on m.plan_id = h.plan_id and m.msg_id = h.msg_id
      left join lateral (
        select true as refuses from service_plans p
        join opt_outs o on o.plan_id = m.plan_id and o.sender = m.sender and o.recipient = m.recipient
        where p.id = m.plan_id and p.opt_out is not null and o.confirmation is distinct from m.msg_id
        limit 1
      ) o on true
      order by h.due_at`,
    values: [args.nodeId, args.buckets, args.planIds, args.expired, args.limit],
  })
  return rows.map((row) => ({
    ...row,
    holder: args.nodeId,
    submittedSegments: BigInt(row.submittedSegments),
  }))
}

export interface Postponement {
  readonly msg_id: string
  /** Whose it is to postpone: another node may have taken it over since. */
  readonly holder: number
  readonly attempt: number
  /** Decimal: 64 bits do not fit a JSON number. */
  readonly submitted_segments: string
  readonly ambiguous: boolean
  /** Of this attempt; null: none was made. */
  readonly carrier_id: number | null
  readonly delay_ms: number
  /** Null where none was made. */
  readonly attempt_made: SubmitAttempt | null
}

/** Gives dispatches back to the database, due again after `delay_ms`. */
export async function postponeDispatches(db: Queryable, rows: readonly Postponement[]): Promise<void> {
  await db.query({
    name: 'postpone_dispatches',
    text: `
      with attempted as (
        insert into submit_attempts (msg_id, attempted_at, carrier_id, outcome, command_status, resubmission, reason)
        select * from json_to_recordset($2) as a (
          msg_id uuid, attempted_at timestamptz, carrier_id integer, outcome attempt_outcome, command_status bigint,
          resubmission boolean, reason text)
        on conflict do nothing
      )
      update dispatches d
      set holder = null, attempt = i.attempt, submitted_segments = i.submitted_segments, ambiguous = i.ambiguous,
          carrier_id = coalesce(i.carrier_id, d.carrier_id), due_at = now() + i.delay_ms * interval '1 ms'
      from json_to_recordset($1) as i (
        msg_id uuid, holder integer, attempt smallint, submitted_segments bigint, ambiguous boolean, carrier_id integer,
        delay_ms bigint)
      where d.bucket = get_byte(uuid_send(i.msg_id), 15) and d.msg_id = i.msg_id and d.holder = i.holder`,
    values: [
      JSON.stringify(rows.map(({ attempt_made: _, ...row }) => row)),
      JSON.stringify(rows.flatMap((row) => row.attempt_made ?? [])),
    ],
  })
}

/**
 * After a takeover: what a dead node held may have been sent by it, so it waits before anything is decided. `nodeId` is
 * the new owner, whose own rows stay, like those of a living node that has given a bucket up.
 */
export async function releaseDispatches(
  db: Queryable,
  args: { nodeId: number; buckets: readonly number[]; waitMs: number },
): Promise<number> {
  const { rowCount } = await db.query({
    text: `
      update dispatches set holder = null, ambiguous = true, due_at = now() + $3 * interval '1 ms'
      where bucket = any ($2::smallint[]) and holder <> $1 and holder not in (select node_id from nodes)`,
    values: [args.nodeId, args.buckets, args.waitMs],
  })
  return rowCount ?? 0
}

/** Ids of the dispatches that a node is said to have in memory. */
export async function listHeldDispatches(db: Queryable, nodeId: number): Promise<string[]> {
  const { rows } = await db.query<{ msg_id: string }>({
    text: 'select msg_id from dispatches where holder = $1',
    values: [nodeId],
  })
  return rows.map((row) => row.msg_id)
}

/** Frees dispatches that this node holds by the table but has not in memory: it never sent them. */
export async function freeDispatches(
  db: Queryable,
  nodeId: number,
  msgIds: readonly string[],
): Promise<void> {
  await db.query({
    text: `
      update dispatches set holder = null, due_at = now()
      where holder = $1 and msg_id = any ($2::uuid[])
        and bucket = any (select get_byte(uuid_send(id), 15)::smallint from unnest($2::uuid[]) as id)`,
    values: [nodeId, msgIds],
  })
}
