import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'

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
