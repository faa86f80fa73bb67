import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { ServicePlan, Token } from '../domain/configuration/configuration.ts'
import { type Directory, planForReading } from '../domain/configuration/directory.ts'
import {
  ENVIRONMENT_OPERATOR,
  hashToken,
  MAX_TOKEN_LENGTH,
  type Operator,
  type SessionKind,
  type TokenScope,
} from '../domain/credentials.ts'
import { AppError } from '../errors.ts'
import type { ConsoleSessions } from './console-sessions.ts'
import type { DirectorySource } from './outages.ts'
import { countHeader } from './wire/message-faults.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `authenticateCustomer`; null on routes without it. */
    token: Token | null
    /** Who sends a request of the admin API; null on other routes. */
    operator: Operator | null
  }
}

/**
 * Finds the token after `Bearer`, in any case (RFC 9110 §11.1). Those of customers have the form of RFC 6750 §2.1. Operators
 * choose the tokens of OPERATOR_TOKEN themselves.
 */
const CREDENTIALS: Readonly<Record<SessionKind, RegExp>> = {
  customer: /^bearer +([A-Za-z0-9._~+/-]+=*)$/i,
  operator: /^bearer +([\x21-\x7e]+)$/i,
}
const MAX_HEADER_LENGTH = MAX_TOKEN_LENGTH + 'Bearer '.length

/**
 * SHA-256 (hex) of the token that a request presents: in its Authorization header, or, when it has none, by a session of the
 * console. `sessions`: absent where there is no console.
 *
 * @throws AppError UNAUTHENTICATED without either; FORBIDDEN for a session's cookie in a request that another site's page made
 */
export function presentedHash(
  request: FastifyRequest,
  kind: SessionKind,
  sessions: ConsoleSessions | undefined,
): string {
  const header = request.headers.authorization
  if (header === undefined) {
    const session = sessions?.of(request, kind) ?? null
    if (session !== null) return session.tokenHash
    throw new AppError('UNAUTHENTICATED', { message: 'The Authorization header is missing' })
  }
  const isOne = countHeader(request.raw.rawHeaders, 'authorization') === 1
  const hash = isOne ? bearerHash(header, kind) : null
  if (hash !== null) return hash
  throw new AppError('UNAUTHENTICATED', {
    message: 'The Authorization header must be "Bearer" and one token',
    headers: { 'www-authenticate': 'Bearer realm="aldis", error="invalid_request"' },
  })
}

/** SHA-256 (hex) of the token in an Authorization header; null when there is none. */
export function bearerHash(header: string, kind: SessionKind): string | null {
  const match = header.length <= MAX_HEADER_LENGTH ? CREDENTIALS[kind].exec(header) : null
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
 * The operator whose token has this hash; null when there is none. Tokens of the environment are recognised while the database
 * does not answer; any other may have been revoked since. `environment`: SHA-256 of each, hex.
 */
export async function findOperator(
  hash: string,
  environment: readonly string[],
  source: DirectorySource,
): Promise<Operator | null> {
  const bytes = Buffer.from(hash, 'hex')
  // Every token of the environment is compared, each in constant time, so the duration tells nothing.
  const matches = environment.filter((each) => timingSafeEqual(Buffer.from(each, 'hex'), bytes))
  if (matches.length > 0) return ENVIRONMENT_OPERATOR
  return (await source()).contents.operators.get(hash) ?? null
}

export interface CustomerAuthentication {
  readonly directory: DirectorySource
  /** Unix milliseconds. */
  readonly clock: () => number
  /** Absent where there is no console. */
  readonly sessions?: ConsoleSessions | undefined
}

/**
 * Authenticates a customer's token and sets `request.token`. Runs before the body is read. An unknown or expired token is
 * 401, one without the scope of the route 403.
 */
export function authenticateCustomer({ directory: source, clock, sessions }: CustomerAuthentication) {
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
    const hash = presentedHash(request, 'customer', sessions)
    const directory = source()
    if (!(directory instanceof Promise)) return admit(request, hash, directory, done)
    directory.then((fresh) => admit(request, hash, fresh, done), done)
  }
}

/** The scope that a token needs for a customers' route with this URL pattern. */
function scopeOf(url = ''): TokenScope {
  if (url.startsWith('/v1/sendsms') || url === '/v1/sandbox/inbound') return 'send'
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
