import sql, { empty, raw, type Sql } from 'sql-template-tag'
import type { EventHolder, InboundMessage } from '../domain/events.ts'
import type { InboundFilters, Page } from '../domain/lists.ts'
import { isSharded, mustBeHere } from './citus.ts'
import { type Database, type Queryable, withTransaction } from './database.ts'
import { drawnPositions, drawPositions, positionOf } from './event-feed.ts'
import { NEW_OFFER_COLUMNS, type NewOffer, TURN_IN_TIME } from './inbound-offers.ts'
import { allOf, below, createdIn, equals } from './list-conditions.ts'

/** In how many parts a message came, and in how many it was sent: a short message in one. */
export interface InboundPartCounts {
  readonly parts: number
  readonly partsExpected: number
}

/** An inbound message and who owns the number it was sent to. */
export interface NewInboundMessage extends Omit<InboundMessage, 'planId'>, InboundPartCounts {
  /** null: nobody owns the number. */
  readonly planId: number | null
  readonly carrierId: number
  /** An event announces it: its plan has an inbound URL. */
  readonly announced: boolean
  /** When its event happened, Unix milliseconds. */
  readonly occurredAtMs: number
}

/** The PDUs in which messages, or parts of them, came, and the node that knows how they are answered. */
export interface NewOffers {
  readonly offers: readonly NewOffer[]
  readonly nodeId: number
}

const INPUT = `
  select *, "planId" as plan_id, get_byte(uuid_send("msgId"), 15)::smallint as bucket,
         to_timestamp("occurredAtMs" / 1000.0) as occurred_at
  from json_to_recordset($1) as i (
    "planId" integer, "msgId" uuid, "carrierId" integer, sender text, recipient text, body text, keyword text,
    announced boolean, "occurredAtMs" bigint, parts smallint, "partsExpected" smallint)`

/** With $4 offers and $5 the node's id. */
const OFFERED = `
  offered as (
    insert into inbound_offers (carrier_id, fingerprint, offer_id, turn, holder, offered_at)
    select "carrierId", decode(fingerprint, 'hex'), "offerId", ${TURN_IN_TIME}, $5::integer, now()
    from json_to_recordset($4) as i (${NEW_OFFER_COLUMNS})
  )`
/** Of those that have a plan. */
const owned = (input: string) => `
  owned as (
    insert into inbound_messages (
      plan_id, msg_id, carrier_id, parts, parts_expected, sender, recipient, body, keyword)
    select plan_id, "msgId", "carrierId", parts, "partsExpected", sender, recipient, body, keyword
    from ${input} where plan_id is not null
  )`
const stored = (input: string, drawn: string) => `
  stored as (
    insert into events (plan_id, msg_id, sequence, position, occurred_at)
    select plan_id, "msgId", 0, ${positionOf('input')}, occurred_at
    from ${input} cross join ${drawn} where plan_id is not null
  )`
const UNOWNED = `
  unowned as (
    insert into unowned_inbound_messages (msg_id, carrier_id, parts, parts_expected, sender, recipient, body)
    select "msgId", "carrierId", parts, "partsExpected", sender, recipient, body
    from input where plan_id is null
  )`
/** With $2 the holder of the buckets $3. */
const ANNOUNCED = `
  announced as (
    insert into event_deliveries (plan_id, msg_id, sequence, bucket, holder, due_at, began_at)
    select plan_id, "msgId", 0, bucket, case when bucket = any ($3::smallint[]) then $2::integer end, occurred_at,
           occurred_at
    from input where announced and plan_id is not null
    returning msg_id, holder
  )
  select msg_id as "msgId" from announced where holder is not null`

/**
 * Stores inbound messages with the events that announce them, unowned messages separately, and the PDUs they came in. One
 * statement, so all of them or none. Returns the ids of the messages whose event this node holds.
 *
 * @throws ServerAwayError when the server of one of them is away
 */
