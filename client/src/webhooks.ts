import type { DeliveryReceiptWebhook, InboundSmsWebhook, LimitReachedWebhook } from './api.ts'

/** What every event has, whatever it tells. */
interface Delivery {
  /** The same at each attempt, and in the feed: what to know repeats by. Signed. */
  readonly eventId: string
  /** When this attempt was made: ISO 8601, to the second. Signed. */
  readonly attemptedAt: string
  /** 1, 2, …; not signed. Null: the header is not there. */
  readonly attempt: number | null
  /** Place of the event among those of its message: 1, 2, …, and 0 for an inbound message or a limit; not signed. */
  readonly sequence: number | null
  /** It was asked for to try the receiver, and tells of nothing that happened; not signed. */
  readonly test: boolean
}

/** Plain data: it can be stored as JSON and read back. */
export type WebhookEvent =
  | (Delivery & { readonly type: 'deliveryReceipt'; readonly data: DeliveryReceiptWebhook })
  | (Delivery & { readonly type: 'inboundMessage'; readonly data: InboundSmsWebhook })
  | (Delivery & { readonly type: 'limitReached'; readonly data: LimitReachedWebhook })
  /** Genuine, and newer than this client: answer 200, or it comes again and again. */
  | (Delivery & { readonly type: 'unknown'; readonly data: unknown })

/** The headers as whatever received them has them: Headers, a Map, or the object of Node's http. */
export type WebhookHeaders =
  | Iterable<readonly [string, string]>
  | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  /** Milliseconds since the epoch; the clock's when absent. */
  readonly nowMs?: number
}

export type WebhookVerificationCode =
  | 'MISSING_HEADER'
  | 'INVALID_HEADER'
  | 'TOO_OLD'
  | 'TOO_NEW'
  | 'WRONG_SIGNATURE'
  | 'INVALID_BODY'
  | 'INVALID_SECRET'

/** The request is not a webhook of ours, or it cannot be checked (INVALID_SECRET: the receiver is set up wrongly). */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
  readonly code: WebhookVerificationCode

  constructor(code: WebhookVerificationCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Of webhook-timestamp to the clock, before and after. */
const TOLERANCE_SECONDS = 300
/** Key sizes that Standard Webhooks allows, in bytes. */
const MIN_KEY_BYTES = 24
const MAX_KEY_BYTES = 64

/**
 * Checks the signature of a webhook (Standard Webhooks) and gives its event. `rawBody` is the body as it arrived,
 * before any parsing; `secrets` are one or several `whsec_…`, any of which may have signed (an account has two during a
 * rotation). Rejects with WebhookVerificationError.
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  rawBody: string | ArrayBufferView | ArrayBuffer,
  secrets: string | readonly string[],
  { nowMs = Date.now() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const given = headerValues(headers)
  const eventId = required(given, 'webhook-id')
  const timestamp = required(given, 'webhook-timestamp')
  const signatures = required(given, 'webhook-signature').split(' ')
  const attemptedAt = judgeTimestamp(timestamp, nowMs)
  const keys = (typeof secrets === 'string' ? [secrets] : secrets).map(keyBytes)
  if (keys.length === 0) throw new WebhookVerificationError('INVALID_SECRET', 'there is no secret')

  const body = bytesOf(rawBody)
  const signed = joined(new TextEncoder().encode(`${eventId}.${timestamp}.`), body)
  const expected = await Promise.all(keys.map((key) => signature(key, signed)))
  // Each is compared with each, so that the time tells nothing of which one fits.
  const matches = expected.flatMap((one) => signatures.map((other) => equals(one, other)))
  if (!matches.includes(true)) {
    throw new WebhookVerificationError(
      'WRONG_SIGNATURE',
      'none of the signatures was made with these secrets',
    )
  }
  const attempt = count(given.get('aldis-attempt'))
  const sequence = count(given.get('aldis-sequence'))
  const test = given.get('aldis-test') === 'true'
  return eventOf({ eventId, attemptedAt, attempt, sequence, test }, body)
}

function headerValues(headers: WebhookHeaders): Map<string, string> {
  const entries: Iterable<readonly [string, string | readonly string[] | undefined]> =
    Symbol.iterator in headers
      ? (headers as Iterable<readonly [string, string]>)
      : Object.entries(headers as Record<string, string | readonly string[] | undefined>)
  const values = new Map<string, string>()
  for (const [name, value] of entries) {
    const key = name.toLowerCase()
    const all = value === undefined ? [] : typeof value === 'string' ? [value] : value
    // Which of two the signature was made over cannot be told.
    if (key.startsWith('webhook-') && (all.length > 1 || (all.length > 0 && values.has(key)))) {
      throw new WebhookVerificationError('INVALID_HEADER', `${key} is there twice`)
    }
    if (all[0] !== undefined) values.set(key, all[0])
  }
  return values
}

function required(headers: Map<string, string>, name: string): string {
  const value = headers.get(name)
  if (value === undefined || value === '') {
    throw new WebhookVerificationError('MISSING_HEADER', `${name} is missing`)
  }
  return value
}

function judgeTimestamp(timestamp: string, nowMs: number): string {
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError('INVALID_HEADER', 'webhook-timestamp is not Unix seconds')
  }
  const ageSeconds = Math.floor(nowMs / 1_000) - Number(timestamp)
  if (ageSeconds > TOLERANCE_SECONDS)
    throw new WebhookVerificationError('TOO_OLD', 'it was signed too long ago')
  if (ageSeconds < -TOLERANCE_SECONDS)
    throw new WebhookVerificationError('TOO_NEW', 'it was signed in the future')
  return new Date(Number(timestamp) * 1_000).toISOString()
}

/** The key of a secret, which is not named: errors are logged. */
function keyBytes(secret: string): Uint8Array<ArrayBuffer> {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? []
  const key = encoded !== undefined && encoded.length % 4 === 0 ? decodeBase64(encoded) : null
  if (key === null || key.length < MIN_KEY_BYTES || key.length > MAX_KEY_BYTES) {
    throw new WebhookVerificationError(
      'INVALID_SECRET',
      'a secret is whsec_ and the base64 of 24 to 64 bytes',
    )
  }
  return key
}

function decodeBase64(encoded: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0))
}

