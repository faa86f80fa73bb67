import type { IncomingReceipt } from '../domain/journal/incoming-receipts.ts'
import { byPlan, isSharded } from './citus.ts'
import type { Queryable } from './database.ts'
import type { MessageKey } from './messages-at-rest.ts'

/** The messages of receipts, by the ids in the records. Those in memory are found by `ReceiptMatcher`. */

/** The submission that a receipt names. */
export type SubmissionId = Pick<IncomingReceipt, 'carrierId' | 'carrierMessageId'>

/** The fields that a receipt is matched by. */
export interface ReceiptKey {
  /** Where it is in the batch. */
  readonly index: number
  readonly carrierId: number
  readonly carrierMessageId: string
  /** Null: its message may have gone to any address. */
  readonly addresses: readonly string[] | null
  /** Then it belongs to the newest message, even one that has ended. */
  readonly isIntermediate: boolean
}

/** The message that a receipt belongs to, by the ids that carriers answered. */
export interface ReceiptMatch extends MessageKey {
  /** Where its receipt is in the batch. */
  readonly index: number
  /** Its segments that got the receipt's id. */
  readonly segments: readonly { readonly segment: number; readonly segmentation: string | null }[]
}

interface MatchRow extends Omit<ReceiptMatch, 'segments'> {
  readonly segment: number
  readonly segmentation: string | null
  readonly several?: ReceiptMatch['segments'] | null
}

/**
 * Most segments with one id that are looked at. A carrier that counts to 65,535 uses each id 15 times for a million
 * messages a day. If a carrier used one id for all, every receipt would read them all (0.5 s for 60,000).
 */
const MAX_SUBMISSIONS_OF_ID = 1_000

/**
 * Finds the message that the newest submission of each id belongs to: nearly every receipt is of that one.
 *
 * @param newestMsgId no submission is newer: partitions of days to come are not looked into
 */
export async function matchReceipts(
  tx: Queryable,
  receipts: readonly ReceiptKey[],
  newestMsgId: string,
): Promise<ReceiptMatch[]> {
  const { rows } = await tx.query<MatchRow>({
    name: 'match_receipts',
    // `newest` is hidden from the planner: knowing it, it took 17 ms for a new plan each time (90 days of partitions).
    text: `
      with newest as materialized (select $2::uuid as msg_id)
      select i.index, s.*
      from newest cross join json_to_recordset($1) as i (index integer, "carrierId" integer, "carrierMessageId" text)
      cross join lateral (
        select plan_id as "planId", msg_id as "msgId", segment, segmentation from submissions
        where carrier_id = i."carrierId" and carrier_message_id = i."carrierMessageId" and msg_id <= newest.msg_id
        order by msg_id desc limit 1
      ) s`,
    values: [JSON.stringify(receipts), newestMsgId],
  })
  return rows.map(matchOf)
}

/**
 * Finds the messages of any receipts; costs several times as much as `matchReceipts`.
 *
 * If the newest message that got the id has ended or went to another recipient, others that got it are looked at, up to a
 * bound (some carriers reuse ids): first those of that recipient, then those still open, then the newest. A message that
 * went to another recipient is not matched if it has ended, or is one of too many.
 *
 * A receipt speaks for every segment that got its id. Carriers that give one id to all segments, and message_payload,
 * leave no way to tell one segment's receipts from repetitions of another's.
 *
 * @throws ServerAwayError when the server of one of these messages is away
 */
