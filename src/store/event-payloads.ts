import type { EventPayload } from '../domain/events.ts'
import type { Message } from '../domain/messages/messages.ts'
import { byPlan } from './citus.ts'
import { inTime, type Queryable } from './database.ts'

/** A row of PAYLOAD_COLUMNS. Columns of the other direction are null. */
export interface PayloadRow extends Message {
  readonly sequence: number
  readonly keyword: string | null
}

/** What an event tells; of `f` (events) with `payloadJoins`. */
export const PAYLOAD_COLUMNS = `
  f.plan_id as "planId", f.msg_id as "msgId", f.sequence, f.status, coalesce(m.sender, o.sender) as sender,
  coalesce(m.recipient, o.recipient) as recipient, coalesce(m.body, o.body) as body, m.segments,
  m.callback_url as "callbackUrl", m.country, o.keyword, f.mccmnc, f.error_code as "errorCode", f.price, f.ptf,
  f.currency, f.sent_at as "sentAt", f.occurred_at as "updatedAt"`

/** `plan`: that of `f`. `= any (array[…])`: docs/adr/0006. */
export function payloadJoins(plan: string): string {
  return `
  left join messages m on f.sequence > 0 and m.plan_id = any (array[${plan}]) and m.msg_id = f.msg_id
  left join inbound_messages o on f.sequence = 0 and o.plan_id = any (array[${plan}]) and o.msg_id = f.msg_id`
}

export type EventOfPlan = Pick<PayloadRow, 'planId' | 'msgId' | 'sequence'>

/** What these events tell, in their order, read on the servers of their plans; undefined: no server shows it. */
export async function readPayloads(
  db: Queryable,
  events: readonly EventOfPlan[],
): Promise<(PayloadRow | undefined)[]> {
  const payloads = new Map<string, PayloadRow>()
  for (const { planId, items } of byPlan(db, events, (event) => event.planId)) {
    const { rows } = await db.query<PayloadRow>({
      text: `
        select ${PAYLOAD_COLUMNS}
        from json_to_recordset($2) as t ("msgId" uuid, sequence smallint)
        join events f on f.plan_id = $1 and f.msg_id = t."msgId" and f.sequence = t.sequence ${payloadJoins('$1')}`,
      values: [planId, JSON.stringify(items.map(({ msgId, sequence }) => ({ msgId, sequence })))],
      ...inTime(db),
    })
    for (const row of rows) payloads.set(keyOf(row), row)
  }
  return events.map((event) => payloads.get(keyOf(event)))
}

function keyOf({ msgId, sequence }: EventOfPlan): string {
  return `${msgId} ${sequence}`
}

export function payloadOf(row: PayloadRow): EventPayload {
  const { sequence, keyword, ...message } = row
  if (sequence > 0) return { direction: 'MT', message }
  const { planId, msgId, sender, recipient, body } = message
  return { direction: 'MO', inbound: { planId, msgId, sender, recipient, body, keyword } }
}
