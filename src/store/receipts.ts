import type { RuleInForce } from '../domain/carrier-message-ids.ts'
import type { EventHolder } from '../domain/events.ts'
import type { KeptReceipt } from '../domain/kept-receipts.ts'
import type { ChangedMessage } from '../domain/messages-in-progress.ts'
import type { Charge } from '../domain/rates.ts'
import type { Queryable } from './database.ts'
import { announcedEvents } from './events.ts'
import { CHANGED_COLUMNS } from './submissions.ts'

/** What one receipt says. A batch holds at most one per (carrier, id, addresses). */
export interface ReceiptRow {
  readonly carrier_id: number
  /** Canonical form under the carrier's id rule. */
  readonly carrier_message_id: string
  /** Digits of source_addr and destination_addr, where there are any: the recipient is one of them (some swap them). */
  readonly addresses: readonly string[]
  readonly outcome: 'DELIVERED' | 'FAILED' | 'UNKNOWN'
  readonly error_code: string
  readonly carrier_code: string | null
  readonly mccmnc: string | null
  /** ISO 8601. */
  readonly received_at: string
  /** Set when the receipt comes out of parked_receipts, where it ends if it matches. */
  readonly parked_id: number | null
  /** The carrier's id rule is not learned yet: the id is normalised only, and the receipt is parked as it is. */
  readonly unread: boolean
  /** Its id as the receipt has it, where `carrier_message_id` is another. */
  readonly receipted_id: string | null
  /** Under which rule the id was read into `carrier_message_id`. */
  readonly id_rule: RuleInForce
  /** As it came; null where it was parked before receipts were kept. */
  readonly receipt: KeptReceipt | null
  /** By message: what a segment costs where the receipt says it went, when that is not what it was charged. */
  readonly charges?: Readonly<Record<string, Charge>>
}

/** What both statements below are given. */
export interface ReceiptBatch {
  readonly receipts: readonly ReceiptRow[]
  /** Must differ from batch to batch. */
  readonly changedAt: string
  readonly unknownReversibleMs: number
  readonly events: EventHolder
  /** No submission is newer: partitions of days to come are not looked into. */
  readonly newestMsgId: string
}

const INPUT = `
  select * from rows from (json_to_recordset($1) as (
    carrier_id integer, carrier_message_id text, addresses text[], outcome message_status, error_code text,
    carrier_code text, mccmnc text, received_at timestamptz, parked_id bigint, unread boolean,
    receipted_id text, id_rule text, receipt json, charges jsonb))
  with ordinality as i (carrier_id, carrier_message_id, addresses, outcome, error_code, carrier_code, mccmnc,
                        received_at, parked_id, unread, receipted_id, id_rule, receipt, charges, place)`

/**
 * From `matched` (plan_id, msg_id, cut, bits) to the messages as they are now and their events. Segment outcomes are kept as
 * bits, so a repeated receipt changes nothing. DELIVERED when all segments are, FAILED as soon as one is that was not
 * delivered before, UNKNOWN when all have an outcome and one is unknown; DELIVERED and FAILED are absorbing; UNKNOWN gives
 * way for `unknownReversibleMs`. A QUEUED message of several segments is not DELIVERED yet: how many there are is settled
 * with its submission.
 * With `keptInEvent` the event keeps the receipt: there is one for each message then.
 */
