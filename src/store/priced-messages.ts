import type { Priced } from '../domain/rates.ts'
import type { Queryable } from './database.ts'

/** What the price of a receipt's message depends on. */
export interface PricedMessage extends Priced {
  readonly carrierId: number
  readonly carrierMessageId: string
  readonly msgId: string
  readonly isCharged: boolean
}

/** An id has more than one message when the carrier gives it again within 8 days. */
const MAX_MESSAGES_OF_ID = 4

/** The messages that these receipts may be of, newest first: the newest few of each id. */
export async function findPricedMessages(
  db: Queryable,
  ids: readonly { carrier_id: number; carrier_message_id: string }[],
): Promise<PricedMessage[]> {
  const { rows } = await db.query<PricedMessage>({
    name: 'find_priced_messages',
    text: `
      select i.carrier_id as "carrierId", i.carrier_message_id as "carrierMessageId", m.msg_id as "msgId",
             m.plan_id as "planId", m.recipient, m.country, m.mccmnc,
             m.price is not null as "isCharged"
      from json_to_recordset($1) as i (carrier_id integer, carrier_message_id text)
      cross join lateral (
        select distinct s.msg_id, s.plan_id from submissions s
        where s.carrier_id = i.carrier_id and s.carrier_message_id = i.carrier_message_id
        order by s.msg_id desc limit $2
      ) s
      join messages m on m.plan_id = s.plan_id and m.msg_id = s.msg_id
      order by m.msg_id desc`,
    values: [JSON.stringify(ids), MAX_MESSAGES_OF_ID],
  })
  return rows
}