export async function matchClosely(
  tx: Queryable,
  receipts: readonly ReceiptKey[],
  newestMsgId: string,
): Promise<ReceiptMatch[]> {
  const sharded = isSharded(tx)
  const known = sharded ? [JSON.stringify(await readCandidates(tx, receipts, newestMsgId))] : []
  const messages = sharded ? 'known' : 'messages'
  const { rows } = await tx.query<MatchRow>({
    name: 'match_closely',
    // `= any (array[…])`: docs/adr/0006.
    text: `
      with newest as materialized (select $2::uuid as msg_id
      ), input as materialized (
        select * from json_to_recordset($1) as i (
          index integer, "carrierId" integer, "carrierMessageId" text, addresses text[], "isIntermediate" boolean)
      )${sharded ? KNOWN : ''}
      select i.index, t.plan_id as "planId", t.msg_id as "msgId", t.segment, t.segmentation,
             case when t.segments > 1 or t.message_segmentation is not null then (
               select json_agg(json_build_object('segment', segment, 'segmentation', segmentation)) from submissions
               where carrier_id = i."carrierId" and carrier_message_id = i."carrierMessageId" and msg_id = t.msg_id
             ) end as several
      from newest cross join input i
      cross join lateral (
        select plan_id, msg_id, segment, segmentation from submissions
        where carrier_id = i."carrierId" and carrier_message_id = i."carrierMessageId"
          and msg_id <= newest.msg_id
        order by msg_id desc limit 1
      ) s
      left join lateral (
        select segments, segmentation, status in ('DELIVERED', 'FAILED') and not i."isIntermediate" as ended,
               substr(recipient, 2) = any (i.addresses) as fits
        from ${messages} where plan_id = any (array[s.plan_id]) and msg_id = s.msg_id
      ) m on true
      left join lateral (
        select x.plan_id, x.msg_id, x.segment, x.segmentation, n.segments, n.segmentation as message_segmentation,
               n.status in ('DELIVERED', 'FAILED') and not i."isIntermediate" as ended,
               substr(n.recipient, 2) = any (i.addresses) as fits,
               count(*) over () = ${MAX_SUBMISSIONS_OF_ID} as is_one_of_many
        from (
          select plan_id, msg_id, segment, segmentation from submissions
          where (m.ended or not m.fits) and carrier_id = i."carrierId"
            and carrier_message_id = i."carrierMessageId" and msg_id <= newest.msg_id
          order by msg_id desc limit ${MAX_SUBMISSIONS_OF_ID}
        ) x join ${messages} n on n.plan_id = any (array[x.plan_id]) and n.msg_id = x.msg_id
        order by fits desc, ended, x.msg_id desc limit 1
      ) o on true
      cross join lateral (
        select o.plan_id, o.msg_id, o.segment, o.segmentation, o.segments, o.message_segmentation
        where o.msg_id is not null
          and not coalesce((o.ended or o.is_one_of_many) and not o.fits and i.addresses <> '{}', false)
        union all
        select s.plan_id, s.msg_id, s.segment, s.segmentation, m.segments, m.segmentation where o.msg_id is null
      ) t`,
    values: [JSON.stringify(receipts), newestMsgId, ...known],
  })
  return rows.map(matchOf)
}

/** In place of `messages`, where those are on other servers. */
const KNOWN = `, known as materialized (
        select "planId" as plan_id, "msgId" as msg_id, recipient, status, segments, segmentation
        from json_to_recordset($3) as i (
          "planId" integer, "msgId" uuid, recipient text, status message_status, segments smallint, segmentation text)
      )`

/** What `match_closely` looks at in the messages of these ids. */
async function readCandidates(
  tx: Queryable,
  receipts: readonly ReceiptKey[],
  newestMsgId: string,
): Promise<readonly object[]> {
  const { rows } = await tx.query<MessageKey>({
    text: `
      select distinct s.plan_id as "planId", s.msg_id as "msgId"
      from json_to_recordset($1) as i ("carrierId" integer, "carrierMessageId" text)
      cross join lateral (
        select plan_id, msg_id from submissions
        where carrier_id = i."carrierId" and carrier_message_id = i."carrierMessageId" and msg_id <= $2
        order by msg_id desc limit ${MAX_SUBMISSIONS_OF_ID}
      ) s`,
    values: [JSON.stringify(receipts), newestMsgId],
  })
  const found: object[] = []
  for (const { planId, items } of byPlan(tx, rows, (key) => key.planId)) {
    const { rows: messages } = await tx.query({
      text: `
        select plan_id as "planId", msg_id as "msgId", recipient, status, segments, segmentation from messages
        where plan_id = $1 and msg_id = any ($2::uuid[])`,
      values: [planId, items.map(({ msgId }) => msgId)],
    })
    found.push(...messages)
  }
  return found
}

function matchOf({ index, planId, msgId, segment, segmentation, several }: MatchRow): ReceiptMatch {
  return { index, planId, msgId, segments: several ?? [{ segment, segmentation }] }
}
