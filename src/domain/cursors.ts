import { decrypt, encrypt } from './secrets.ts'

/** Lists that are paged by cursor. A cursor of one list does not open another. */
export type ListName = 'messages' | 'inbound-messages' | 'events' | 'destinations' | 'senders' | 'feed'

/** A part of a list, in the list's order. */
export interface Page<Filters, Position> {
  readonly planId: number
  /** Canonical: equal queries have equal filters. */
  readonly filters: Filters
  /** Items at most. */
  readonly limit: number
  /** The page begins after this item of the page before; null for the first page. */
  readonly after: Position | null
}

/** Where a list continues. All of it is JSON. */
export interface Cursor<Filters, Position> extends Page<Filters, Position> {
  readonly list: ListName
  readonly after: Position
  /** Unix milliseconds; null: never. */
  readonly expiresAtMs: number | null
}

/** First byte of every cursor, and the context of its seal; another form of the contents gets another number. */
const VERSION = 2
const CONTEXT = String.fromCharCode(VERSION)
/** The longest sealed cursor has some 900 characters: a filter by a callback's host and port. */
const MAX_LENGTH = 2048

/**
 * Seals a cursor, so that it can be neither read nor changed: base64url of the version and the sealed JSON. `key` has 32
 * bytes; `iv` 12, never used twice with one key.
 */
export function sealCursor(cursor: Cursor<unknown, unknown>, key: Uint8Array, iv: Uint8Array): string {
  const sealed = encrypt(key, JSON.stringify(cursor), iv, CONTEXT)
  return Buffer.concat([Buffer.of(VERSION), sealed]).toString('base64url')
}

/**
 * Opens a cursor sealed with any of the keys. Null when it was tampered with, is not a cursor, belongs to another list or
 * plan, or has expired. The caller knows the types of the list's filters and positions.
 */
export function openCursor<Filters, Position>(
  text: string,
  of: { readonly list: ListName; readonly planId: number },
  keys: readonly Uint8Array[],
  nowMs: number,
): Cursor<Filters, Position> | null {
  if (text.length > MAX_LENGTH) return null
  const bytes = Buffer.from(text, 'base64url')
  // Only the canonical text: decoding skips characters outside base64url, and the unused bits of the last one.
  if (bytes.toString('base64url') !== text) return null
  if (bytes[0] !== VERSION) return null
  for (const key of keys) {
    const json = decrypt(key, bytes.subarray(1), CONTEXT)
    if (json === null) continue
    const cursor = JSON.parse(json) as Cursor<Filters, Position>
    const isExpired = cursor.expiresAtMs !== null && cursor.expiresAtMs <= nowMs
    return cursor.list === of.list && cursor.planId === of.planId && !isExpired ? cursor : null
  }
  return null
}
