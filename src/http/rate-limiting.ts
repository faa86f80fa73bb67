import type { FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Account, RateLimit } from '../domain/configuration/configuration.ts'
import { type RateLimiter, refusalHeaders } from '../domain/limits/rate-limits.ts'
import { AppError } from '../errors.ts'
import { tokenOf } from './authentication.ts'

/** Takes one token from the bucket `key`, or `count` at once, or throws 429. `name` appears in the RateLimit headers. */
export function takeOrRefuse<Key extends number | string>(
  limiter: RateLimiter<Key>,
  take: { name: string; key: Key; limit: RateLimit; nowMs: number; count?: number },
): void {
  const { name, key, limit, nowMs, count } = take
  const waitMs = limiter.take(key, limit, nowMs, count)
  if (waitMs > 0) throw new AppError('RATE_LIMITED', { headers: refusalHeaders(name, limit, waitMs) })
}

/** A hook that applies a limit to each account; null is no limit. */
export function limitAccounts(options: {
  name: string
  limiter: RateLimiter
  limitOf: (account: Account) => RateLimit | null
  clock: () => number
}) {
  const { name, limiter, limitOf, clock } = options
  return (request: FastifyRequest, _reply: unknown, done: HookHandlerDoneFunction) => {
    const { account } = tokenOf(request)
    const limit = limitOf(account)
    if (limit !== null) takeOrRefuse(limiter, { name, key: account.id, limit, nowMs: clock() })
    done()
  }
}
