import type { FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Account, RateLimit } from '../domain/configuration/configuration.ts'
import { type RateLimiter, type RateSource, refusalHeaders } from '../domain/limits/rate-limits.ts'
import { AppError } from '../errors.ts'
import { tokenOf } from './authentication.ts'
import { unavailable } from './outages.ts'

interface Take<Key extends number | string = number> {
  /** Appears in the RateLimit headers. */
  readonly name: string
  readonly key: Key
  readonly limit: RateLimit
  readonly nowMs: number
  readonly count?: number
}

/** Takes one token from the bucket `key`, or `count` at once, or throws 429. */
export function takeOrRefuse<Key extends number | string>(limiter: RateLimiter<Key>, take: Take<Key>): void {
  const { key, limit, nowMs, count } = take
  refuseFor(limiter.take(key, limit, nowMs, count), take)
}

/** As `takeOrRefuse`, of a bucket that other processes may share. Throws 503 if they cannot be asked. */
export async function takeSharedOrRefuse(source: RateSource, take: Take): Promise<void> {
  const { key, limit, nowMs, count } = take
  refuseFor(await asked(source.take(key, limit, nowMs, count)), take)
}

/** What the other processes answer. That they do not is logged where it is noticed. */
export async function asked(answer: number | Promise<number>): Promise<number> {
  if (typeof answer === 'number') return answer
  return await answer.catch(() => {
    throw unavailable()
  })
}

function refuseFor(waitMs: number, { name, limit }: Take<number | string>): void {
  if (waitMs > 0) throw new AppError('RATE_LIMITED', { headers: refusalHeaders(name, limit, waitMs) })
}

/** A hook that applies a limit to each account; null is no limit. */
export function limitAccounts(options: {
  name: string
  limiter: RateSource
  limitOf: (account: Account) => RateLimit | null
  clock: () => number
}) {
  const { name, limiter, limitOf, clock } = options
  return (request: FastifyRequest, _reply: unknown, done: HookHandlerDoneFunction) => {
    const { account } = tokenOf(request)
    const limit = limitOf(account)
    // Fastify takes a promise instead of `done`.
    return limit === null
      ? done()
      : takeSharedOrRefuse(limiter, { name, key: account.id, limit, nowMs: clock() })
  }
}