function changes(only: string, keptInEvent: boolean): string {
  return `
    per_message as (
      select plan_id, msg_id, max(cut) as cut, max(mccmnc) as mccmnc, max(addresses[1]) as address,
             max(addresses[2]) as other_address, count(*) as receipts,
             coalesce(bit_or(bits) filter (where outcome = 'DELIVERED'), 0) as delivered,
             coalesce(bit_or(bits) filter (where outcome = 'UNKNOWN'), 0) as unknown,
             coalesce(bit_or(bits) filter (where outcome = 'FAILED'), 0) as failed,
             (array_agg(error_code order by (outcome = 'FAILED') desc))[1] as error_code,
             (array_agg(carrier_code order by (outcome = 'FAILED') desc))[1] as carrier_code,
             (array_agg(charges -> msg_id::text order by mccmnc desc nulls last))[1] as charge,
             ${keptInEvent ? '(array_agg(receipt))[1]' : 'null::json'} as receipt
      from matched where bits is not null
      group by plan_id, msg_id
    ), changed as (
      update messages m
      set (status, event_seq, updated_at, delivered_segments, unknown_segments, mccmnc, error_code, carrier_code) = (
        select n.status,
               m.event_seq + (n.status <> m.status)::integer,
               case when n.status <> m.status then $2::timestamptz else m.updated_at end,
               m.delivered_segments | r.delivered,
               (m.unknown_segments | r.unknown) & ~(m.delivered_segments | r.delivered),
               coalesce(r.mccmnc, m.mccmnc),
               case n.status when m.status then m.error_code when 'DELIVERED' then '000' else r.error_code end,
               coalesce(r.carrier_code, m.carrier_code)
        from (select (1::bigint << m.segments) - 1 as whole, m.delivered_segments | r.delivered as delivered,
                     m.unknown_segments | r.unknown as unknown) b,
             lateral (select case when r.failed & ~m.delivered_segments <> 0 then 'FAILED'
                                  when b.delivered & b.whole = b.whole
                                    then case when m.status = 'QUEUED' and m.segments > 1 then m.status else 'DELIVERED' end
                                  when (b.delivered | b.unknown) & b.whole = b.whole then 'UNKNOWN'
                                  else m.status end as status) n),
          price = coalesce((r.charge ->> 'price')::numeric * m.segments, m.price),
          ptf = coalesce((r.charge ->> 'ptf')::numeric * m.segments, m.ptf),
          currency = coalesce(r.charge ->> 'currency', m.currency)
      from per_message r
      where m.plan_id = r.plan_id and m.msg_id = r.msg_id ${only}
        and (m.status in ('QUEUED', 'SENT')
             or m.status = 'UNKNOWN' and m.updated_at > $2::timestamptz - $3 * interval '1 ms')
      returning m.*, r.receipt
    ), ${announcedEvents({ changedAt: '$2::timestamptz', holder: '$4::integer', buckets: '$5::smallint[]', receipt: 'm.receipt' })}`
}

/**
 * Of the segments that got one id so many are looked at. A carrier that counts to 65,535 gives each 15 times a day to a
 * million messages; one that gives the same to all would have every receipt read them all (0.5 s for 60,000).
 */
const MAX_SUBMISSIONS_OF_ID = 1_000

/**
 * Applies what nearly every receipt is: the only one for a message of one segment, to which the newest submission of its id
 * belongs, still open, with an address of the receipt as its recipient. A receipt without any submission is parked. Gives
 * the messages that changed, and the places in the batch of what is to be looked at closely.
 */
export async function recordPlainReceipts(
  db: Queryable,
  batch: ReceiptBatch,
): Promise<{ changed: ChangedMessage[]; rest: number[] }> {
  const { rows } = await db.query<ChangedMessage & { rest: number[] | null }>({
    name: 'record_plain_receipts',
    text: `
      with input as (${INPUT}
      ), matched as (
        select i.*, s.plan_id, s.msg_id, s.cut, 1::bigint << s.segment as bits
        from input i left join lateral (
          select plan_id, msg_id, segment, cut from submissions
          where carrier_id = i.carrier_id and carrier_message_id = i.carrier_message_id and msg_id <= $6
          order by msg_id desc limit 1
        ) s on true
      ), parked as (
        insert into parked_receipts (carrier_id, carrier_message_id, addresses, outcome, error_code, carrier_code,
                                     mccmnc, received_at, receipted_id, id_rule, receipt)
        select carrier_id, carrier_message_id, addresses, outcome, error_code, carrier_code, mccmnc, received_at,
               receipted_id, id_rule, receipt
        from matched where msg_id is null
      ), ${changes(
        `and m.segments = 1 and r.receipts = 1 and m.cut is not distinct from r.cut
        and (r.address is null or substr(m.recipient, 2) in (r.address, r.other_address))`,
        true,
      )}
      , applied as materialized (
        select coalesce(jsonb_object_agg(msg_id, true), '{}') as ids from changed
        where updated_at = $2::timestamptz
      ), rest as materialized (
        select array_agg(x.place::integer - 1 order by x.place) as places from matched x cross join applied
        where x.msg_id is not null and not applied.ids ? x.msg_id::text
      )
      select ${CHANGED_COLUMNS}, rest.places as rest
      from rest cross join held left join changed m on m.updated_at = $2::timestamptz`,
    values: valuesOf(batch),
  })
  return { changed: rows.filter((row) => row.msgId !== null), rest: rows[0]!.rest ?? [] }
}

