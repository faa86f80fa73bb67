import sql, { empty, raw, type Sql } from 'sql-template-tag'
import type { InboundMessage } from '../domain/events.ts'
import type { InboundFilters, Page } from '../domain/lists.ts'
import type { Queryable } from './database.ts'
import { allOf, below, createdIn, equals } from './list-conditions.ts'

/** An inbound message as the operator sees it. */
export interface AdminInboundRecord extends Omit<InboundMessage, 'planId'> {
  readonly accountId: string
  readonly servicePlanId: string
  readonly carrier: string | null
}

type InboundPage = Page<InboundFilters, string>

const TEXT_COLUMNS = 'i.msg_id as "msgId", i.sender, i.recipient, i.body, i.keyword'
const COLUMNS = `i.plan_id as "planId", ${TEXT_COLUMNS}`
const ADMIN_COLUMNS = `a.account_id as "accountId", p.service_plan_id as "servicePlanId", c.name as carrier, ${TEXT_COLUMNS}`

/**
 * Inbound messages of one plan, newest first, older than `after`: msg_id begins with receivedAt, so a window of dates is
 * a range of ids, which also leaves out the partitions of other days.
 */
export async function listInboundMessages(db: Queryable, page: InboundPage): Promise<InboundMessage[]> {
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

/** Looked up once per plan by primary key: the operator knows no plan, and msg_id alone is not indexed. */
export async function findInboundForOperator(
  db: Queryable,
  msgId: string,
): Promise<AdminInboundRecord | undefined> {
  const { rows } = await db.query<AdminInboundRecord>(
    `select ${ADMIN_COLUMNS}
     from service_plans p
     join lateral (select * from inbound_messages where plan_id = p.id and msg_id = $1 offset 0) i on true
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
