import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'

/**
 * Secrets at rest. A sealed secret is `v1.<key id, 8 hex digits>.<base64url of iv, ciphertext and tag>`. The key id tells a
 * wrong key from damaged data.
 */
const VERSION = 'v1'
const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
/** The length of an initialisation vector, which is random and never used twice with one key. */
export const IV_BYTES = 12
const TAG_BYTES = 16
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/

/** The key that seals, then the keys that still open what was sealed with an earlier one or with the next. */
export type SecretKeys = Uint8Array | readonly [Uint8Array, ...Uint8Array[]]

export type KeyPurpose = 'secrets' | 'cursors' | 'sessions'

/** The secret was not sealed with this key, or not for this context, or is damaged. The message names no secret. */
export class SecretError extends Error {
  override readonly name = 'SecretError'
}

/** Returns iv, ciphertext and tag of AES-256-GCM (NIST SP 800-38D), which opens under the same key and context only. */
export function encrypt(key: Uint8Array, text: string, iv: Uint8Array, context: string): Buffer {
  if (iv.length !== IV_BYTES) throw new RangeError(`the initialisation vector has ${IV_BYTES} bytes`)
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(context))
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** Returns the text that `encrypt` sealed; null if it was changed, or sealed with another key or for another context. */
export function decrypt(key: Uint8Array, sealed: Buffer, context: string): string | null {
  if (sealed.length < IV_BYTES + TAG_BYTES) return null
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-TAG_BYTES))
  const start = decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES))
  try {
    return Buffer.concat([start, decipher.final()]).toString()
  } catch {
    // final() throws when the tag does not match.
    return null
  }
}

/** A 32-byte key for one purpose, by HKDF-SHA-256 (RFC 5869), so that no two uses share a key. */
export function deriveKey(masterKey: Uint8Array, purpose: KeyPurpose): Buffer {
  if (masterKey.length < KEY_BYTES) {
    throw new RangeError(`the master key has at least ${KEY_BYTES} bytes`)
  }
  return Buffer.from(hkdfSync('sha256', masterKey, '', `aldis ${purpose}`, KEY_BYTES))
}

/**
 * Seals a text. `iv` is 12 fresh random bytes. `context` says whose secret it is (`account 5f… webhook`): opened under
 * another context it fails, so one row's secret cannot be put into another.
 */
export function sealSecret(keys: SecretKeys, plaintext: string, iv: Uint8Array, context: string): string {
  const key = sealingKey(keys)
  return `${VERSION}.${keyId(key)}.${encrypt(key, plaintext, iv, context).toString('base64url')}`
}

/** Whether the secret was sealed with the key that seals now. */
export function isSealedAnew(keys: SecretKeys, sealed: string): boolean {
  return SEALED.exec(sealed)?.[1] === sealingKeyId(keys)
}

/** The id of the sealing key, as every sealed secret shows it. It tells nothing about the key. */
export function sealingKeyId(keys: SecretKeys): string {
  return keyId(sealingKey(keys))
}

function sealingKey(keys: SecretKeys): Uint8Array {
  return keys instanceof Uint8Array ? keys : keys[0]
}

/** The text of a sealed secret. Throws SecretError. */
export function openSecret(keys: SecretKeys, sealed: string, context: string): string {
  const parts = SEALED.exec(sealed)
  if (parts === null) throw new SecretError(`secret of ${context}: not a sealed secret`)
  const key = (keys instanceof Uint8Array ? [keys] : keys).find((one) => keyId(one) === parts[1])
  if (key === undefined) {
    throw new SecretError(`secret of ${context}: was sealed with another SECRET_KEY than the one configured`)
  }
  const text = decrypt(key, Buffer.from(parts[2]!, 'base64url'), context)
  if (text === null) throw new SecretError(`secret of ${context}: damaged, or sealed for something else`)
  return text
}

export function accountSecretContext(accountId: string): string {
  return `account ${accountId}`
}

export function accountHeadersContext(accountId: string): string {
  return `account ${accountId} webhook headers`
}

export function carrierSecretContext(carrierId: number): string {
  return `carrier ${carrierId}`
}

function keyId(key: Uint8Array): string {
  return createHmac('sha256', key).update('key id').digest('hex').slice(0, 8)
}

/** Replaces the value of what is kept secret. */
export const HIDDEN = '***'
/** Replaces a value that no key opens. */
const UNREADABLE = 'unreadable'

/** What `open` returns. An object with a value that no key opens must remain possible to repair, stop and delete. */
export function orUnreadable<T>(open: () => T): T | typeof UNREADABLE {
  try {
    return open()
  } catch (error) {
    if (error instanceof SecretError) return UNREADABLE
    throw error
  }
}
