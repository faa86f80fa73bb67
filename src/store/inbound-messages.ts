import type { EventHolder, InboundMessage } from '../domain/events.ts'
import type { Queryable } from './database.ts'
import { drawnPositions, positionOf } from './feed-positions.ts'
import { type NewOffer, OFFER_COLUMNS } from './inbound-offers.ts'

/** An inbound message and who owns the number it was sent to. */
export interface NewInboundMessage extends Omit<InboundMessage, 'planId'> {
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

/**
 * Stores inbound messages with the events that announce them, unowned messages separately, and the PDUs they came in. One
 * statement, so all of them or none. Returns the ids of the messages whose event this node holds.
 */
export async function insertInboundMessages(
  db: Queryable,
  messages: readonly NewInboundMessage[],
  events: EventHolder,
  { offers, nodeId }: NewOffers = { offers: [], nodeId: 0 },
): Promise<string[]> {
  const { rows } = await db.query<{ msgId: string }>({
    name: 'insert_inbound_messages',
    text: `
      with input as (
        select *, "planId" as plan_id, get_byte(uuid_send("msgId"), 15)::smallint as bucket,
               to_timestamp("occurredAtMs" / 1000.0) as occurred_at
        from json_to_recordset($1) as i (
          "planId" integer, "msgId" uuid, "carrierId" integer, sender text, recipient text, body text, keyword text,
          announced boolean, "occurredAtMs" bigint)
      ), offered as (
        insert into inbound_offers (carrier_id, fingerprint, offer_id, turn, holder, offered_at)
        select "carrierId", decode(fingerprint, 'hex'), "offerId", turn, $5::integer, now()
        from json_to_recordset($4) as i (${OFFER_COLUMNS}, turn integer)
      ), owned as (
        insert into inbound_messages (plan_id, msg_id, carrier_id, sender, recipient, body, keyword)
        select plan_id, "msgId", "carrierId", sender, recipient, body, keyword from input where plan_id is not null
      ), unowned as (
        insert into unowned_inbound_messages (msg_id, carrier_id, sender, recipient, body)
        select "msgId", "carrierId", sender, recipient, body from input where plan_id is null
      ), ${drawnPositions('select plan_id from input where plan_id is not null')}, stored as (
        insert into events (plan_id, msg_id, sequence, position, occurred_at)
        select plan_id, "msgId", 0, ${positionOf('input')}, occurred_at
        from input cross join drawn where plan_id is not null
      ), announced as (
        insert into event_deliveries (plan_id, msg_id, sequence, bucket, holder, due_at, began_at)
        select plan_id, "msgId", 0, bucket, case when bucket = any ($3::smallint[]) then $2::integer end, occurred_at,
               occurred_at
        from input where announced and plan_id is not null
        returning msg_id, holder
      )
      select msg_id as "msgId" from announced where holder is not null`,
    values: [JSON.stringify(messages), events.nodeId, events.buckets, JSON.stringify(offers), nodeId],
  })
  return rows.map((row) => row.msgId)
}
