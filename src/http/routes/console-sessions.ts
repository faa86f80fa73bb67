import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import type { RateLimit, Token } from '../../domain/configuration/configuration.ts'
import type { Directory } from '../../domain/configuration/directory.ts'
import {
  type ConsoleSession,
  hashToken,
  MAX_TOKEN_LENGTH,
  OPERATOR_ROLES,
  type Operator,
  SESSION_KINDS,
  type SessionKind,
  TOKEN_SCOPES,
} from '../../domain/credentials.ts'
import { subscriberOf } from '../../domain/ip-addresses.ts'
import { RateLimiter } from '../../domain/limits/rate-limits.ts'
import { findOperator, invalidToken, liveToken } from '../authentication.ts'
import { type ConsoleSessions, requireSameOrigin } from '../console-sessions.ts'
import type { DirectorySource } from '../outages.ts'
import { takeOrRefuse } from '../rate-limiting.ts'
import { failures } from '../schemas/error-body.ts'
import { Type } from '../schemas/schema-builder.ts'
import { Nullable, oneOf, requestBody, titled } from '../schemas/shapes.ts'

export interface ConsoleSessionDeps {
  readonly directory: DirectorySource
  readonly sessions: ConsoleSessions
  /** SHA-256 of each token of OPERATOR_TOKEN, hex. */
  readonly operatorTokenHashes: readonly string[]
  /** The kinds of session that this listener serves. */
  readonly kinds: readonly SessionKind[]
  /** Unix milliseconds. */
  readonly clock: () => number
}

/** A customer's token, in the directory that knows it. */
interface Held {
  readonly directory: Directory
  readonly token: Token
}

const SESSION_PATH = '/console/session'
/** Wrong tokens of one address: ten, and then ten a minute. */
const FAILURES: RateLimit = { perSecond: 10 / 60, burst: 10 }
/** Plans that a session names at most. */
const MAX_PLANS = 1_000

const expiresAt = Type.String({ format: 'date-time', description: 'When the session or its token ends' })
const SignedIn = titled('ConsoleSession', {
  customer: Nullable(
    titled('CustomerSession', {
      accountId: Type.String(),
      tokenName: Type.String(),
      scopes: Type.Array(oneOf(TOKEN_SCOPES)),
      servicePlans: Type.Array(
        titled('SessionPlan', {
          servicePlanId: Type.String(),
          name: Type.String(),
          active: Type.Boolean(),
          sandbox: Type.Boolean(),
        }),
        { description: `The first ${MAX_PLANS} that the token may read` },
      ),
      expiresAt,
    }),
  ),
  operator: Nullable(
    titled('OperatorSession', { name: Type.String(), role: oneOf(OPERATOR_ROLES), expiresAt }),
  ),
})
const SignIn = requestBody(
  'ConsoleSignIn',
  { token: Type.String({ minLength: 1, maxLength: MAX_TOKEN_LENGTH }) },
  { token: 'aldis_…' },
)
const Ended = Type.Object({ kind: Type.Optional(oneOf(SESSION_KINDS)) }, { additionalProperties: false })

/** `/console/session`: signs in and out. Only for the console, so no document of the API has it. */
export function registerConsoleSessions(app: FastifyInstance, deps: ConsoleSessionDeps): void {
  const { clock, kinds, sessions } = deps
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const failed = new RateLimiter<string>()
  routes.post(
    SESSION_PATH,
    {
      schema: { hide: true, body: SignIn, response: { 200: SignedIn, ...failures(400, 401, 403, 429, 503) } },
    },
    async (request, reply) => {
      requireSameOrigin(request)
      const wrong = { name: 'sign-in', key: subscriberOf(request.ip), limit: FAILURES, nowMs: clock() }
      if (failed.left(wrong.key, FAILURES, wrong.nowMs) === 0) takeOrRefuse(failed, wrong)
      const tokenHash = hashToken(request.body.token)
      const kind = await kindOf(deps, tokenHash)
      if (kind === null) {
        takeOrRefuse(failed, wrong)
        throw invalidToken()
      }
      const begun = sessions.begin(request, reply, kind, tokenHash)
      return await present(deps, (other) => (other === kind ? begun : sessions.of(request, other)))
    },
  )
  routes.get(
    SESSION_PATH,
    { schema: { hide: true, response: { 200: SignedIn, ...failures(403, 503) } } },
    async (request) => await present(deps, (kind) => sessions.of(request, kind)),
  )
  routes.delete(
    SESSION_PATH,
    { schema: { hide: true, querystring: Ended, response: { 204: Type.Null(), ...failures(400, 403) } } },
    async (request, reply) => {
      requireSameOrigin(request)
      const { kind } = request.query
      for (const ended of kinds) if (kind === undefined || kind === ended) sessions.end(request, reply, ended)
      return reply.code(204).send(null)
    },
  )
}

/** The owner of the token with this hash; null when there is none, or when this listener does not serve that kind. */
async function kindOf(deps: ConsoleSessionDeps, tokenHash: string): Promise<SessionKind | null> {
  const isServed = (kind: SessionKind) => deps.kinds.includes(kind)
  if (isServed('operator') && (await operatorWith(deps, tokenHash)) !== null) return 'operator'
  if (isServed('customer') && (await tokenWith(deps, tokenHash)) !== null) return 'customer'
  return null
}

function operatorWith({ operatorTokenHashes, directory }: ConsoleSessionDeps, tokenHash: string) {
  return findOperator(tokenHash, operatorTokenHashes, directory)
}

async function tokenWith({ directory, clock }: ConsoleSessionDeps, tokenHash: string): Promise<Held | null> {
  const snapshot = await directory()
  const token = liveToken(snapshot, tokenHash, clock())
  return token === undefined ? null : { directory: snapshot, token }
}

/** Who is signed in by the sessions of a request. `sessionOf`: by kind. */
async function present(deps: ConsoleSessionDeps, sessionOf: (kind: SessionKind) => ConsoleSession | null) {
  const [customer, operator] = (['customer', 'operator'] as const).map((kind) =>
    deps.kinds.includes(kind) ? sessionOf(kind) : null,
  )
  return {
    customer: customer ? presentCustomer(customer, await tokenWith(deps, customer.tokenHash)) : null,
    operator: operator ? presentOperator(operator, await operatorWith(deps, operator.tokenHash)) : null,
  }
}

function presentCustomer({ expiresAtMs }: ConsoleSession, held: Held | null) {
  if (held === null) return null
  const { directory, token } = held
  const plans = directory.readablePlanIds(token).slice(0, MAX_PLANS)
  return {
    accountId: token.account.accountId,
    tokenName: token.name,
    scopes: token.scopes === null ? [...TOKEN_SCOPES] : [...token.scopes],
    servicePlans: plans.map((id) => {
      const { servicePlanId, name, active, sandbox } = directory.planById(id)!
      return { servicePlanId, name, active, sandbox }
    }),
    expiresAt: new Date(Math.min(expiresAtMs, token.expiresAtMs ?? expiresAtMs)).toISOString(),
  }
}

function presentOperator({ expiresAtMs }: ConsoleSession, operator: Operator | null) {
  return operator && { ...operator, expiresAt: new Date(expiresAtMs).toISOString() }
}
