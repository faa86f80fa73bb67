import type { RuleInForce } from '../domain/carriers/message-ids.ts'
import type { IncomingReceipt } from '../domain/journal/incoming-receipts.ts'
import { byPlan, ofPlan } from './citus.ts'
import { storable } from './copy.ts'
import type { Queryable } from './database.ts'
import type { MessageKey } from './messages-at-rest.ts'

/** Receipts without a message, or whose id cannot be translated yet. They are kept for 72 h and looked at again. */

// `= any (array[…])` and `offset 0`, where a batch meets a table by its key: docs/adr/0006.

/** A receipt to be parked. */
export interface ParkedReceipt extends IncomingReceipt {
  /** Its message, if a process has that in progress; null: not known. */
  readonly msgId: string | null
}

export async function parkReceipts(db: Queryable, receipts: readonly ParkedReceipt[]): Promise<void> {
  await db.query({
    name: 'park_receipts',
    text: `
      insert into parked_receipts (carrier_id, carrier_message_id, addresses, sender_name, outcome, error_code, carrier_code,
                                   mccmnc, received_at, untranslated, receipted_id, id_rule, receipt, msg_id)
      select * from json_to_recordset($1) as i (
        "carrierId" integer, "carrierMessageId" text, addresses text[], "senderName" text, outcome message_status,
        "errorCode" text, "carrierCode" text, mccmnc text, "receivedAt" timestamptz, untranslated boolean, "receiptedId" text, "idRule" text,
        receipt json, "msgId" uuid)`,
    values: [JSON.stringify(receipts)],
  })
}

/** Ends these receipts where they are parked. Returns the ids of those that were still there. */
export async function unparkReceipts(
  db: Queryable,
  receipts: readonly Pick<IncomingReceipt, 'carrierId' | 'carrierMessageId' | 'parkedId'>[],
): Promise<ReadonlySet<number>> {
  const { rows } = await db.query<{ parkedId: number }>({
    name: 'unpark_receipts',
    text: `
      delete from parked_receipts p
      using json_to_recordset($1) as i ("carrierId" integer, "carrierMessageId" text, "parkedId" bigint)
      where p.carrier_id = any (array[i."carrierId"]) and p.carrier_message_id = i."carrierMessageId" and p.id = i."parkedId"
      returning p.id as "parkedId"`,
    values: [JSON.stringify(receipts)],
  })
  return new Set(rows.map(({ parkedId }) => parkedId))
}

/** The columns of an `IncomingReceipt`; `p` is its row. Its time has microseconds, which tell receipts of a message apart. */
export const PARKED_COLUMNS = `
  p.carrier_id as "carrierId", p.carrier_message_id as "carrierMessageId", p.addresses, p.sender_name as "senderName", p.outcome,
  p.error_code as "errorCode", p.carrier_code as "carrierCode", p.mccmnc,
  to_char(p.received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "receivedAt",
  p.id as "parkedId", p.untranslated, p.receipted_id as "receiptedId", p.id_rule as "idRule", p.receipt`

/** This many of one id are applied as soon as its submission is there; the others wait for the scan by age. */
const MAX_PARKED_OF_ID = 20

/** Parked receipts of these ids, which came before their submission was recorded: the first few of each. */
export async function findParkedReceipts(
  db: Queryable,
  ids: readonly { carrierId: number; carrierMessageId: string }[],
): Promise<IncomingReceipt[]> {
  const { rows } = await db.query<IncomingReceipt>({
    name: 'find_parked_receipts',
    text: `
      select ${PARKED_COLUMNS}
      from json_to_recordset($1) as i ("carrierId" integer, "carrierMessageId" text)
      cross join lateral (
        select * from parked_receipts
        where carrier_id = i."carrierId" and carrier_message_id = i."carrierMessageId" order by id limit $2
      ) p
      order by p.id`,
    values: [JSON.stringify(ids.map(asStored)), MAX_PARKED_OF_ID],
  })
  return rows
}

function asStored(id: { carrierId: number; carrierMessageId: string }) {
  return { ...id, carrierMessageId: storable(id.carrierMessageId).toWellFormed() }
}

