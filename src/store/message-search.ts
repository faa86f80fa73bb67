import sql, { empty, raw, type Sql } from 'sql-template-tag'
import type { SearchFilters } from '../domain/messages/message-search.ts'
import type { Message } from '../domain/messages/messages.ts'
import { isSharded, listPlanIds } from './citus.ts'
import type { Queryable } from './database.ts'
import { allOf, equals } from './list-conditions.ts'
import type { InLane } from './messages.ts'

/** An outbound message in a list for operators, by keys alone; `routeId` and `carrierId` null: none yet. */
export interface NamelessMessage
  extends Omit<Message, 'body' | 'callbackUrl' | 'price' | 'ptf' | 'currency'> {
  readonly routeId: number | null
  readonly carrierId: number | null
  readonly carrierCode: string | null
}

/** What a message belongs to. */
interface Names {
  readonly accountId: string
  readonly servicePlanId: string
  readonly route: string | null
  readonly carrier: string | null
}

/** The same with the names of what it belongs to. */
export interface FoundMessage extends Omit<NamelessMessage, 'planId' | 'routeId' | 'carrierId'>, Names {}

/** Range of ids to search: from `lowest` on and below `below`; `planId` null: in all plans. */
export interface SearchPart {
  readonly planId: number | null
  readonly carrierId: number | null
  readonly filters: Omit<SearchFilters, 'fromDate' | 'toDate' | 'carrierMessageId'>
  readonly lowest: string
  readonly below: string
  readonly limit: number
}

const COLUMNS = raw(`
  a.account_id as "accountId", p.service_plan_id as "servicePlanId", m.msg_id as "msgId", m.status, m.sender,
  m.recipient, m.segments, m.country, m.mccmnc, m.error_code as "errorCode", r.name as route, c.name as carrier,
  m.carrier_code as "carrierCode", m.sent_at as "sentAt", m.updated_at as "updatedAt", m.lane`)
const NAMES = raw(`
  join accounts a on a.id = p.account_id
  left join carriers c on c.id = m.carrier_id
  left join routes r on r.id = m.route_id`)

/**
 * Messages, newest first. Each plan is searched by primary key, or by recipient when one is given. So the work grows with
 * the number of plans and with what is searched in vain; the caller chooses the range.
 */
export async function searchMessages(db: Queryable, part: SearchPart): Promise<(FoundMessage & InLane)[]> {
  const { planId, limit } = part
  if (isSharded(db)) return await searchShards(db, part, null)
  const { rows } = await db.query<FoundMessage & InLane>(sql`
    select ${COLUMNS}
    from service_plans p
    cross join lateral (
      select * from messages m where m.plan_id = p.id and ${conditionsOf(part)}
      order by m.msg_id desc limit ${limit}
    ) m ${NAMES}
    where ${allOf([equals('p.id', planId)])}
    order by m.msg_id desc limit ${limit}`)
  return rows
}

/** Messages with a segment that was accepted under one of these ids; only those of the last 8 days are known. */
export async function searchSubmitted(
  db: Queryable,
  carrierMessageIds: readonly string[],
  part: SearchPart,
): Promise<(FoundMessage & InLane)[]> {
  if (isSharded(db)) return await searchShards(db, part, await submittedAs(db, carrierMessageIds, part))
  const { rows } = await db.query<FoundMessage & InLane>(sql`
    select ${COLUMNS}
    from (${keysOfSubmitted(carrierMessageIds, part)}) s
    join service_plans p on p.id = s.plan_id
    cross join lateral (
      select * from messages m
      where m.plan_id = s.plan_id and m.msg_id = s.msg_id and ${conditionsOf({ ...part, carrierId: null })} offset 0
    ) m ${NAMES}
    order by m.msg_id desc limit ${part.limit}`)
  return rows
}

function keysOfSubmitted(
  carrierMessageIds: readonly string[],
  { carrierId, planId, lowest, below }: SearchPart,
): Sql {
  return sql`
    select distinct s.plan_id, s.msg_id
    from carriers k cross join unnest(${carrierMessageIds}::text[]) as i (id)
    cross join lateral (
      select plan_id, msg_id from submissions
      where carrier_id = k.id and carrier_message_id = i.id and msg_id >= ${lowest} and msg_id < ${below}
      order by msg_id desc limit ${MAX_OF_ID}
    ) s
    where ${allOf([equals('k.id', carrierId), equals('s.plan_id', planId)])}`
}

async function submittedAs(db: Queryable, carrierMessageIds: readonly string[], part: SearchPart) {
  const { rows } = await db.query<{ msgId: string }>(
    sql`select s.msg_id as "msgId" from (${keysOfSubmitted(carrierMessageIds, part)}) s`,
  )
  return rows.map(({ msgId }) => msgId)
}

/** On all servers at once, and then the names. `among`: only messages with these ids; null: any. */
async function searchShards(
  db: Queryable,
  part: SearchPart,
  among: readonly string[] | null,
): Promise<(FoundMessage & InLane)[]> {
  const { planId, limit } = part
  const planIds = planId === null ? await listPlanIds(db) : [planId]
  const { rows } = await db.query<NamelessMessage & InLane>(sql`
    select m.plan_id as "planId", m.msg_id as "msgId", m.status, m.sender, m.recipient, m.segments, m.country, m.mccmnc,
           m.error_code as "errorCode", m.route_id as "routeId", m.carrier_id as "carrierId",
           m.carrier_code as "carrierCode", m.sent_at as "sentAt", m.updated_at as "updatedAt", m.lane
    from messages m
    where m.plan_id = any (${planIds}::integer[])
      and ${allOf([among === null ? empty : sql`m.msg_id = any (${among}::uuid[])`])}
      and ${conditionsOf(among === null ? part : { ...part, carrierId: null })}
    order by m.msg_id desc limit ${limit}`)
  return (await withNames(db, rows)) as (FoundMessage & InLane)[]
}

/** These messages, in their order, with the names of what they belong to. */
export async function withNames(
  db: Queryable,
  messages: readonly NamelessMessage[],
): Promise<FoundMessage[]> {
  if (messages.length === 0) return []
  const keys = messages.map(({ planId, routeId, carrierId }) => ({ planId, routeId, carrierId }))
  const { rows } = await db.query<Names & { n: number }>({
    text: `
      select i.n, a.account_id as "accountId", p.service_plan_id as "servicePlanId", r.name as route, c.name as carrier
      from rows from (
        json_to_recordset($1) as ("planId" integer, "routeId" integer, "carrierId" integer)
      ) with ordinality as i ("planId", "routeId", "carrierId", n)
      join service_plans p on p.id = i."planId"
      join accounts a on a.id = p.account_id
      left join carriers c on c.id = i."carrierId"
      left join routes r on r.id = i."routeId"
      order by i.n`,
    values: [JSON.stringify(keys)],
  })
  return rows.map(({ n, ...names }) => {
    const { planId: _, routeId: __, carrierId: ___, ...message } = messages[n - 1]!
    return { ...message, ...names }
  })
}

/** Most submissions with one id of the carrier's that are looked at, newest first: some carriers reuse ids. */
const MAX_OF_ID = 1_000

function conditionsOf({ carrierId, filters, lowest, below }: SearchPart): Sql {
  const { from, to, status, country, mccmnc, errorCode } = filters
  return allOf([
    sql`m.msg_id >= ${lowest} and m.msg_id < ${below}`,
    equals('m.sender', from),
    equals('m.recipient', to),
    equals('m.status', status),
    equals('m.country', country),
    equals('m.mccmnc', mccmnc),
    equals('m.error_code', errorCode),
    equals('m.carrier_id', carrierId),
  ])
}
