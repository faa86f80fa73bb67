/** Submits without an answer, and parked receipts that can only be of one of them. */

import type { IncomingReceipt } from '../domain/journal/incoming-receipts.ts'
import type { UnansweredSubmit } from '../domain/journal/messages-in-doubt.ts'
import { listPlanIds } from './citus.ts'
import type { Queryable } from './database.ts'
import type { MessageKey } from './messages-at-rest.ts'
import { PARKED_COLUMNS, type ParkedPlace } from './parked-receipts.ts'

/** Of a submit whose projection is repeated there is a row already. */
export async function addUnansweredSubmits(
  tx: Queryable,
  submits: readonly UnansweredSubmit[],
): Promise<void> {
  await tx.query({
    name: 'add_unanswered_submits',
    text: `
      insert into unanswered_submits (recipient, sender, carrier_id, plan_id, msg_id, sent_at)
      select recipient, sender, "carrierId", "planId", "msgId", to_timestamp("sentAtMs" / 1000.0)
      from json_to_recordset($1) as i (
        recipient text, sender text, "carrierId" integer, "planId" integer, "msgId" uuid, "sentAtMs" bigint)
      on conflict do nothing`,
    values: [JSON.stringify(submits)],
  })
}

export async function isAnyUnanswered(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ is: boolean }>({
    name: 'is_any_unanswered',
    text: 'select exists (select from unanswered_submits) as is',
  })
  return rows[0]!.is
}

/** Where all lanes ended at a time. */
export interface LaneEnds {
  /** By the clock of the database, as PostgreSQL writes it. */
  readonly at: string
  readonly ends: readonly { readonly lane: number; readonly n: number }[]
}

export async function readLaneEnds(db: Queryable): Promise<LaneEnds> {
  const { rows } = await db.query<LaneEnds>(`
    select now()::text as at, coalesce(json_agg(json_build_object('lane', l.lane, 'n', j.n)), '[]') as ends
    from lanes l cross join lateral (select max(n) as n from journal where lane = l.lane) j
    where j.n > l.cut`)
  return rows[0]!
}

/**
 * Whether everything before these ends is in the records: then a message that was submitted before has a record, which names
 * its lane while its answer is awaited.
 */
export async function areInRecords(db: Queryable, { ends }: LaneEnds): Promise<boolean> {
  const { rows } = await db.query<{ are: boolean }>({
    text: `
      select not exists (select from json_to_recordset($1) as i (lane integer, n bigint)
                         join lanes l on l.lane = i.lane where l.cut < i.n) as are`,
    values: [JSON.stringify(ends)],
  })
  return rows[0]!.are
}

/**
 * Those of these addresses (digits) to which a lane has a message in progress that is not older than `lowest`. Its submit may
 * have no answer yet.
 */
export async function findAwaited(
  db: Queryable,
  addresses: readonly string[],
  lowest: string,
): Promise<ReadonlySet<string>> {
  const planIds = await listPlanIds(db)
  const { rows } = await db.query<{ recipient: string }>({
    text: `
      select distinct recipient from messages
      where plan_id = any ($1::integer[]) and recipient = any ($2::text[]) and msg_id >= $3 and lane is not null`,
    values: [planIds, addresses.map((digits) => `+${digits}`), lowest],
  })
  return new Set(rows.map(({ recipient }) => recipient.slice(1)))
}

/** A parked receipt, and the only message whose submit it may be of. */
export interface ReceiptByAddress extends MessageKey {
  readonly receipt: IncomingReceipt
  /** How often the message was submitted without an answer. */
  readonly copies: number
}

/** Parked receipts that are looked at together. */
export interface ParkedPart {
  readonly after: ParkedPlace
  /** As PostgreSQL writes it. */
  readonly before: string
  readonly waitMs: number
  readonly withinMs: number
  readonly limit: number
}

/** How far the clocks of two nodes differ at most while both are ready. */
const SKEW_MS = 5_000

