import { hash } from 'node:crypto'
import { type Fault, fault } from '../../errors.ts'
import type { ServicePlan } from '../configuration/configuration.ts'
import type { Directory } from '../configuration/directory.ts'
import { countryOf } from '../routing/recipients.ts'
import { classifySender, isE164 } from './addresses.ts'

/** The fields of a send as the caller wrote them, types and lengths already checked. */
export interface SendRequest {
  readonly servicePlanId: string
  readonly channel: 'SMS'
  readonly from: string
  readonly to: string
  readonly body: string
  readonly callbackUrl?: string
}

/**
 * Faults that a schema cannot see: the forms of addresses, and text that no Unicode encoding can represent or no carrier
 * takes. Values that are not strings, and an empty body, are reported by the schema and passed over here.
 */
export function fieldFaults(request: { from?: unknown; to?: unknown; body?: unknown }): Fault[] {
  const { from, to, body } = request
  const faults: Fault[] = []
  if (typeof from === 'string' && classifySender(from) === null) {
    faults.push(
      fault('from', 'INVALID_FORMAT', 'must be a short code, an E.164 number or an alphanumeric sender'),
    )
  }
  if (typeof to === 'string' && !isE164(to)) {
    faults.push(fault('to', 'INVALID_FORMAT', 'must be one E.164 number'))
  }
  if (typeof body !== 'string') return faults
  if (!body.isWellFormed()) {
    faults.push(fault('body', 'INVALID_TEXT', 'must be well-formed Unicode, without lone surrogates'))
  }
  if (body.includes('\u0000')) faults.push(fault('body', 'INVALID_TEXT', 'must not contain U+0000'))
  return faults
}

/** Why a sender may not be used; `message` when the code's own text would not say enough. */
export interface SenderRefusal {
  readonly code: 'SENDER_NOT_AUTHORIZED' | 'SENDER_PENDING_APPROVAL' | 'SENDER_STATUS_UNKNOWN'
  readonly message?: string
}

/** Whether a plan may use a sender with this subscription, wherever no sender rule forbids its type. */
export function allowsSender(plan: ServicePlan, sender: string, status: string | undefined): boolean {
  const type = classifySender(sender)
  return type !== null && plan.senderTypes.has(type) && status === 'approved'
}

/**
 * Why the plan may not send from this sender to this recipient; null when it may. A missing or denied subscription and a
 * type of sender that the plan, or the rule for the recipient's country, does not allow are one refusal; a status we do
 * not know is another.
 */
export function judgeSender(
  directory: Directory,
  plan: ServicePlan,
  { from, to }: Pick<SendRequest, 'from' | 'to'>,
): SenderRefusal | null {
  const type = classifySender(from)
  if (type === null || !plan.senderTypes.has(type)) return { code: 'SENDER_NOT_AUTHORIZED' }
  const country = directory.contents.senderRules.length === 0 ? null : countryOf(to)
  if (directory.senderTypesTowards(plan.id, country)?.has(type) === false) {
    const message = `A sender of this type (${type}) is not allowed for recipients in ${country}`
    return { code: 'SENDER_NOT_AUTHORIZED', message }
  }
  const status = directory.senderStatus(plan.id, from)
  if (status === 'approved') return null
  if (status === undefined || status === 'denied') return { code: 'SENDER_NOT_AUTHORIZED' }
  return { code: status === 'pending' ? 'SENDER_PENDING_APPROVAL' : 'SENDER_STATUS_UNKNOWN' }
}

/** Size of the texts of a stored record, in UTF-8 bytes. */
export function recordBytes({ from, to, body, callbackUrl }: SendRequest): number {
  const url = callbackUrl === undefined ? 0 : Buffer.byteLength(callbackUrl)
  return Buffer.byteLength(body) + from.length + to.length + url
}

/** Visible ASCII, 1 to 255 characters. */
const KEY = /^[\x21-\x7e]{1,255}$/

export function isIdempotencyKey(text: string): boolean {
  return KEY.test(text)
}

/** The stored form of a key: its SHA-256, because callers put names and numbers into keys. */
export function idempotencyKeyHash(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

/** Every field that has an effect. Two requests of one plan are the same when all of these are equal. */
interface IdempotentRequest {
  readonly servicePlanId: string
  readonly from: string
  readonly to: string
  readonly body: string
  readonly callbackUrl: string | null
}

/**
 * SHA-256 of the validated request in one canonical form: field order, unknown fields and the case of the plan id don't
 * matter.
 */
export function requestHash(request: IdempotentRequest): Buffer {
  const { servicePlanId, from, to, body, callbackUrl } = request
  const canonical = JSON.stringify([servicePlanId.toLowerCase(), from, to, body, callbackUrl])
  return hash('sha256', canonical, 'buffer')
}