/**
 * Applies any receipts, those of parked_receipts too; costs several times as much as recordPlainReceipts.
 *
 * Where the newest message that got the id has ended or went to another recipient, others that got it are looked at, up
 * to a bound (some carriers give an id again): first those of that recipient, then those still open, then the newest. One
 * that went elsewhere is not the receipt's if it has ended, or is one of too many: the receipt is parked for a submission
 * to come.
 *
 * A receipt speaks for every segment that got its id: carriers that give one id to all of them, and message_payload,
 * leave no way to tell one segment's receipts from repetitions of another's. The rows of several segments keep what was
 * said of them, for the operator, and every receipt is kept. Of segments cut otherwise than their message is now nothing else is done. Gives the
 * messages that changed.
 */
export async function recordReceipts(db: Queryable, batch: ReceiptBatch): Promise<ChangedMessage[]> {
  const { rows } = await db.query<ChangedMessage>({
    name: 'record_receipts',
    // `newest` out of sight of the planner: knowing it, it took 17 ms for a new plan each time (90 days of partitions).
    text: `
      with newest as materialized (select $6::uuid as msg_id
      ), input as materialized (${INPUT}
      ), matched as materialized (
        select i.*, t.plan_id, t.msg_id, t.cut, t.segments > 1 as several,
               case when t.segments > 1 or t.cut is not null then (
                 select bit_or(1::bigint << segment) from submissions
                 where carrier_id = i.carrier_id and carrier_message_id = i.carrier_message_id and msg_id = t.msg_id
                   and cut is not distinct from t.cut
               ) else 1::bigint << t.segment end as bits
        from newest cross join input i
        left join lateral (
          select plan_id, msg_id, segment from submissions
          where not i.unread and carrier_id = i.carrier_id and carrier_message_id = i.carrier_message_id
            and msg_id <= newest.msg_id
          order by msg_id desc limit 1
        ) s on true
        left join lateral (
          select segments, cut, status in ('DELIVERED', 'FAILED') as ended,
                 substr(recipient, 2) = any (i.addresses) as fits
          from messages where plan_id = s.plan_id and msg_id = s.msg_id
        ) m on true
        left join lateral (
          select x.plan_id, x.msg_id, x.segment, n.segments, n.cut, n.status in ('DELIVERED', 'FAILED') as ended,
                 substr(n.recipient, 2) = any (i.addresses) as fits,
                 count(*) over () = ${MAX_SUBMISSIONS_OF_ID} as is_one_of_many
          from (
            select plan_id, msg_id, segment from submissions
            where (m.ended or not m.fits) and carrier_id = i.carrier_id
              and carrier_message_id = i.carrier_message_id and msg_id <= newest.msg_id
            order by msg_id desc limit ${MAX_SUBMISSIONS_OF_ID}
          ) x join messages n on n.plan_id = x.plan_id and n.msg_id = x.msg_id
          order by fits desc, ended, x.msg_id desc limit 1
        ) o on true
        left join lateral (
          select coalesce(o.plan_id, s.plan_id) as plan_id, coalesce(o.msg_id, s.msg_id) as msg_id,
                 coalesce(o.segment, s.segment) as segment, coalesce(o.segments, m.segments) as segments,
                 case when o.msg_id is null then m.cut else o.cut end as cut
          where s.msg_id is not null
            and not coalesce((o.ended or o.is_one_of_many) and not o.fits and i.addresses <> '{}', false)
        ) t on true
      ), parked as (
        insert into parked_receipts (carrier_id, carrier_message_id, addresses, outcome, error_code, carrier_code,
                                     mccmnc, received_at, unread, receipted_id, id_rule, receipt)
        select carrier_id, carrier_message_id, addresses, outcome, error_code, carrier_code, mccmnc, received_at, unread,
               receipted_id, id_rule, receipt
        from matched where msg_id is null and parked_id is null
      ), unparked as (
        delete from parked_receipts p using matched x
        where x.parked_id is not null and x.msg_id is not null
          and p.carrier_id = x.carrier_id and p.carrier_message_id = x.carrier_message_id and p.id = x.parked_id
      ), kept as (
        update submissions s
        set outcome = x.outcome, error_code = x.error_code, carrier_code = x.carrier_code, receipt_at = x.received_at
        from matched x
        where x.several and s.carrier_id = x.carrier_id and s.carrier_message_id = x.carrier_message_id
          and s.msg_id = x.msg_id and (s.outcome is null or s.outcome = 'UNKNOWN' and x.outcome <> 'UNKNOWN')
      ), noted as (
        insert into receipts (msg_id, carrier_message_id, received_at, carrier_id, outcome, error_code, receipt)
        select msg_id, carrier_message_id, received_at, carrier_id, outcome, error_code, receipt
        -- Not of a message that is no longer kept: its submissions may live longer, and its day has no partition here.
        from matched where msg_id is not null and several is not null
        on conflict do nothing
      ), ${changes('', false)}
      select ${CHANGED_COLUMNS} from changed m cross join held where m.updated_at = $2::timestamptz`,
    values: valuesOf(batch),
  })
  return rows
}

