import type { IncomingMessage } from 'node:http'
import { type AppError, invalidField, WHOLE_REQUEST } from '../errors.ts'
import { countHeader } from './wire/message-faults.ts'

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses a JSON body: bytes that are UTF-8 (RFC 8259 §8.1), nested at most `maxDepth` deep. A key `__proto__` becomes an
 * ordinary property. Throws VALIDATION_ERROR.
 */
export function parseJson(bytes: Uint8Array, maxDepth: number): unknown {
  let text: string
  try {
    text = UTF8.decode(bytes)
  } catch {
    throw refuse('INVALID_UTF8', 'must be UTF-8')
  }
  if (isDeeperThan(text, maxDepth)) throw refuse('TOO_DEEP', `must be nested at most ${maxDepth} deep`)
  try {
    return JSON.parse(text)
  } catch {
    throw refuse('MALFORMED_JSON', text.trim() === '' ? 'needs a JSON body' : 'must be valid JSON')
  }
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

/** Checked before parsing, in one pass that builds nothing. Brackets inside strings do not count. */
function isDeeperThan(text: string, maxDepth: number): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) at = endOfString(text, at)
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) depth += 1
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) depth -= 1
    if (depth > maxDepth) return true
  }
  return false
}

/** Where the string that opens at `start` closes; the end of the text when it does not. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

/** Whether an odd number of backslashes precedes it. */
function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1
  return (at - first) % 2 === 1
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