export async function insertInboundMessages(
  db: Queryable,
  messages: readonly NewInboundMessage[],
  holder: EventHolder,
  { offers, nodeId }: NewOffers = { offers: [], nodeId: 0 },
): Promise<string[]> {
  const owners = messages.flatMap(({ planId }) => planId ?? [])
  mustBeHere(db, owners)
  const input = JSON.stringify(messages)
  const values = [input, holder.nodeId, holder.buckets, JSON.stringify(offers), nodeId]
  if (!isSharded(db))
    return await announce(db, values, [
      owned('input'),
      drawnPositions('select plan_id from input where plan_id is not null'),
      stored('input', 'drawn'),
    ])
  const insert = async (tx: Queryable) => {
    if (owners.length > 0) await insertRecords(tx, input, [...new Set(owners)])
    return await announce(tx, values, [])
  }
  return 'release' in db ? await insert(db) : await withTransaction(db as Database, insert)
}

/** `records`: the parts of the statement that write records. */
async function announce(db: Queryable, values: unknown[], records: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ msgId: string }>({
    name: 'insert_inbound_messages',
    text: `with ${[`input as (${INPUT})`, OFFERED, ...records, UNOWNED, ANNOUNCED].join(', ')}`,
    values,
  })
  return rows.map((row) => row.msgId)
}

/**
 * On several servers, these come first: one that hangs then holds up no lock on the coordinator. Citus sends the result of a CTE
 * that is inserted to all workers, also to those without rows of it.
 */
async function insertRecords(tx: Queryable, input: string, plans: readonly number[]): Promise<void> {
  const positions = await drawPositions(tx, plans)
  const rows = `(${INPUT}) input`
  await tx.query({
    text: `with ${owned(rows)}, ${stored(rows, '(select $2::jsonb as positions) drawn')} select 1`,
    values: [input, JSON.stringify(positions)],
  })
}

/** An inbound message as the operator sees it. */
interface AdminInboundRecord extends Omit<InboundMessage, 'planId'>, InboundPartCounts {
  readonly accountId: string
  readonly servicePlanId: string
  readonly carrier: string | null
}

type InboundPage = Page<InboundFilters, string>

const TEXT_COLUMNS = 'i.msg_id as "msgId", i.sender, i.recipient, i.body, i.keyword'
const COLUMNS = `i.plan_id as "planId", ${TEXT_COLUMNS}`
const ADMIN_COLUMNS = `
  a.account_id as "accountId", p.service_plan_id as "servicePlanId", c.name as carrier, i.parts,
  i.parts_expected as "partsExpected", ${TEXT_COLUMNS}`

/**
 * Inbound messages of one plan, newest first, older than `after`: msg_id begins with receivedAt, so a window of dates is
 * a range of ids, which also leaves out the partitions of other days.
 */
export async function listInboundMessages(db: Queryable, page: InboundPage): Promise<InboundMessage[]> {
  mustBeHere(db, [page.planId])
  const { rows } = await db.query<InboundMessage>(sql`
    select ${raw(COLUMNS)} from inbound_messages i
    where ${conditionsOf(page)} order by i.msg_id desc limit ${page.limit}`)
  return rows
}

/** One of a plan; undefined when there is none. */
export async function findInboundMessage(
  db: Queryable,
  planId: number,
  msgId: string,
): Promise<InboundMessage | undefined> {
  mustBeHere(db, [planId])
  const { rows } = await db.query<InboundMessage>({
    name: 'find_inbound_message',
    text: `select ${COLUMNS} from inbound_messages i where i.plan_id = $1 and i.msg_id = $2`,
    values: [planId, msgId],
  })
  return rows[0]
}

/** `listInboundMessages`, for the operator. */
export async function listInboundForOperator(
  db: Queryable,
  page: InboundPage,
): Promise<AdminInboundRecord[]> {
  const { rows } = await db.query<AdminInboundRecord>(sql`
    select ${raw(ADMIN_COLUMNS)}
    from (select * from inbound_messages i where ${conditionsOf(page)} order by i.msg_id desc limit ${page.limit}) i
    join service_plans p on p.id = i.plan_id
    join accounts a on a.id = p.account_id
    left join carriers c on c.id = i.carrier_id
    order by i.msg_id desc`)
  return rows
}