function valuesOf({
  receipts,
  changedAt,
  unknownReversibleMs,
  events,
  newestMsgId,
}: ReceiptBatch): unknown[] {
  const { holder, buckets } = events
  return [JSON.stringify(receipts), changedAt, unknownReversibleMs, holder, buckets, newestMsgId]
}

/** A receipt that changes nothing: an intermediate one, or a repetition. */
export type NotedReceipt = Pick<
  ReceiptRow,
  'carrier_id' | 'carrier_message_id' | 'error_code' | 'received_at' | 'receipt'
> & { readonly outcome: ReceiptRow['outcome'] | 'SENT' }

/** Keeps receipts for the story of their messages. One whose message is not known, or no longer kept, is not. */
export async function noteReceipts(
  db: Queryable,
  receipts: readonly NotedReceipt[],
  newestMsgId: string,
): Promise<void> {
  await db.query({
    name: 'note_receipts',
    text: `
      insert into receipts (msg_id, carrier_message_id, received_at, carrier_id, outcome, error_code, receipt)
      select s.msg_id, i.carrier_message_id, i.received_at, i.carrier_id, i.outcome, i.error_code, i.receipt
      from json_to_recordset($1) as i (
        carrier_id integer, carrier_message_id text, outcome message_status, error_code text, received_at timestamptz,
        receipt json)
      cross join lateral (
        select plan_id, msg_id from submissions
        where carrier_id = i.carrier_id and carrier_message_id = i.carrier_message_id and msg_id <= $2
        order by msg_id desc limit 1
      ) s
      cross join lateral (select from messages where plan_id = s.plan_id and msg_id = s.msg_id limit 1) m
      on conflict do nothing`,
    values: [JSON.stringify(receipts), newestMsgId],
  })
}
