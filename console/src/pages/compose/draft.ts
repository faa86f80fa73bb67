import type { SendSmsRequest } from '../../../../client/src/api.ts'
import type { Draft, Fields } from '../../kit/drafts.ts'

/** An empty callback URL is left out. */
export const NO_FIELDS: Fields = { from: '', to: '', body: '', callbackUrl: '' }

/** What would be sent; null while there is no more than a sender, or no object in the JSON. */
export function requestOf(servicePlanId: string, draft: Draft): SendSmsRequest | null {
  const { fields, json } = draft
  if (json !== null) return objectOf(json) as SendSmsRequest | null
  const { from: _, ...rest } = fields
  return Object.values(rest).every((text) => text === '') ? null : requestOfFields(servicePlanId, fields)
}

/** The body of a send with these fields, whether or not it is whole. */
export function requestOfFields(servicePlanId: string, { callbackUrl, ...fields }: Fields): SendSmsRequest {
  return { servicePlanId, channel: 'SMS', ...fields, ...(callbackUrl !== '' && { callbackUrl }) }
}

/** The fields of a request that the form has. */
export function fieldsOf(request: object | null): Fields {
  const text = (name: keyof Fields) => {
    const value = (request as Record<string, unknown> | null)?.[name]
    return typeof value === 'string' ? value : ''
  }
  return { from: text('from'), to: text('to'), body: text('body'), callbackUrl: text('callbackUrl') }
}

/** Null for what is no JSON, and for JSON that is no object. */
export function objectOf(json: string): object | null {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

const KEY_BYTES = 16

/** A new Idempotency-Key. `crypto.randomUUID` is not there on a page that came over plain HTTP. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
