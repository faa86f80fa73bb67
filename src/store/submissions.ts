import type { EventHolder } from '../domain/events.ts'
import type { Status } from '../domain/message-states.ts'
import type { ChangedMessage } from '../domain/messages-in-progress.ts'
import type { Queryable } from './database.ts'
import { announcedEvents } from './events.ts'
import { MESSAGE_COLUMNS } from './messages.ts'

/** The end of a message's submission: SENT, FAILED, or UNKNOWN where it must not be repeated. */
export interface Settlement {
  readonly plan_id: number
  readonly msg_id: string
  readonly status: Exclude<Status, 'QUEUED' | 'DELIVERED'>
  readonly carrier_id: number | null
  readonly error_code: string
  readonly carrier_code: string | null
  readonly route_id: number | null
  /** Why this carrier, for people. */
  readonly route_reason: string | null
  /** As it went out; null: as it was counted when it was accepted. */
  readonly segments: number | null
  /** How it was cut, where it started over. Counts where `segments` are given. */
  readonly cut: string | null
  readonly mccmnc: string | null
  /** Exact decimals; null where nothing is charged, or no rate fits. */
  readonly price: string | null
  readonly ptf: string | null
  readonly currency: string | null
  /** Null for a first attempt that was accepted. */
  readonly attempt: SubmitAttempt | null
}

/** One attempt to submit a message, as its timeline shows it. */
export interface SubmitAttempt {
  readonly msg_id: string
  /** ISO 8601. */
  readonly attempted_at: string
  readonly carrier_id: number
  readonly outcome: 'accepted' | 'refused' | 'retry' | 'no-answer'
  readonly command_status: number | null
  /** An earlier attempt may have reached the carrier. */
  readonly resubmission: boolean
  readonly reason: string | null
}

/** Part of a statement: keeps the attempts of a JSON parameter. */
function insertAttempts(parameter: string): string {
  return `insert into submit_attempts (msg_id, attempted_at, carrier_id, outcome, command_status, resubmission, reason)
    select * from json_to_recordset(${parameter}) as a (
      msg_id uuid, attempted_at timestamptz, carrier_id integer, outcome attempt_outcome, command_status bigint,
      resubmission boolean, reason text)
    on conflict do nothing`
}

/** What a receipt names. */
export interface SubmissionId {
  readonly carrier_id: number
  readonly carrier_message_id: string
}

/** A segment the carrier accepted, under the id its receipt will name. */
export interface Submission extends SubmissionId {
  readonly msg_id: string
  readonly plan_id: number
  readonly segment: number
  /** How its message was cut, where that had started over. */
  readonly cut: string | null
}

/** A message that starts over: a carrier has accepted a part of it that is cut otherwise than parts before. */
export interface NewCut {
  readonly plan_id: number
  readonly msg_id: string
  readonly cut: string
}

/** The columns of a ChangedMessage: `m` is the message, `held.ids` has the ids of the events that are held. */
const CHANGED_COLUMNS = `${MESSAGE_COLUMNS}, m.event_seq as seq, m.carrier_id as "carrierId",
  m.route_id as "routeId", held.ids ? m.msg_id::text as held,
  held.ids ->> m.msg_id::text is not distinct from 'true' as behind`

/**
 * Records a batch of submissions: the accepted segments, the new status of each settled message with the event that
 * announces it, and the end of its dispatch. `changedAt` must differ from batch to batch. A message that has moved on
 * already (a receipt of its first segment came while later ones were under way) gets what only its settlement knows, and
 * keeps its status. One whose receipts all came before its segments were counted anew is DELIVERED at once. A price that a
 * receipt brought stays, for the segments as they are counted now; it goes where the submission makes the message FAILED.
 * Gives the messages whose status changed.
 */
