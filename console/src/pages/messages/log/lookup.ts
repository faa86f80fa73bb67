import type { FilterName } from './filter-names.ts'

/** What a text that somebody looks for may be: a message, or the value of a filter. */
export type Meaning =
  | { readonly kind: 'message'; readonly msgId: string }
  | { readonly kind: FilterName; readonly value: string }

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const EVENT_ID = /^(?<msgId>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-\d{1,5}$/i
const PHONE = /^(\+|00)?[\d\s().-]+$/
const E164 = /^[1-9]\d{6,14}$/
const SHORT_CODE = /^\d{3,8}$/
const SENDER = /^(?=.*[a-z])[a-z0-9 ._&-]{1,11}$/i
const CARRIER_ID = /^[\x21-\x7e]{1,64}$/

/** The likely meanings, the likeliest first; none of a text that nothing can have. */
export function meaningsOf(typed: string, filters: readonly FilterName[]): Meaning[] {
  const text = typed.trim()
  const msgId = UUID.test(text) ? text : EVENT_ID.exec(text)?.groups?.msgId
  if (msgId !== undefined) return [{ kind: 'message', msgId: msgId.toLowerCase() }]
  const number = numberOf(text)
  const found: Meaning[] = []
  if (number !== null) found.push({ kind: 'to', value: number }, { kind: 'from', value: number })
  if (SHORT_CODE.test(text) || SENDER.test(text)) found.push({ kind: 'from', value: text })
  if (CARRIER_ID.test(text)) found.push({ kind: 'carrierMessageId', value: text })
  return found.filter(({ kind }) => filters.includes(kind as FilterName))
}

/** A telephone number as the API writes it; null for what is none. */
function numberOf(text: string): string | null {
  if (!PHONE.test(text)) return null
  const digits = text.replace(/\D/g, '').replace(text.startsWith('00') ? /^00/ : '', '')
  return E164.test(digits) ? `+${digits}` : null
}
