import type { InboundMessage } from '../domain/events.ts'
import type { Queryable } from './database.ts'

/** Inbound messages to numbers that nobody owned when they came. */

export interface UnownedInboundMessage extends Omit<InboundMessage, 'planId' | 'keyword'> {
  readonly carrierId: number
}

/** As the operator sees one. */
export type UnownedInboundRecord = Omit<UnownedInboundMessage, 'carrierId'> & {
  readonly carrier: string | null
}

/** Newest first, older than `before` when it is given. */
export async function listUnownedInboundMessages(
  db: Queryable,
  page: { before: string | null; limit: number },
): Promise<UnownedInboundRecord[]> {
  const { rows } = await db.query<UnownedInboundRecord>(
    `select u.msg_id as "msgId", c.name as carrier, u.sender, u.recipient, u.body
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
     returning msg_id as "msgId", carrier_id as "carrierId", sender, recipient, body`,
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
