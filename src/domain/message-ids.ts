/**
 * Message ids are UUIDv7 (RFC 9562 §5.7): 48 bits of Unix milliseconds, then random bits. The last byte is the
 * bucket, the unit in which nodes share out work.
 */

export const BUCKETS = 256

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Any UUID in its 36-character form, either case. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** `random` gives at least 9 bytes; `bucket` 0-255. */
export function messageId(nowMs: number, random: Uint8Array, bucket: number): string {
  const time = nowMs.toString(16).padStart(12, '0')
  const a = hex(0x70 | (random[0]! & 0x0f)) + hex(random[1]!)
  const b = hex(0x80 | (random[2]! & 0x3f)) + hex(random[3]!)
  const c =
    hex(random[4]!) + hex(random[5]!) + hex(random[6]!) + hex(random[7]!) + hex(random[8]!) + hex(bucket)
  return `${time.slice(0, 8)}-${time.slice(8)}-${a}-${b}-${c}`
}

export function createdAtMs(msgId: string): number {
  return Number.parseInt(msgId.slice(0, 8) + msgId.slice(9, 13), 16)
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

/** Least id of a millisecond: every id made at `ms` or later is not below it. */
export function lowestIdAt(ms: number): string {
  return boundary(ms, '0000-0000-000000000000')
}

/** Greatest id of a millisecond: every id made at `ms` or earlier is not above it. */
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

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function hex(byte: number): string {
  return HEX[byte]!
}
