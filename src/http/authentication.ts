import type { FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { ServicePlan, Token } from '../domain/configuration.ts'
import type { Directory } from '../domain/directory.ts'
import { planForReading } from '../domain/plan-scopes.ts'
import { hashToken, MAX_TOKEN_LENGTH } from '../domain/tokens.ts'
import { AppError } from '../errors.ts'
import type { DirectorySource } from './fresh-directory.ts'
import { countHeader } from './header-counts.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `authenticateCustomer`; null on routes without it. */
    token: Token | null
  }
}

/** Credentials of RFC 6750 §2.1; the scheme in any case (RFC 9110 §11.1). */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i
const MAX_HEADER_LENGTH = MAX_TOKEN_LENGTH + 'Bearer '.length

/** SHA-256 (hex) of the bearer token, or null when there is none or the header is malformed. */
function presentedHash(request: FastifyRequest): string | null {
  const header = request.headers.authorization
  if (header === undefined || header.length > MAX_HEADER_LENGTH) return null
  if (countHeader(request.raw.rawHeaders, 'authorization') > 1) return null
  const match = BEARER.exec(header)
  return match === null ? null : hashToken(match[1]!)
}

/** Lets a customer's token pass and sets `request.token`. Runs before the body is read; anything else is 401. */
export function authenticateCustomer(source: DirectorySource) {
  const admit = (
    request: FastifyRequest,
    hash: string,
    directory: Directory,
    done: HookHandlerDoneFunction,
  ) => {
    const token = directory.tokenByHash(hash)
    if (token === undefined) return done(new AppError('UNAUTHENTICATED'))
    request.token = token
    done()
  }
  return (request: FastifyRequest, _reply: unknown, done: HookHandlerDoneFunction) => {
    const hash = presentedHash(request)
    if (hash === null) return done(new AppError('UNAUTHENTICATED'))
    const directory = source()
    if (!(directory instanceof Promise)) return admit(request, hash, directory, done)
    directory.then((fresh) => admit(request, hash, fresh, done), done)
  }
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