export async function recordSubmissions(
  db: Queryable,
  args: {
    settlements: readonly Settlement[]
    submissions: readonly Submission[]
    changedAt: string
    events: EventHolder
  },
): Promise<ChangedMessage[]> {
  const { rows } = await db.query<ChangedMessage>({
    name: 'record_submissions',
    text: `
      with input as (
        select * from json_to_recordset($1) as i (
          plan_id integer, msg_id uuid, status message_status, carrier_id integer, error_code text, carrier_code text,
          route_id integer, route_reason text, segments smallint, cut text, mccmnc text, price numeric, ptf numeric,
          currency text)
      ), accepted as (
        insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, segment, cut)
        select * from json_to_recordset($2) as s (
          carrier_id integer, carrier_message_id text, msg_id uuid, plan_id integer, segment smallint, cut text)
        on conflict do nothing
      ), attempted as (
        ${insertAttempts('$6')}
      ), ended as (
        delete from dispatches d using input i
        where d.bucket = any (array[get_byte(uuid_send(i.msg_id), 15)]) and d.msg_id = i.msg_id
      ), changed as (
        update messages m
        set (status, event_seq, updated_at, error_code, carrier_code) = (
              select n.status, m.event_seq + 1, $3::timestamptz,
                     case n.status when 'DELIVERED' then '000' else i.error_code end,
                     coalesce(i.carrier_code, m.carrier_code)
              from (select case when i.status <> 'FAILED' and m.delivered_segments & w.whole = w.whole
                                     and (i.segments is null or i.cut is not distinct from m.cut) then 'DELIVERED'
                                else i.status end as status
                    from (select (1::bigint << coalesce(i.segments, m.segments)) - 1 as whole) w) n
              where m.status = 'QUEUED'
              union all
              select m.status, m.event_seq, m.updated_at, m.error_code, m.carrier_code where m.status <> 'QUEUED'),
            carrier_id = coalesce(i.carrier_id, m.carrier_id),
            sent_at = case when i.status = 'SENT' then $3::timestamptz end, route_id = i.route_id,
            route_reason = i.route_reason, segments = coalesce(i.segments, m.segments),
            (cut, delivered_segments, unknown_segments) = (
              select m.cut, m.delivered_segments, m.unknown_segments
              where i.segments is null or i.cut is not distinct from m.cut
              union all
              select i.cut, 0, 0 where i.segments is not null and i.cut is distinct from m.cut),
            mccmnc = coalesce(m.mccmnc, i.mccmnc),
            (price, ptf, currency) = (
              select i.price, i.ptf, i.currency
              where m.price is null or i.status = 'FAILED' and m.status = 'QUEUED'
              union all
              select m.price * coalesce(i.segments, m.segments) / m.segments,
                     m.ptf * coalesce(i.segments, m.segments) / m.segments, m.currency
              where m.price is not null and not (i.status = 'FAILED' and m.status = 'QUEUED'))
        from input i
        -- What a lane has in progress changes there.
        where m.plan_id = i.plan_id and m.msg_id = i.msg_id and m.lane is null
          and (m.status = 'QUEUED' or m.carrier_id is null and (i.carrier_id is not null or i.status = 'SENT'))
        returning m.*
      ), ${announcedEvents({ changedAt: '$3::timestamptz', holder: '$4::integer', buckets: '$5::smallint[]' })}
      select ${CHANGED_COLUMNS} from changed m cross join held
      where m.updated_at = $3::timestamptz`,
    values: [
      JSON.stringify(args.settlements.map(({ attempt: _, ...settlement }) => settlement)),
      JSON.stringify(args.submissions),
      args.changedAt,
      args.events.holder,
      args.events.buckets,
      JSON.stringify(args.settlements.flatMap(({ attempt }) => attempt ?? [])),
    ],
  })
  return rows
}

/** From now on only segments that are cut so count. Goes before the first of them is recorded; again it changes nothing. */
export async function startOver(db: Queryable, rows: readonly NewCut[]): Promise<void> {
  await db.query({
    name: 'start_over',
    text: `
      update messages m set cut = i.cut, delivered_segments = 0, unknown_segments = 0
      from (select distinct * from json_to_recordset($1) as i (plan_id integer, msg_id uuid, cut text)) i
      where m.plan_id = i.plan_id and m.msg_id = i.msg_id and m.status in ('QUEUED', 'UNKNOWN')
        and m.cut is distinct from i.cut and m.lane is null`,
    values: [JSON.stringify(rows)],
  })
}
