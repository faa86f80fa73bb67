import type { RateLimit } from './configuration.ts'

/** Tokens left in a bucket as of `updatedMs`. */
export interface Bucket {
  readonly tokens: number
  readonly updatedMs: number
}

/** Takes one token: the bucket afterwards, and how long until the next token when there was none (else 0). */
export function takeToken(
  bucket: Bucket | undefined,
  limit: RateLimit,
  nowMs: number,
): { bucket: Bucket; waitMs: number } {
  // A clock set back adds nothing; a limit lowered meanwhile takes away what is above its burst.
  const elapsedMs = bucket === undefined ? 0 : Math.max(0, nowMs - bucket.updatedMs)
  const before = bucket === undefined ? limit.burst : bucket.tokens
  const tokens = Math.min(limit.burst, before + (elapsedMs * limit.perSecond) / 1000)
  if (tokens >= 1) return { bucket: { tokens: tokens - 1, updatedMs: nowMs }, waitMs: 0 }
  return { bucket: { tokens, updatedMs: nowMs }, waitMs: ((1 - tokens) / limit.perSecond) * 1000 }
}

/** Most buckets kept. Beyond it the one opened first is forgotten, which gives its owner a full burst again. */
const MAX_BUCKETS = 100_000

/** One bucket per key (an account or a plan). Its clock is the `nowMs` it is given. */
export class RateLimiter {
  readonly #buckets = new Map<number, Bucket>()
  readonly #maxBuckets: number

  constructor(maxBuckets = MAX_BUCKETS) {
    this.#maxBuckets = maxBuckets
  }

  /** 0 when the request may pass; otherwise the milliseconds until one may. */
  take(key: number, limit: RateLimit, nowMs: number): number {
    const known = this.#buckets.get(key)
    if (known === undefined && this.#buckets.size >= this.#maxBuckets) {
      for (const [oldest] of this.#buckets) {
        this.#buckets.delete(oldest)
        break
      }
    }
    const { bucket, waitMs } = takeToken(known, limit, nowMs)
    this.#buckets.set(key, bucket)
    return waitMs
  }

  get size(): number {
    return this.#buckets.size
  }
}

/**
 * Headers of a 429: Retry-After in whole seconds (RFC 9110 §10.2.3) and the IETF fields RateLimit-Policy (q: quota, w: window
 * in seconds) and RateLimit (r: remaining, t: seconds until more). `name` tells which limit refused.
 */
export function refusalHeaders(name: string, limit: RateLimit, waitMs: number): Record<string, string> {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  const windowSeconds = Math.max(1, Math.ceil(limit.burst / limit.perSecond))
  return {
    'retry-after': String(seconds),
    'ratelimit-policy': `"${name}";q=${limit.burst};w=${windowSeconds}`,
    ratelimit: `"${name}";r=0;t=${seconds}`,
  }
}
