import { hash, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { openSecret, SecretError, type SecretKeys, sealSecret } from './secrets.ts'

/**
 * Access tokens: `aldis_`, 43 base62 digits of 256 random bits, 6 base62 digits of CRC-32 over what stands before.
 * The prefix lets secret scanners find a leaked one, and the checksum tells them that it is one.
 */
const PREFIX = 'aldis_'
const RANDOM_BYTES = 32
/** 62^43 > 2^256 and 62^6 > 2^32. */
const RANDOM_DIGITS = 43
const CHECKSUM_DIGITS = 6
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** What a token may be limited to: sending, reading records and events, and everything below `/v1/webhooks`. */
export const TOKEN_SCOPES = ['send', 'read', 'webhooks'] as const
export type TokenScope = (typeof TOKEN_SCOPES)[number]

/** What an operator may do: everything, or only read. */
export const OPERATOR_ROLES = ['admin', 'support'] as const
type OperatorRole = (typeof OPERATOR_ROLES)[number]

/** Who calls the admin API: the name of the token, and what it may do. */
export interface Operator {
  readonly name: string
  readonly role: OperatorRole
}

/** Whoever has a token of OPERATOR_TOKEN. No other operator token has this name. */
export const ENVIRONMENT_OPERATOR: Operator = { name: 'environment', role: 'admin' }

/** Longest Authorization credential that is looked at, in characters. */
export const MAX_TOKEN_LENGTH = 512

/** Makes a token of exactly 32 random bytes. Throws RangeError on any other number. */
export function makeToken(random: Uint8Array): string {
  if (random.length !== RANDOM_BYTES) throw new RangeError(`a token is made of ${RANDOM_BYTES} random bytes`)
  const start = PREFIX + base62(BigInt(`0x${Buffer.from(random).toString('hex')}`), RANDOM_DIGITS)
  return start + checksum(start)
}

/** SHA-256, lower-case hex: the stored form. 256 random bits need no slow hash. */
export function hashToken(text: string): string {
  return hash('sha256', text)
}

/**
 * What is stored of a token: its hash, and the hint that lists show, enough to tell it from others: `aldis_…` and its last
 * four characters.
 */
export function storedToken(token: string): { hint: string; hash: Buffer } {
  return { hint: `${PREFIX}…${token.slice(-4)}`, hash: Buffer.from(hashToken(token), 'hex') }
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_DIGITS)
}

function base62(value: bigint, digits: number): string {
  let text = ''
  for (let rest = value; text.length < digits; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text
  return text
}

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

/** Whose token a session of the console stands for. A browser may have one of each. */
export const SESSION_KINDS = ['customer', 'operator'] as const
export type SessionKind = (typeof SESSION_KINDS)[number]

/** All that a session is: nothing of it is stored in the service, so it ends with its token or its time. */
export interface ConsoleSession {
  /** SHA-256, lower-case hex, of the token that stands behind it. */
  readonly tokenHash: string
  /** Unix milliseconds. */
  readonly expiresAtMs: number
}

export const SESSION_MS = 12 * 60 * 60 * 1_000
/** A sealed session has 200 characters. */
const MAX_SESSION_LENGTH = 512

/** Seals a session, so that nobody can read it, change it or use it as one of another kind. `iv`: 12 fresh bytes. */
export function sealSession(
  kind: SessionKind,
  session: ConsoleSession,
  keys: SecretKeys,
  iv: Uint8Array,
): string {
  return sealSecret(keys, JSON.stringify(session), iv, contextOf(kind))
}

/** Null when the text was not sealed with one of the keys, was changed, is of another kind, or has expired. */
export function openSession(
  kind: SessionKind,
  text: string,
  keys: SecretKeys,
  nowMs: number,
): ConsoleSession | null {
  if (text.length > MAX_SESSION_LENGTH) return null
  try {
    const session = JSON.parse(openSecret(keys, text, contextOf(kind))) as ConsoleSession
    return session.expiresAtMs > nowMs ? session : null
  } catch (error) {
    if (error instanceof SecretError) return null
    throw error
  }
}

function contextOf(kind: SessionKind): string {
  return `console session ${kind}`
}
