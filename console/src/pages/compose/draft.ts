import type { SendSmsRequest } from '../../../../client/src/api.ts'

/** The fields of the form. An empty callback URL is left out. */
export interface Fields {
  readonly from: string
  readonly to: string
  readonly body: string
  readonly callbackUrl: string
}

/** A message that is being written: in a form, or as the JSON that an application sends. */
export interface Draft {
  readonly fields: Fields
  /** Null: in the form. */
  readonly json: string | null
}

export const NO_FIELDS: Fields = { from: '', to: '', body: '', callbackUrl: '' }

/** What would be sent; null while there is nothing, or no object in the JSON. */
export function requestOf(servicePlanId: string, { fields, json }: Draft): SendSmsRequest | null {
  if (json !== null) return objectOf(json) as SendSmsRequest | null
  const { callbackUrl, ...rest } = fields
  if (Object.values(fields).every((text) => text === '')) return null
  return { servicePlanId, channel: 'SMS', ...rest, ...(callbackUrl !== '' && { callbackUrl }) }
}

/** What is shown where there is no message yet. */
export function emptyRequest(servicePlanId: string): SendSmsRequest {
  return { servicePlanId, channel: 'SMS', from: '', to: '', body: '' }
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
