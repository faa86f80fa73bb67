import type { IncomingMessage } from 'node:http'
import type { Steps } from '../collections/steps.ts'
import { type AppError, invalidField, WHOLE_REQUEST } from '../errors.ts'
import { countHeader } from './wire/message-faults.ts'

const UTF8 = new TextDecoder('utf-8', { fatal: true })
/** For a part of a text, which must not begin with a byte order mark. */
const UTF8_WITHIN = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses a JSON body: bytes that are UTF-8 (RFC 8259 §8.1), nested at most `maxDepth` deep. A key `__proto__` becomes an
 * ordinary property. Throws VALIDATION_ERROR.
 */
export function parseJson(bytes: Uint8Array, maxDepth: number): unknown {
  const text = decode(bytes)
  if (isDeeperThan(bytes, maxDepth)) throw tooDeep(maxDepth)
  return parse(text)
}

/**
 * Returns what `parseJson` does, but the objects within the outermost value are Maps, and refuses the same bodies. These
 * objects are cut at the commas between their members and parsed piece by piece. As an object, one with 200,000 members
 * would hold up everything for 20 ms when its names are listed, and for as long when its table has to grow.
 */
export function* parseJsonInSteps(bytes: Uint8Array, maxDepth: number): Steps<unknown> {
  const inner: Map<string, unknown>[] = []
  /** The text in which `"":0` stands for the members of the first of these objects, and so on. */
  let outer = ''
  let copied = 0
  for (const { from, to, isFirst, isLast } of yield* piecesOf(bytes, maxDepth)) {
    yield
    if (isFirst) {
      outer += `${decode(bytes.subarray(copied, from))}"":${inner.length}`
      inner.push(new Map())
    }
    const members = decode(bytes.subarray(from, to), UTF8_WITHIN)
    if (!isFirst && members.trim() === '') throw malformed('must be valid JSON')
    for (const [name, value] of Object.entries(parse(`{${members}}`) as object))
      inner.at(-1)!.set(name, value)
    if (isLast) copied = to
  }
  const whole = parse(outer + decode(bytes.subarray(copied))) as Record<string, Record<string, number>> | null
  if (typeof whole !== 'object' || whole === null) return whole
  for (const [name, value] of Object.entries(whole))
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      Object.defineProperty(whole, name, { ...PROPERTY, value: inner[value['']!] })
  return whole
}

/** As JSON.parse makes them, `__proto__` included. */
const PROPERTY = { enumerable: true, writable: true, configurable: true }

/** Members that are parsed without a pause, in some 0.3 ms. */
const MEMBERS_AT_ONCE = 250

/** Members of an object within the outermost value, without its braces. */
interface Piece {
  readonly from: number
  readonly to: number
  readonly isFirst: boolean
  readonly isLast: boolean
}

function* piecesOf(bytes: Uint8Array, maxDepth: number): Steps<Piece[]> {
  const pieces: Piece[] = []
  let depth = 0
  let from: number | null = null
  let isFirst = true
  let members = 0
  for (let at = 0; at < bytes.length; at++) {
    const unit = bytes[at]
    if (unit === QUOTE) at = endOfString(bytes, at)
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      depth += 1
      if (depth > maxDepth) throw tooDeep(maxDepth)
      if (depth !== 2 || unit !== OPEN_BRACE) continue
      ;[from, isFirst, members] = [at + 1, true, 0]
    } else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
      if (depth === 2 && from !== null) pieces.push({ from, to: at, isFirst, isLast: true })
      if (depth === 2) from = null
      depth -= 1
    } else if (unit === COMMA && depth === 2 && from !== null) {
      yield
      members += 1
      if (members % MEMBERS_AT_ONCE !== 0) continue
      pieces.push({ from, to: at, isFirst, isLast: false })
      ;[from, isFirst] = [at + 1, false]
    }
  }
  return pieces
}

function decode(bytes: Uint8Array, decoder = UTF8): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw refuse('INVALID_UTF8', 'must be UTF-8')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed(text.trim() === '' ? 'needs a JSON body' : 'must be valid JSON')
  }
}

function malformed(message: string): AppError {
  return refuse('MALFORMED_JSON', message)
}

function tooDeep(maxDepth: number): AppError {
  return refuse('TOO_DEEP', `must be nested at most ${maxDepth} deep`)
}

function refuse(code: string, message: string): AppError {
  return invalidField(WHOLE_REQUEST, code, message)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b
const CLOSE_BRACE = 0x7d
const CLOSE_BRACKET = 0x5d
const COMMA = 0x2c

/** Checked before parsing, in one pass that builds nothing. Brackets inside strings do not count. */
function isDeeperThan(bytes: Uint8Array, maxDepth: number): boolean {
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const unit = bytes[at]
    if (unit === QUOTE) at = endOfString(bytes, at)
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) depth += 1
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) depth -= 1
    if (depth > maxDepth) return true
  }
  return false
}

/** Where the string that opens at `start` closes; the end of the body or behind it when it does not. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

/** The type alone, or with parameters (RFC 9110 §8.3.1); only blanks and tabs are white space here. */
const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i
const CHARSET = /;[ \t]*charset=([^;]*)/gi
/** RFC 8259 §8.1: JSON is UTF-8, and US-ASCII is a part of it. */
const CHARSETS: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii'])

/**
 * Whether the headers say that the body is plain JSON in UTF-8: by type and charset, not compressed, and nothing given
 * twice.
 */
export function isPlainJson({
  headers,
  rawHeaders,
}: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): boolean {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers
  if (!JSON_TYPE.test(type) || encoding.toLowerCase() !== 'identity') return false
  for (const [, charset = ''] of type.matchAll(CHARSET)) {
    if (
      !CHARSETS.has(
        charset
          .trim()
          .replace(/^"(.*)"$/, '$1')
          .toLowerCase(),
      )
    )
      return false
  }
  return countHeader(rawHeaders, 'content-type') === 1
}
