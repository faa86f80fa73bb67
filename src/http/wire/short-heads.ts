import { bearerHash } from '../authentication.ts'
import { isPlainJson } from '../json-bodies.ts'
import { messageFault } from './message-faults.ts'

/** A request whose bytes are all here, with nothing behind it. */
export interface ShortRequest {
  /** SHA-256 (hex) of its bearer token. */
  readonly tokenHash: string
  readonly traceparent: string | undefined
  readonly body: Buffer
}

/** A known head, split around the digits of its Content-Length. */
interface KnownHead {
  readonly before: Buffer
  readonly after: Buffer
  readonly tokenHash: string
  readonly traceparent: string | undefined
}

const HEAD_END = Buffer.from('\r\n\r\n')
const MAX_HEAD_BYTES = 4_096
/** Headers that affect a JSON request in no way but those read here. With `traceparent` every head differs, and is parsed. */
const COMMON: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'content-type',
  'content-length',
  'connection',
  'user-agent',
  'accept',
  'accept-encoding',
  'accept-language',
  'sec-fetch-mode',
  'traceparent',
])
const VALUE = /^[\t\x20-\x7e]*$/
const LENGTH = /^[1-9][0-9]{0,4}$/

/**
 * Recognises requests that may take the short way on a connection: a whole request in one read, with common headers
 * only, each once. Requests that it does not recognise may be equally valid; Node's parser reads those. Apart from
 * Content-Length, a connection's head hardly changes between requests, so it is compared with the previous one and rarely
 * parsed.
 */
export class ShortHeads {
  readonly #start: Buffer
  #known: KnownHead | null = null

  /** `target`: method and path, `POST /v1/sendsms`. */
  constructor(target: string) {
    this.#start = Buffer.from(`${target} HTTP/1.1\r\n`)
  }

  read(bytes: Buffer): ShortRequest | null {
    const known = this.#known
    const request = known === null ? null : requestWith(known, bytes)
    if (request !== null) return request
    this.#known = this.#headOf(bytes)
    return this.#known === null ? null : requestWith(this.#known, bytes)
  }

  #headOf(bytes: Buffer): KnownHead | null {
    const start = this.#start
    const end = bytes.indexOf(HEAD_END)
    if (end < start.length || end > MAX_HEAD_BYTES || !isAt(bytes, 0, start)) return null
    const headers: Record<string, string> = {}
    const rawHeaders: string[] = []
    let at = start.length
    let digitsAt = -1
    for (const line of bytes.toString('latin1', start.length, end).split('\r\n')) {
      const colon = line.indexOf(':')
      const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
      const value = line.slice(colon + 1)
      if (!COMMON.has(name) || headers[name] !== undefined || !VALUE.test(value)) return null
      const trimmed = value.trim()
      headers[name] = trimmed
      rawHeaders.push(name, trimmed)
      if (name === 'content-length') digitsAt = at + line.length - value.trimStart().length
      at += line.length + 2
    }
    const length = headers['content-length'] ?? ''
    const tokenHash = bearerHash(headers.authorization ?? '', 'customer')
    const isKept = (headers.connection ?? 'keep-alive').toLowerCase() === 'keep-alive'
    const isWellFormed = messageFault({ headers, rawHeaders, httpVersion: '1.1', url: '' }) === null
    if (!LENGTH.test(length) || tokenHash === null || !isKept || !isWellFormed) return null
    if (!isPlainJson({ headers, rawHeaders })) return null
    return {
      before: Buffer.from(bytes.subarray(0, digitsAt)),
      after: Buffer.from(bytes.subarray(digitsAt + length.length, end + HEAD_END.length)),
      tokenHash,
      traceparent: headers.traceparent,
    }
  }
}

/** Null when the bytes have another head, or are not exactly one whole request. */
function requestWith(
  { before, after, tokenHash, traceparent }: KnownHead,
  bytes: Buffer,
): ShortRequest | null {
  if (!isAt(bytes, 0, before)) return null
  let length = 0
  let at = before.length
  for (; at < bytes.length && isDigit(bytes[at]!) && length < 10_000; at += 1)
    length = length * 10 + bytes[at]! - 0x30
  const bodyAt = at + after.length
  const isWhole = length > 0 && bytes[before.length] !== 0x30 && bytes.length === bodyAt + length
  return isWhole && isAt(bytes, at, after) ? { tokenHash, traceparent, body: bytes.subarray(bodyAt) } : null
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

function isAt(bytes: Buffer, at: number, expected: Buffer): boolean {
  const end = at + expected.length
  return bytes.length >= end && bytes.compare(expected, 0, expected.length, at, end) === 0
}
