import { type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

/**
 * Passwords that people choose, at rest: scrypt (RFC 7914) makes guessing one cost 16 MiB and some 50 ms.
 * `scrypt.<N>.<r>.<p>.<salt>.<key>`, the last two in base64url.
 */
const COST = { N: 16_384, r: 8, p: 1 } as const
export const SALT_BYTES = 16
const HASH_BYTES = 32

/** In the form of a hash; no password has it. */
export const NO_PASSWORD = `scrypt.${COST.N}.${COST.r}.${COST.p}.${'A'.repeat(22)}.${'A'.repeat(43)}`

const derive = promisify<string, Uint8Array, number, ScryptOptions, Buffer>(scrypt)

/** `salt`: SALT_BYTES fresh random bytes. */
export async function hashPassword(password: string, salt: Uint8Array): Promise<string> {
  const { N, r, p } = COST
  const key = await derive(password, salt, HASH_BYTES, COST)
  return ['scrypt', N, r, p, Buffer.from(salt).toString('base64url'), key.toString('base64url')].join('.')
}

/** Whether `stored` is of this password. Takes the same time for a right and a wrong one. */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [, N, r, p, salt = '', key = ''] = stored.split('.')
  const expected = Buffer.from(key, 'base64url')
  const options = { N: Number(N), r: Number(r), p: Number(p) }
  const found = await derive(password, Buffer.from(salt, 'base64url'), HASH_BYTES, options)
  return found.length === expected.length && timingSafeEqual(found, expected)
}
