import type { EventPayload } from '../domain/events.ts'
import type { Message } from '../domain/messages/messages.ts'

/** A row of TOLD_COLUMNS. Columns of the other direction are null. */
export interface PayloadRow extends Message {
  readonly sequence: number
  readonly keyword: string | null
}

/** What an event tells; of `f` (events) with TOLD_JOINS. */
export const PAYLOAD_COLUMNS = `
  f.plan_id as "planId", f.msg_id as "msgId", f.sequence, f.status, coalesce(m.sender, o.sender) as sender,
  coalesce(m.recipient, o.recipient) as recipient, coalesce(m.body, o.body) as body, m.segments,
  m.callback_url as "callbackUrl", m.country, o.keyword, f.mccmnc, f.error_code as "errorCode", f.price, f.ptf,
  f.currency, f.sent_at as "sentAt", f.occurred_at as "updatedAt"`

/** `= any (array[…])`: docs/adr/0006. */
export const PAYLOAD_JOINS = `
  left join messages m on f.sequence > 0 and m.plan_id = any (array[f.plan_id]) and m.msg_id = f.msg_id
  left join inbound_messages o on f.sequence = 0 and o.plan_id = any (array[f.plan_id]) and o.msg_id = f.msg_id`

export function payloadOf(row: PayloadRow): EventPayload {
  const { sequence, keyword, ...message } = row
  if (sequence > 0) return { direction: 'MT', message }
  const { planId, msgId, sender, recipient, body } = message
  return { direction: 'MO', inbound: { planId, msgId, sender, recipient, body, keyword } }
}
