import { BoundedMap } from '../../collections/bounded-map.ts'
import type { RateLimit } from '../configuration/configuration.ts'

/** A rate limit as an account or a plan has it in the database. */
export interface RateLimitColumns {
  readonly messagesPerSecond: number | null
  readonly burst: number | null
}

/** As an operator gives it: without its own burst, a limit allows one second's worth at once. */
export interface RateLimitSetting {
  readonly messagesPerSecond: number
  readonly burst?: number
}

export function completeRateLimit(rateLimit: RateLimitSetting | null) {
  return rateLimit && { ...rateLimit, burst: rateLimit.burst ?? rateLimit.messagesPerSecond }
}

/** `rateLimit` of a request as columns; an absent one changes nothing, null lifts the limit. */
export function rateLimitColumns(rateLimit: RateLimitSetting | null | undefined): Partial<RateLimitColumns> {
  if (rateLimit === undefined) return {}
  return { messagesPerSecond: rateLimit?.messagesPerSecond ?? null, burst: rateLimit?.burst ?? null }
}

/** The columns as `rateLimit` in an answer. */
export function rateLimitField({ messagesPerSecond, burst }: RateLimitColumns) {
  return messagesPerSecond === null ? null : { messagesPerSecond, burst: burst ?? messagesPerSecond }
}

/** Tokens left in a bucket as of `updatedMs`. */
interface Bucket {
  tokens: number
  updatedMs: number
}

function tokensIn({ tokens, updatedMs }: Bucket, { perSecond, burst }: RateLimit, nowMs: number): number {
  // A clock set back adds nothing; a limit lowered meanwhile takes away what is above its burst.
  const elapsedMs = Math.max(0, nowMs - updatedMs)
  return Math.min(burst, tokens + (elapsedMs * perSecond) / 1000)
}

/** Most buckets kept. Beyond it the one opened first is forgotten, which gives its owner a full burst again. */
const MAX_BUCKETS = 100_000

/** Buckets that may be shared with other processes: then a method returns a promise where it has to ask them. */
export interface RateSource<Key extends number | string = number> {
  /** See `RateLimiter`. Rejects if the other processes cannot be asked. */
  take(key: Key, limit: RateLimit, nowMs: number, count?: number): number | Promise<number>
  left(key: Key, limit: RateLimit, nowMs: number): number | Promise<number>
}

/** One bucket per key (an account, a plan or an address). Its clock is the `nowMs` it is given. */
export class RateLimiter<Key extends number | string = number> implements RateSource<Key> {
  readonly #buckets: BoundedMap<Key, Bucket>

  constructor(maxBuckets = MAX_BUCKETS) {
    this.#buckets = new BoundedMap(maxBuckets)
  }

  /**
   * Takes `count` tokens or none. Returns 0 when the request may pass; otherwise the milliseconds until it may. One for more
   * than a burst waits for a full bucket, and leaves it in debt.
   */
  take(key: Key, limit: RateLimit, nowMs: number, count = 1): number {
    const bucket = this.#buckets.get(key) ?? this.#open(key, limit, nowMs)
    bucket.tokens = tokensIn(bucket, limit, nowMs)
    bucket.updatedMs = nowMs
    const needed = Math.min(count, limit.burst)
    if (bucket.tokens < needed) return ((needed - bucket.tokens) / limit.perSecond) * 1000
    bucket.tokens -= count
    return 0
  }

  /** How many requests may pass now. Takes nothing. */
  left(key: Key, limit: RateLimit, nowMs: number): number {
    const bucket = this.#buckets.get(key)
    return bucket === undefined ? limit.burst : Math.max(0, Math.floor(tokensIn(bucket, limit, nowMs)))
  }

  #open(key: Key, { burst }: RateLimit, nowMs: number): Bucket {
    const bucket = { tokens: burst, updatedMs: nowMs }
    this.#buckets.set(key, bucket)
    return bucket
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