/** The id of a parked receipt, and its message if that was in progress. */
export type ParkedId = Pick<ParkedReceipt, 'carrierId' | 'carrierMessageId' | 'msgId'>

/** A place among the parked receipts, in the order in which they were parked. */
export interface ParkedPlace {
  /** As PostgreSQL writes it, to the microsecond. */
  readonly parkedAt: string
  readonly parkedId: number
}

/** The next `limit` receipts that were parked after `after`, in that order. */
export async function findNewParkedReceipts(
  db: Queryable,
  after: ParkedPlace,
  limit: number,
): Promise<(ParkedId & ParkedPlace)[]> {
  const { rows } = await db.query<ParkedId & ParkedPlace>({
    name: 'find_new_parked_receipts',
    text: `
      select carrier_id as "carrierId", carrier_message_id as "carrierMessageId", msg_id as "msgId",
             parked_at::text as "parkedAt", id as "parkedId"
      from parked_receipts p
      where p.parked_at >= $1::timestamptz and (p.parked_at, p.id) > ($1::timestamptz, $2::bigint)
      order by p.parked_at, p.id limit $3`,
    values: [after.parkedAt, after.parkedId, limit],
  })
  return rows
}

/**
 * Looks at the next `limit` parked receipts behind `after`, and returns those whose submission is known by now: different
 * nodes recorded the two at the same moment, or the node that recorded the submission died before it looked. `last` is
 * where to continue; null at the end.
 */
export async function findMatchableReceipts(
  db: Queryable,
  after: ParkedPlace,
  limit: number,
): Promise<{ receipts: IncomingReceipt[]; last: ParkedPlace | null }> {
  const { rows } = await db.query<IncomingReceipt & { matchable: boolean; at: string }>({
    name: 'find_matchable_receipts',
    text: `
      select ${PARKED_COLUMNS}, p.parked_at::text as at, not p.untranslated and exists (
               select from submissions s where s.carrier_id = p.carrier_id
                                           and s.carrier_message_id = p.carrier_message_id) as matchable
      from parked_receipts p
      where p.parked_at >= $1::timestamptz and (p.parked_at, p.id) > ($1::timestamptz, $2::bigint)
      order by p.parked_at, p.id limit $3`,
    values: [after.parkedAt, after.parkedId, limit],
  })
  const last = rows.length < limit ? undefined : rows.at(-1)
  return {
    receipts: rows.filter((row) => row.matchable).map(({ matchable, at, ...row }) => row),
    last: last === undefined ? null : { parkedAt: last.at, parkedId: last.parkedId! },
  }
}

/**
 * Receipts whose id was translated under one of these rules of their carrier, parked since then (ISO 8601); at most `limit`.
 * Newest first for each carrier and rule, taking turns among them, so that none goes before the others.
 */
export async function findReceiptsTranslatedUnder(
  db: Queryable,
  carriers: readonly { carrierId: number; idRules: readonly RuleInForce[] }[],
  { since, limit }: { since: string; limit: number },
): Promise<IncomingReceipt[]> {
  const { rows } = await db.query<IncomingReceipt>({
    text: `
      select ${PARKED_COLUMNS}
      from json_to_recordset($1) as i ("carrierId" integer, "idRules" text[])
      cross join lateral unnest(i."idRules") as r (id_rule)
      cross join lateral (
        select *, row_number() over (order by received_at desc) as turn from parked_receipts
        where carrier_id = i."carrierId" and id_rule = r.id_rule and received_at >= $2::timestamptz
        order by received_at desc limit $3
      ) p
      order by p.turn limit $3`,
    values: [JSON.stringify(carriers), since, limit],
  })
  return rows
}

/** What the id of a parked receipt is translated into: the id under which its submission is, or will be, stored. */
export interface Translation {
  readonly carrierId: number
  readonly carrierMessageId: string
  readonly parkedId: number
  readonly translatedId: string
  readonly idRule: RuleInForce
  readonly untranslated: boolean
}

