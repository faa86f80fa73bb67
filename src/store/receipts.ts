import type { RuleInForce } from '../domain/carrier-message-ids.ts'
import type { KeptReceipt } from '../domain/kept-receipts.ts'
import type { MessageInProgress } from '../domain/messages-in-progress.ts'
import type { Queryable } from './database.ts'
import { messageOfRow, RECORD_COLUMNS, type RecordRow } from './messages-at-rest.ts'

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
}

/** A receipt that changes nothing: an intermediate one, or a repetition. */
export type NotedReceipt = Pick<
  ReceiptRow,
  'carrier_id' | 'carrier_message_id' | 'error_code' | 'received_at' | 'receipt'
> & { readonly outcome: ReceiptRow['outcome'] | 'SENT' }

/** What a receipt is matched by. */
export interface ReceiptKey {
  /** In the batch. */
  readonly place: number
  readonly carrier_id: number
  readonly carrier_message_id: string
  /** Null: its message may have gone to any. */
  readonly addresses: readonly string[] | null
  /** It changes nothing: the newest message is its, also when that has ended. */
  readonly noted: boolean
}

/** The message that a receipt is of. */
export interface ReceiptMatch {
  readonly msgId: string
  /** The lane that has it in progress; null: it is at rest. */
  readonly lane: number | null
  /** As its record has it, but for what is still to be submitted; null: it is no longer kept. Receipts of one share it. */
  readonly message: MessageInProgress | null
  /** Its segments that got the receipt's id. */
  readonly segments: readonly { readonly segment: number; readonly cut: string | null }[]
}

interface MatchRow extends Omit<RecordRow, 'msgId'> {
  readonly place: number
  readonly matchedId: string
  readonly msgId: string | null
  readonly segment: number
  readonly segmentCut: string | null
  readonly several?: ReceiptMatch['segments'] | null
}

/**
 * Of the segments that got one id so many are looked at. A carrier that counts to 65,535 gives each 15 times a day to a
 * million messages; one that gives the same to all would have every receipt read them all (0.5 s for 60,000).
 */
const MAX_SUBMISSIONS_OF_ID = 1_000

/**
 * Finds what nearly every receipt is of, and locks it, in the order of keys, until the transaction ends; by the receipt's
 * place in the batch. That is the message that the newest submission of the id belongs to: of one segment, open, to an
 * address of the receipt. `rest`: what has a submission and is to be looked at closely (docs/adr/0011).
 *
 * @param newestMsgId no submission is newer: partitions of days to come are not looked into
 */
export async function matchReceipts(
  tx: Queryable,
  receipts: readonly ReceiptKey[],
  newestMsgId: string,
): Promise<{ readonly matches: Map<number, ReceiptMatch>; readonly rest: ReadonlySet<number> }> {
  const { rows } = await tx.query<MatchRow>({
    name: 'match_receipts',
    // `newest` out of sight of the planner: knowing it, it took 17 ms for a new plan each time (90 days of partitions).
    text: `
      with newest as materialized (select $2::uuid as msg_id
      ), matched as materialized (
        select i.place, i.addresses, s.*
        from newest cross join json_to_recordset($1) as i (
          place integer, carrier_id integer, carrier_message_id text, addresses text[])
        cross join lateral (
          select plan_id, msg_id, segment, cut from submissions
          where carrier_id = i.carrier_id and carrier_message_id = i.carrier_message_id and msg_id <= newest.msg_id
          order by msg_id desc limit 1
        ) s
      )
      select x.place, x.msg_id as "matchedId", x.segment, x.cut as "segmentCut", m.*
      from (select * from matched order by plan_id, msg_id) x
      left join lateral (
        select ${RECORD_COLUMNS} from messages m
        where m.plan_id = x.plan_id and m.msg_id = x.msg_id and m.segments = 1 and m.cut is null
          and m.status in ('QUEUED', 'SENT', 'UNKNOWN')
          and (x.addresses = '{}' or substr(m.recipient, 2) = any (x.addresses))
        for no key update
      ) m on true`,
    values: [JSON.stringify(receipts), newestMsgId],
  })
  const plain = rows.filter(({ msgId }) => msgId !== null)
  const rest = rows.filter(({ msgId }) => msgId === null).map(({ place }) => place)
  return { matches: matchesOf(plain), rest: new Set(rest) }
}