/**
 * Looks at the next `limit` parked receipts behind `after` that came at least `waitMs` ago and before `before`, and returns those whose id no
 * message has, and which can only be of one message: of those submitted without an answer to this carrier in the `withinMs`
 * before the receipt came, only this one has its two addresses, in either order. `last` is where to continue; null at the end.
 */
export async function findReceiptsByAddress(
  db: Queryable,
  { after, before, waitMs, withinMs, limit }: ParkedPart,
): Promise<{ found: ReceiptByAddress[]; last: ParkedPlace | null }> {
  const { rows } = await db.query<
    IncomingReceipt & { at: string; planId: number | null; msgId: string; copies: number }
  >({
    name: 'find_receipts_by_address',
    text: `
      select ${PARKED_COLUMNS}, p.parked_at::text as at, u."planId", u."msgId", u.copies
      from (
        select * from parked_receipts
        where parked_at >= $1::timestamptz and (parked_at, id) > ($1::timestamptz, $2::bigint)
          and parked_at < least(now() - $3 * interval '1 ms', $6::timestamptz)
        order by parked_at, id limit $5
      ) p
      left join lateral (
        select (array_agg(plan_id))[1] as "planId", (array_agg(msg_id))[1] as "msgId", count(*)::integer as copies
        from unanswered_submits
        where not p.untranslated and p.msg_id is null and recipient = any (p.addresses) and sender <> recipient
          and (sender = any (p.addresses) or sender = p.sender_name)
          and coalesce(carrier_id, p.carrier_id) = p.carrier_id
          -- As a difference, since PostgreSQL 15 took the index of ages for a range of times.
          and p.received_at - sent_at between ${-SKEW_MS} * interval '1 ms' and $4 * interval '1 ms'
          and not exists (select from submissions s where s.carrier_id = p.carrier_id
                                                    and s.carrier_message_id = p.carrier_message_id)
        having count(distinct msg_id) = 1
      ) u on true
      order by p.parked_at, p.id`,
    values: [after.parkedAt, after.parkedId, waitMs, withinMs, limit, before],
  })
  const last = rows.length < limit ? undefined : rows.at(-1)
  return {
    found: rows.flatMap(({ at: _, planId, msgId, copies, ...receipt }) =>
      planId === null ? [] : [{ planId, msgId, copies, receipt }],
    ),
    last: last === undefined ? null : { parkedAt: last.at, parkedId: last.parkedId! },
  }
}

/** Deletes the oldest submit of each of these messages: it is answered now. */
export async function deleteAnsweredSubmits(
  tx: Queryable,
  submits: readonly Pick<UnansweredSubmit, 'recipient' | 'msgId'>[],
): Promise<void> {
  await tx.query({
    text: `
      delete from unanswered_submits u
      using (
        select s.recipient, s.msg_id, min(s.sent_at) as sent_at
        from json_to_recordset($1) as i (recipient text, "msgId" uuid)
        join unanswered_submits s on s.recipient = i.recipient and s.msg_id = i."msgId"
        group by s.recipient, s.msg_id
      ) oldest
      where u.recipient = oldest.recipient and u.msg_id = oldest.msg_id and u.sent_at = oldest.sent_at`,
    values: [JSON.stringify(submits)],
  })
}

/** Deletes submits older than `ageMs`, at most `limit`. Returns how many. */
export async function deleteOldUnansweredSubmits(
  db: Queryable,
  ageMs: number,
  limit: number,
): Promise<number> {
  const { rowCount } = await db.query({
    text: `
      delete from unanswered_submits u
      using (select recipient, msg_id, sent_at from unanswered_submits
             where sent_at < now() - $1 * interval '1 ms' order by sent_at limit $2) old
      where u.recipient = old.recipient and u.msg_id = old.msg_id and u.sent_at = old.sent_at`,
    values: [ageMs, limit],
  })
  return rowCount ?? 0
}
