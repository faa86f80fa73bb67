import type { Told } from '../domain/events.ts'
import type { Status } from '../domain/message-states.ts'

/** A row of TOLD_COLUMNS. Columns of the other direction are null. */
export interface ToldRow {
  readonly planId: number
  readonly msgId: string
  readonly seq: number
  readonly status: Status
  readonly sender: string
  readonly recipient: string
  readonly body: string
  readonly segments: number
  readonly callbackUrl: string | null
  readonly country: string | null
  readonly keyword: string | null
  readonly mccmnc: string | null
  readonly errorCode: string
  readonly price: string | null
  readonly ptf: string | null
  readonly currency: string | null
  readonly sentAt: Date | null
  readonly updatedAt: Date
}

/** What an event tells; of `f` (events) with TOLD_JOINS. */
export const TOLD_COLUMNS = `
  f.plan_id as "planId", f.msg_id as "msgId", f.seq, f.status, coalesce(m.sender, o.sender) as sender,
  coalesce(m.recipient, o.recipient) as recipient, coalesce(m.body, o.body) as body, m.segments,
  m.callback_url as "callbackUrl", m.country, o.keyword, f.mccmnc, f.error_code as "errorCode", f.price, f.ptf,
  f.currency, f.sent_at as "sentAt", f.occurred_at as "updatedAt"`

/** `= any (array[…])`: docs/adr/0006. */
export const TOLD_JOINS = `
  left join messages m on f.seq > 0 and m.plan_id = any (array[f.plan_id]) and m.msg_id = f.msg_id
  left join inbound_messages o on f.seq = 0 and o.plan_id = any (array[f.plan_id]) and o.msg_id = f.msg_id`

export function toldOf(row: ToldRow): Told {
  const { planId, msgId, seq, sender, recipient, body, keyword } = row
  if (seq === 0) return { direction: 'MO', inbound: { planId, msgId, sender, recipient, body, keyword } }
  const {
    status,
    segments,
    callbackUrl,
    country,
    mccmnc,
    errorCode,
    price,
    ptf,
    currency,
    sentAt,
    updatedAt,
  } = row
  const message = {
    ...{ planId, msgId, status, sender, recipient, body, segments, callbackUrl, country, mccmnc },
    ...{ errorCode, price, ptf, currency, sentAt, updatedAt },
  }
  return { direction: 'MT', message }
}