/** `v1,` and the base64 of HMAC-SHA-256. */
async function signature(key: Uint8Array<ArrayBuffer>, signed: Uint8Array<ArrayBuffer>): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign'])
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', imported, signed))
  return `v1,${btoa(String.fromCharCode(...mac))}`
}

/** Takes as long whatever differs. The length is no secret: every signature of version 1 has the same. */
function equals(expected: string, given: string): boolean {
  if (expected.length !== given.length) return false
  let difference = 0
  for (let index = 0; index < expected.length; index += 1) {
    difference |= expected.charCodeAt(index) ^ given.charCodeAt(index)
  }
  return difference === 0
}

/** Copied only where it must be. A view of another realm is not `instanceof` ours. */
function bytesOf(rawBody: string | ArrayBufferView | ArrayBuffer): Uint8Array {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody)
  if (ArrayBuffer.isView(rawBody)) {
    return new Uint8Array(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength)
  }
  if (Object.prototype.toString.call(rawBody) === '[object ArrayBuffer]') return new Uint8Array(rawBody)
  throw new WebhookVerificationError('INVALID_BODY', 'the body must be given as it arrived, text or bytes')
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + tail.length)
  whole.set(head)
  whole.set(tail, head.length)
  return whole
}

function eventOf(delivery: Delivery, bytes: Uint8Array): WebhookEvent {
  const data = parsed(bytes)
  const { direction, msgId, status } = data as Partial<DeliveryReceiptWebhook>
  if (typeof msgId === 'string' && direction === 'MO') {
    return { ...delivery, type: 'inboundMessage', data: data as InboundSmsWebhook }
  }
  if (typeof msgId === 'string' && typeof status === 'string') {
    return { ...delivery, type: 'deliveryReceipt', data: data as DeliveryReceiptWebhook }
  }
  const { type, text } = data as Partial<LimitReachedWebhook>
  if (direction === undefined && typeof type === 'string' && typeof text === 'string') {
    return { ...delivery, type: 'limitReached', data: data as LimitReachedWebhook }
  }
  return { ...delivery, type: 'unknown', data }
}

function parsed(bytes: Uint8Array): object {
  let body: unknown
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    body = null
  }
  if (typeof body === 'object' && body !== null) return body
  throw new WebhookVerificationError('INVALID_BODY', 'it is signed, and its body is not a JSON object')
}

function count(value: string | undefined): number | null {
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : null
}
