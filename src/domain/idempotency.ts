import { hash } from 'node:crypto'

/** Visible ASCII, 1 to 255 characters. */
const KEY = /^[\x21-\x7e]{1,255}$/

export function isIdempotencyKey(text: string): boolean {
  return KEY.test(text)
}

/** What is stored of a key: its SHA-256, because callers put names and numbers into keys. */
export function idempotencyKeyHash(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

/** What makes two requests of one plan the same: every field that has an effect. */
export interface IdempotentRequest {
  readonly servicePlanId: string
  readonly from: string
  readonly to: string
  readonly body: string
  readonly callbackUrl: string | null
}

/** SHA-256 of the validated request in one canonical form: field order, unknown fields and the case of the plan id drop out. */
export function requestHash(request: IdempotentRequest): Buffer {
  const { servicePlanId, from, to, body, callbackUrl } = request
  const canonical = JSON.stringify([servicePlanId.toLowerCase(), from, to, body, callbackUrl])
  return hash('sha256', canonical, 'buffer')
}
