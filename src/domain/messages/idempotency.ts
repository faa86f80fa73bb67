import { hash } from 'node:crypto'

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
export interface IdempotentRequest {
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
