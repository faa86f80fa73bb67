import type { IncomingMessage } from 'node:http'
import { countHeader } from './header-counts.ts'

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
