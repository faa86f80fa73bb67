import { createCipheriv, createDecipheriv } from 'node:crypto'

/** Lists that are paged by cursor. A cursor of one list does not open another. */
export type ListName = 'messages' | 'inbound-messages' | 'events' | 'destinations' | 'feed'

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

export const CURSOR_IV_BYTES = 12

const CIPHER = 'aes-256-gcm'
const TAG_BYTES = 16
/** First byte of every cursor; another form of the contents gets another number. */
const VERSION = Buffer.from([2])
/** The longest sealed cursor has some 900 characters: a filter by a callback's host and port. */
const MAX_LENGTH = 2048

/**
 * Seals a cursor with AES-256-GCM, so that it can be neither read nor changed: base64url of version, iv, ciphertext, tag.
 * `key` has 32 bytes; `iv` 12, never used twice with one key.
 */
export function sealCursor(cursor: Cursor<unknown, unknown>, key: Uint8Array, iv: Uint8Array): string {
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(VERSION)
  const sealed = Buffer.concat([VERSION, iv, cipher.update(JSON.stringify(cursor)), cipher.final()])
  return Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url')
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
  if (bytes.length <= VERSION.length + CURSOR_IV_BYTES + TAG_BYTES || bytes[0] !== VERSION[0]) return null
  for (const key of keys) {
    const cursor = decrypt<Filters, Position>(bytes, key)
    if (cursor === null) continue
    const { list, planId, expiresAtMs } = cursor
    const expired = expiresAtMs !== null && expiresAtMs <= nowMs
    return list === of.list && planId === of.planId && !expired ? cursor : null
  }
  return null
}

function decrypt<Filters, Position>(bytes: Buffer, key: Uint8Array): Cursor<Filters, Position> | null {
  const iv = bytes.subarray(VERSION.length, VERSION.length + CURSOR_IV_BYTES)
  const sealed = bytes.subarray(VERSION.length + CURSOR_IV_BYTES, -TAG_BYTES)
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES })
  decipher.setAAD(VERSION).setAuthTag(bytes.subarray(-TAG_BYTES))
  const start = decipher.update(sealed)
  try {
    return JSON.parse(Buffer.concat([start, decipher.final()]).toString()) as Cursor<Filters, Position>
  } catch {
    // final() throws when the tag does not match.
    return null
  }
}
