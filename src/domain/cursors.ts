import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { MessageFilters } from './message-filters.ts'

/** Where a list goes on: the query it belongs to, and the last message it gave. */
export interface Cursor {
  readonly planId: number
  readonly filters: MessageFilters
  readonly limit: number
  /** The next page begins below this id. */
  readonly beforeMsgId: string
  readonly expiresAtMs: number
}

export const CURSOR_LIFETIME_MS = 24 * 3_600_000
export const CURSOR_IV_BYTES = 12

const CIPHER = 'aes-256-gcm'
const TAG_BYTES = 16
/** First byte of every cursor; another form of the contents gets another number. */
const VERSION = Buffer.from([1])
/** The longest that sealing gives is some 400 characters. */
const MAX_LENGTH = 1024

/**
 * Seals a cursor with AES-256-GCM, so that it can be neither read nor changed: base64url of version, iv, ciphertext, tag.
 * `key` has 32 bytes; `iv` 12, never used twice with one key.
 */
export function sealCursor(cursor: Cursor, key: Uint8Array, iv: Uint8Array): string {
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(VERSION)
  const sealed = Buffer.concat([VERSION, iv, cipher.update(JSON.stringify(cursor)), cipher.final()])
  return Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Opens a cursor sealed with any of the keys; null when it was tampered with, is not one, or has expired. */
export function openCursor(text: string, keys: readonly Uint8Array[], nowMs: number): Cursor | null {
  if (text.length > MAX_LENGTH) return null
  const bytes = Buffer.from(text, 'base64url')
  // Only the canonical text: decoding skips what is no base64url, and the bits of a last character that carry nothing.
  if (bytes.toString('base64url') !== text) return null
  if (bytes.length <= VERSION.length + CURSOR_IV_BYTES + TAG_BYTES || bytes[0] !== VERSION[0]) return null
  for (const key of keys) {
    const cursor = decrypt(bytes, key)
    if (cursor !== null) return cursor.expiresAtMs > nowMs ? cursor : null
  }
  return null
}

function decrypt(bytes: Buffer, key: Uint8Array): Cursor | null {
  const iv = bytes.subarray(VERSION.length, VERSION.length + CURSOR_IV_BYTES)
  const sealed = bytes.subarray(VERSION.length + CURSOR_IV_BYTES, -TAG_BYTES)
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES })
  decipher.setAAD(VERSION).setAuthTag(bytes.subarray(-TAG_BYTES))
  const start = decipher.update(sealed)
  try {
    return JSON.parse(Buffer.concat([start, decipher.final()]).toString()) as Cursor
  } catch {
    // final() throws when the tag does not match.
    return null
  }
}
