import sql, { empty, join, raw } from 'sql-template-tag'
import type { Page } from '../domain/cursors.ts'
import type { MessageFilters } from '../domain/message-filters.ts'
import { highestIdAt, lowestIdAt } from '../domain/message-ids.ts'
import type { Message } from '../domain/messages.ts'
import type { Queryable } from './database.ts'
import { type InLane, MESSAGE_COLUMNS } from './messages.ts'

const COLUMNS = raw(MESSAGE_COLUMNS)

/**
 * Messages of one plan, newest first: msg_id begins with createdAt, so its order is the order of spec §4.3 rule 3 and a
 * window of dates is a range of ids, which also leaves out the partitions of other days.
 */
export async function listMessages(
  db: Queryable,
  page: Page<MessageFilters, string>,
): Promise<(Message & InLane)[]> {
  const { filters, after } = page
  const conditions = [
    sql`m.plan_id = ${page.planId}`,
    after === null ? empty : sql`m.msg_id < ${after}`,
    filters.fromDate === null ? empty : sql`m.msg_id >= ${lowestIdAt(filters.fromDate)}`,
    filters.toDate === null ? empty : sql`m.msg_id <= ${highestIdAt(filters.toDate)}`,
    filters.from === null ? empty : sql`m.sender = ${filters.from}`,
    filters.to === null ? empty : sql`m.recipient = ${filters.to}`,
    filters.status === null ? empty : sql`m.status = ${filters.status}`,
    filters.country === null ? empty : sql`m.country = ${filters.country}`,
    filters.mccmnc === null ? empty : sql`m.mccmnc = ${filters.mccmnc}`,
  ].filter((condition) => condition !== empty)
  const { text, values } = sql`
    select ${COLUMNS}, m.lane from messages m
    where ${join(conditions, ' and ')}
    order by m.msg_id desc
    limit ${page.limit}`
  const { rows } = await db.query<Message & InLane>({ text, values })
  return rows
}
