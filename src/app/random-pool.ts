import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 16_384

/** Cryptographically strong random bytes, drawn from the system many at a time: ids need a few for each message. */
export function randomPool(): (bytes: number) => Buffer {
  const pool = Buffer.alloc(POOL_BYTES)
  let used = POOL_BYTES
  return (bytes) => {
    if (used + bytes > POOL_BYTES) {
      randomFillSync(pool)
      used = 0
    }
    used += bytes
    return Buffer.from(pool.subarray(used - bytes, used))
  }
}