/**
 * Finds the messages of any receipts and locks them; costs several times as much as `matchReceipts`.
 *
 * Where the newest message that got the id has ended or went to another recipient, others that got it are looked at, up
 * to a bound (some carriers give an id again): first those of that recipient, then those still open, then the newest. One
 * that went elsewhere is not the receipt's if it has ended, or is one of too many.
 *
 * A receipt speaks for every segment that got its id: carriers that give one id to all of them, and message_payload,
 * leave no way to tell one segment's receipts from repetitions of another's.
 */
export async function matchClosely(
  tx: Queryable,
  receipts: readonly ReceiptKey[],
  newestMsgId: string,
): Promise<Map<number, ReceiptMatch>> {
  const { rows } = await tx.query<MatchRow>({
    name: 'match_closely',
    // The columns of `m` are those of the row once it is locked. `= any (array[…])`: docs/adr/0006.
    text: `
      with newest as materialized (select $2::uuid as msg_id
      ), input as materialized (
        select * from json_to_recordset($1) as i (
          place integer, carrier_id integer, carrier_message_id text, addresses text[], noted boolean)
      ), matched as materialized (
        select i.place, t.plan_id, t.msg_id, t.segment, t.segment_cut, case when t.segments > 1 or t.cut is not null then (
                 select json_agg(json_build_object('segment', segment, 'cut', cut)) from submissions
                 where carrier_id = i.carrier_id and carrier_message_id = i.carrier_message_id and msg_id = t.msg_id
               ) end as several
        from newest cross join input i
        cross join lateral (
          select plan_id, msg_id, segment, cut from submissions
          where carrier_id = i.carrier_id and carrier_message_id = i.carrier_message_id
            and msg_id <= newest.msg_id
          order by msg_id desc limit 1
        ) s
        left join lateral (
          select segments, cut, status in ('DELIVERED', 'FAILED') and not i.noted as ended,
                 substr(recipient, 2) = any (i.addresses) as fits
          from messages where plan_id = any (array[s.plan_id]) and msg_id = s.msg_id
        ) m on true
        left join lateral (
          select x.plan_id, x.msg_id, x.segment, x.cut as segment_cut, n.segments, n.cut,
                 n.status in ('DELIVERED', 'FAILED') and not i.noted as ended,
                 substr(n.recipient, 2) = any (i.addresses) as fits,
                 count(*) over () = ${MAX_SUBMISSIONS_OF_ID} as is_one_of_many
          from (
            select plan_id, msg_id, segment, cut from submissions
            where (m.ended or not m.fits) and carrier_id = i.carrier_id
              and carrier_message_id = i.carrier_message_id and msg_id <= newest.msg_id
            order by msg_id desc limit ${MAX_SUBMISSIONS_OF_ID}
          ) x join messages n on n.plan_id = any (array[x.plan_id]) and n.msg_id = x.msg_id
          order by fits desc, ended, x.msg_id desc limit 1
        ) o on true
        cross join lateral (
          select o.plan_id, o.msg_id, o.segment, o.segment_cut, o.segments, o.cut
          where o.msg_id is not null
            and not coalesce((o.ended or o.is_one_of_many) and not o.fits and i.addresses <> '{}', false)
          union all
          select s.plan_id, s.msg_id, s.segment, s.cut, m.segments, m.cut where o.msg_id is null
        ) t
      )
      select x.place, x.msg_id as "matchedId", x.segment, x.segment_cut as "segmentCut", x.several, m.*
      from (select * from matched order by plan_id, msg_id) x
      left join lateral (
        select ${RECORD_COLUMNS} from messages m where m.plan_id = x.plan_id and m.msg_id = x.msg_id for no key update
      ) m on true`,
    values: [JSON.stringify(receipts), newestMsgId],
  })
  return matchesOf(rows)
}

/** Several receipts of a message share it. */
function matchesOf(rows: readonly MatchRow[]): Map<number, ReceiptMatch> {
  const messages = new Map<string, MessageInProgress>()
  return new Map(rows.map((row) => [row.place, matchOf(row, messages)]))
}

function matchOf(row: MatchRow, messages: Map<string, MessageInProgress>): ReceiptMatch {
  const { matchedId, msgId, lane, segment, segmentCut, several } = row
  if (msgId !== null && !messages.has(msgId)) messages.set(msgId, messageOfRow({ ...row, msgId }))
  return {
    msgId: matchedId,
    lane,
    message: messages.get(matchedId) ?? null,
    segments: several ?? [{ segment, cut: segmentCut }],
  }
}
