/**
 * Message ids are UUIDv7 (RFC 9562 §5.7): 48 bits of Unix milliseconds, then random bits. The last byte is the
 * bucket, the unit in which nodes share out work.
 */

export const BUCKETS = 256

/** Of an account or a service plan, in either case. */
export const PUBLIC_ID = /^[a-fA-F0-9]{24}$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Any UUID in its 36-character form, either case. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** Where the octets of a UUID have their two digits in its text. */
const UUID_PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const DIGIT_OF = Uint8Array.from(
  { length: 128 },
  (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0,
)

/** Returns the place behind its 16 octets. Takes a quarter of the time of Buffer's own hex, which cannot read hyphens. */
export function writeUuid(to: Buffer, start: number, uuid: string): number {
  let at = start
  for (const place of UUID_PLACES) to[at++] = octetAt(uuid, place)
  return at
}

/** The octet whose two hexadecimal digits begin there. */
function octetAt(text: string, place: number): number {
  return (DIGIT_OF[text.charCodeAt(place)]! << 4) | DIGIT_OF[text.charCodeAt(place + 1)]!
}

const TIME_OCTETS = 6
const DIGITS = Buffer.from('0123456789abcdef')
const octets = Buffer.alloc(16)
const characters = Buffer.alloc(36, '-')

/** `random` has at least 9 bytes; `bucket` 0-255. */
export function messageId(nowMs: number, random: Uint8Array, bucket: number): string {
  octets.writeUIntBE(nowMs, 0, 6)
  for (let index = 0; index < 9; index += 1) octets[6 + index] = random[index]!
  octets[6] = 0x70 | (octets[6]! & 0x0f)
  octets[8] = 0x80 | (octets[8]! & 0x3f)
  octets[15] = bucket
  // A concatenated text costs as much again when it is first looked up.
  for (let index = 0; index < octets.length; index += 1) {
    const place = UUID_PLACES[index]!
    characters[place] = DIGITS[octets[index]! >> 4]!
    characters[place + 1] = DIGITS[octets[index]! & 0x0f]!
  }
  return characters.toString('latin1')
}

/** Unix milliseconds. */
export function createdAtMs(msgId: string): number {
  let ms = 0
  for (let index = 0; index < TIME_OCTETS; index += 1) ms = ms * 256 + octetAt(msgId, UUID_PLACES[index]!)
  return ms
}

export function bucketOf(msgId: string): number {
  return Number.parseInt(msgId.slice(34), 16)
}

const GOLDEN_RATIO = 0.618033988749895

/**
 * A number from 0 to below 1, evenly spread over messages and the same on every node. Each attempt of a message has its
 * own; those that follow each other are far apart.
 */
export function drawOf(msgId: string, attempt: number): number {
  return (Number.parseInt(msgId.slice(24, 32), 16) / 2 ** 32 + attempt * GOLDEN_RATIO) % 1
}

/**
 * Another such number, of 20 random bits that `drawOf` does not use: messages that are chosen by it are spread over carriers
 * like all others.
 */
export function sampleOf(msgId: string): number {
  return (((octetAt(msgId, 14) & 0x0f) << 16) | (octetAt(msgId, 16) << 8) | octetAt(msgId, 21)) / 2 ** 20
}

/** Lowest id of a millisecond: no id made at `ms` or later is below it. */
export function lowestIdAt(ms: number): string {
  return boundary(ms, '0000-0000-000000000000')
}

/** Highest id of a millisecond: no id made at `ms` or earlier is above it. */
export function highestIdAt(ms: number): string {
  return boundary(ms, 'ffff-ffff-ffffffffffff')
}

const LAST_MS = 2 ** 48 - 1

function boundary(ms: number, rest: string): string {
  const time = Math.min(Math.max(Math.trunc(ms), 0), LAST_MS)
    .toString(16)
    .padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-${rest}`
}

// Public identifiers of accounts and service plans: 24 hex digits, lower case in the database.

const PUBLIC_ID_BYTES = 12

/** Writes 12 random bytes as an identifier. Throws RangeError on any other number. */
export function publicId(random: Uint8Array): string {
  if (random.length !== PUBLIC_ID_BYTES) {
    throw new RangeError(`an identifier is made of ${PUBLIC_ID_BYTES} random bytes`)
  }
  return Buffer.from(random).toString('hex')
}

/** The form identifiers are stored and compared in. */
export function canonicalPublicId(text: string): string {
  return text.toLowerCase()
}

/** Key of an event. `sequence`: 1, 2, … for the status changes of an outbound message; 0 for an inbound message. */
export interface EventKey {
  readonly msgId: string
  readonly sequence: number
}

const MAX_SEQ = 32_767

/** `{msgId}-{sequence}`: the `webhook-id` of every attempt to deliver it. */
export function eventId({ msgId, sequence }: EventKey): string {
  return `${msgId}-${sequence}`
}

/** Null when the text is not an event id. */
export function parseEventId(text: string): EventKey | null {
  const at = text.lastIndexOf('-')
  const msgId = text.slice(0, Math.max(at, 0))
  const digits = text.slice(at + 1)
  if (!isUuid(msgId) || !/^(?:0|[1-9][0-9]{0,4})$/.test(digits) || Number(digits) > MAX_SEQ) return null
  return { msgId: msgId.toLowerCase(), sequence: Number(digits) }
}
