import type { FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { ServicePlan, Token } from '../domain/configuration.ts'
import type { Directory } from '../domain/directory.ts'
import { planForReading } from '../domain/send-requests.ts'
import { hashToken, MAX_TOKEN_LENGTH, type TokenScope } from '../domain/tokens.ts'
import { AppError } from '../errors.ts'
import type { DirectorySource } from './fresh-directory.ts'
import { countHeader } from './wire/message-faults.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `authenticateCustomer`; null on routes without it. */
    token: Token | null
  }
}

/** Credentials of RFC 6750 §2.1; the scheme in any case (RFC 9110 §11.1). */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i
const MAX_HEADER_LENGTH = MAX_TOKEN_LENGTH + 'Bearer '.length

/** SHA-256 (hex) of the bearer token of a request. @throws AppError UNAUTHENTICATED without one */
export function presentedHash(request: FastifyRequest, credentials = BEARER): string {
  const header = request.headers.authorization
  if (header === undefined) {
    throw new AppError('UNAUTHENTICATED', { message: 'The Authorization header is missing' })
  }
  const isOne = countHeader(request.raw.rawHeaders, 'authorization') === 1
  const hash = isOne ? bearerHash(header, credentials) : null
  if (hash !== null) return hash
  throw new AppError('UNAUTHENTICATED', {
    message: 'The Authorization header must be "Bearer" and one token',
    headers: { 'www-authenticate': 'Bearer realm="aldis", error="invalid_request"' },
  })
}

/** SHA-256 (hex) of the token in an Authorization header; null when there is none. */
export function bearerHash(header: string, credentials = BEARER): string | null {
  const match = header.length <= MAX_HEADER_LENGTH ? credentials.exec(header) : null
  return match === null ? null : hashToken(match[1]!)
}

/** For a token that is unknown, revoked or expired. Saying which would help a thief. */
export function invalidToken(): AppError {
  const headers = { 'www-authenticate': 'Bearer realm="aldis", error="invalid_token"' }
  return new AppError('UNAUTHENTICATED', { message: 'The token is not valid', headers })
}

/** The token with this hash, unless it has expired. `nowMs`: Unix milliseconds. */
export function liveToken(directory: Directory, hash: string, nowMs: number): Token | undefined {
  const token = directory.tokenByHash(hash)
  const hasExpired = token !== undefined && token.expiresAtMs !== null && token.expiresAtMs <= nowMs
  return hasExpired ? undefined : token
}

/**
 * Authenticates a customer's token and sets `request.token`. Runs before the body is read. An unknown or expired token is
 * 401, one without the scope of the route 403. `clock`: Unix milliseconds.
 */
export function authenticateCustomer(source: DirectorySource, clock: () => number) {
  const admit = (
    request: FastifyRequest,
    hash: string,
    directory: Directory,
    done: HookHandlerDoneFunction,
  ) => {
    const token = liveToken(directory, hash, clock())
    if (token === undefined) return done(invalidToken())
    const scope = scopeOf(request.routeOptions.url)
    if (token.scopes?.has(scope) === false) return done(insufficientScope(scope))
    request.token = token
    done()
  }
  return (request: FastifyRequest, _reply: unknown, done: HookHandlerDoneFunction) => {
    const hash = presentedHash(request)
    const directory = source()
    if (!(directory instanceof Promise)) return admit(request, hash, directory, done)
    directory.then((fresh) => admit(request, hash, fresh, done), done)
  }
}

/** The scope that a token needs for a customers' route with this URL pattern. */
function scopeOf(url = ''): TokenScope {
  if (url.startsWith('/v1/sendsms')) return 'send'
  return url.startsWith('/v1/webhooks/') ? 'webhooks' : 'read'
}

function insufficientScope(scope: TokenScope): AppError {
  const headers = { 'www-authenticate': `Bearer realm="aldis", error="insufficient_scope", scope="${scope}"` }
  return new AppError('FORBIDDEN', { message: `The token lacks the scope ${scope}`, headers })
}

/** The token of an authenticated request. */
export function tokenOf(request: FastifyRequest): Token {
  if (request.token === null) throw new Error('route without authentication')
  return request.token
}

/** The plan that the token of a request may read, or 403. */
export function planToRead(
  directory: Directory,
  request: FastifyRequest,
  servicePlanId: string,
): ServicePlan {
  const plan = planForReading(directory, tokenOf(request), servicePlanId)
  if (plan === null) throw new AppError('FORBIDDEN')
  return plan
}