/** The id is also kept as the receipt has it, so that it can be translated again. */
export async function storeTranslations(db: Queryable, translations: readonly Translation[]): Promise<void> {
  await db.query({
    text: `
      update parked_receipts p
      set carrier_message_id = i."translatedId", id_rule = i."idRule", untranslated = i.untranslated,
          receipted_id = coalesce(p.receipted_id, p.carrier_message_id)
      from json_to_recordset($1) as i (
        "carrierId" integer, "carrierMessageId" text, "parkedId" bigint, "translatedId" text, "idRule" text, untranslated boolean)
      where p.carrier_id = any (array[i."carrierId"]) and p.carrier_message_id = i."carrierMessageId" and p.id = i."parkedId"`,
    values: [JSON.stringify(translations)],
  })
}

/** A message that has one of the ids that a receipt may mean. */
export interface Candidate {
  /** Where its receipt is in the batch. */
  readonly index: number
  readonly carrierMessageId: string
  readonly msgId: string
  /** Its recipient is one of the receipt's addresses. */
  readonly fits: boolean
}

/** Most messages of one id that are looked at: enough to see that there is more than one. */
const MAX_CANDIDATES = 4

/** The messages that receipts may belong to while their carrier's id rule is not learned: the newest few of each spelling. */
export async function findCandidates(
  db: Queryable,
  spellings: readonly {
    index: number
    carrierId: number
    carrierMessageId: string
    addresses: readonly string[]
  }[],
): Promise<Candidate[]> {
  const { rows } = await db.query<Omit<Candidate, 'fits'> & MessageKey>({
    name: 'find_candidates',
    text: `
      select i.index, i."carrierMessageId", s.plan_id as "planId", s.msg_id as "msgId"
      from json_to_recordset($1) as i (index integer, "carrierId" integer, "carrierMessageId" text)
      cross join lateral (
        select distinct s.plan_id, s.msg_id from submissions s
        where s.carrier_id = i."carrierId" and s.carrier_message_id = i."carrierMessageId"
        order by s.msg_id desc limit $2
      ) s
      order by i.index, s.msg_id desc`,
    values: [JSON.stringify(spellings), MAX_CANDIDATES],
  })
  const recipients = await recipientsOf(db, rows)
  const addresses = new Map(spellings.map((spelling) => [spelling.index, spelling.addresses]))
  return rows.flatMap(({ planId: _, ...candidate }) => {
    const recipient = recipients.get(candidate.msgId)
    if (recipient === undefined) return []
    return [{ ...candidate, fits: addresses.get(candidate.index)!.includes(recipient.slice(1)) }]
  })
}

async function recipientsOf(db: Queryable, keys: readonly MessageKey[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const { planId, items } of byPlan(db, keys, (key) => key.planId)) {
    const { rows } = await db.query<{ msgId: string; recipient: string }>({
      name: 'find_recipients',
      text: `
        select i."msgId", m.recipient from json_to_recordset($1) as i ("planId" integer, "msgId" uuid)
        cross join lateral (
          select recipient from messages m
          where m.plan_id = i."planId" and ${ofPlan('m', '$2')} and m.msg_id = i."msgId" offset 0) m`,
      values: [JSON.stringify(items), planId],
    })
    for (const { msgId, recipient } of rows) found.set(msgId, recipient)
  }
  return found
}

/** How many receipts are parked, counted up to `most`. */
export async function countParkedReceipts(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    text: 'select count(*)::integer as count from (select from parked_receipts limit $1) p',
    values: [most],
  })
  return rows[0]!.count
}

/** Deletes parked receipts older than `ageMs`, at most `limit`. Returns how many. */
export async function deleteOldParkedReceipts(db: Queryable, ageMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    text: `
      delete from parked_receipts p
      using (select carrier_id, carrier_message_id, id from parked_receipts
             where received_at < now() - $1 * interval '1 ms' order by received_at limit $2) old
      where p.carrier_id = old.carrier_id and p.carrier_message_id = old.carrier_message_id and p.id = old.id`,
    values: [ageMs, limit],
  })
  return rowCount ?? 0
}