/** Looked up in each plan by primary key: the operator knows no plan, and msg_id alone is not indexed. */
export async function findInboundForOperator(
  db: Queryable,
  msgId: string,
): Promise<AdminInboundRecord | undefined> {
  const { rows } = await db.query<AdminInboundRecord>(
    `select ${ADMIN_COLUMNS}
     from (
       select * from inbound_messages where plan_id = any (array(select id from service_plans)) and msg_id = $1 offset 0
     ) i
     join service_plans p on p.id = i.plan_id
     join accounts a on a.id = p.account_id
     left join carriers c on c.id = i.carrier_id`,
    [msgId],
  )
  return rows[0]
}

function conditionsOf({ planId, filters, after }: InboundPage): Sql {
  const { from, to, keyword } = filters
  return allOf([
    equals('i.plan_id', planId),
    below('i.msg_id', after),
    createdIn('i.msg_id', filters),
    equals('i.sender', from),
    equals('i.recipient', to),
    keyword === null ? empty : sql`lower(i.keyword) = lower(${keyword})`,
  ])
}

// Inbound messages to numbers that nobody owned when they came.

export interface UnownedInboundMessage extends Omit<InboundMessage, 'planId' | 'keyword'>, InboundPartCounts {
  readonly carrierId: number
}

/** As the operator sees one. */
type UnownedInboundRecord = Omit<UnownedInboundMessage, 'carrierId'> & {
  readonly carrier: string | null
}

/** Newest first, older than `before` when it is given. */
export async function listUnownedInboundMessages(
  db: Queryable,
  page: { before: string | null; limit: number },
): Promise<UnownedInboundRecord[]> {
  const { rows } = await db.query<UnownedInboundRecord>(
    `select u.msg_id as "msgId", c.name as carrier, u.parts, u.parts_expected as "partsExpected", u.sender, u.recipient,
            u.body
     from unowned_inbound_messages u left join carriers c on c.id = u.carrier_id
     where $1::uuid is null or u.msg_id < $1
     order by u.msg_id desc limit $2`,
    [page.before, page.limit],
  )
  return rows
}

/** Removes one and returns it; undefined when there is none. */
export async function takeUnownedInboundMessage(
  transaction: Queryable,
  msgId: string,
): Promise<UnownedInboundMessage | undefined> {
  const { rows } = await transaction.query<UnownedInboundMessage>(
    `delete from unowned_inbound_messages where msg_id = $1
     returning msg_id as "msgId", carrier_id as "carrierId", parts, parts_expected as "partsExpected", sender, recipient,
               body`,
    [msgId],
  )
  return rows[0]
}

/** How many have ids from `msgId` on, at most 1,000 being counted, and the first of them; null: there are none. */
export async function countUnownedSince(
  db: Queryable,
  msgId: string,
): Promise<{ count: number; oldestMsgId: string } | null> {
  const { rows } = await db.query<{ count: number; oldestMsgId: string | null }>(
    `with recent as (
       select msg_id from unowned_inbound_messages where msg_id >= $1 order by msg_id limit 1000
     )
     select count(*)::integer as count, (select msg_id from recent order by msg_id limit 1) as "oldestMsgId"
     from recent`,
    [msgId],
  )
  const { count, oldestMsgId } = rows[0]!
  return oldestMsgId === null ? null : { count, oldestMsgId }
}

/** Deletes those with ids below `msgId`, at most `limit`. Returns how many. */
export async function deleteUnownedBefore(db: Queryable, msgId: string, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    text: `
      delete from unowned_inbound_messages where msg_id in (
        select msg_id from unowned_inbound_messages where msg_id < $1 order by msg_id limit $2)`,
    values: [msgId, limit],
  })
  return rowCount ?? 0
}
