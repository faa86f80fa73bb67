import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { DirectoryService } from '../../../services/directory.ts'
import type { Database } from '../../../store/database.ts'
import { registerAccounts } from './accounts.ts'
import { registerCarriers } from './carriers.ts'
import { registerInboundNumbers } from './inbound-numbers.ts'
import { registerMessages } from './messages.ts'
import { registerRoutes } from './routes.ts'
import { registerSenders } from './senders.ts'
import { registerServicePlans } from './service-plans.ts'
import { registerTokens } from './tokens.ts'
import { compileAdminValidator } from './validation.ts'

export type UrlVerdict = { ok: true } | { ok: false; code: string; message: string }

/** What a carrier's link is doing on this node. */
export interface CarrierLinkStatus {
  readonly state: string
  /** ISO 8601; since when. */
  readonly since: string | null
  readonly lastError: string | null
}

export interface AdminDeps {
  readonly db: Database
  readonly directory: Pick<DirectoryService, 'refresh'>
  /** `deriveKey(masterKey, 'secrets')`. */
  readonly secretKey: Uint8Array
  readonly guard: { check(raw: unknown): Promise<UrlVerdict> }
  /** Absent where this node runs no carrier links. */
  readonly linkStatus?: (carrierId: number) => CarrierLinkStatus | null
}

export type AdminScope = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** Registers the operator's API under `/admin/v1`, in a scope that lets only operators in. */
export function registerAdminRoutes(app: FastifyInstance, deps: AdminDeps): void {
  app.register(
    async (plain) => {
      const scope = plain.withTypeProvider<TypeBoxTypeProvider>()
      scope.setValidatorCompiler(compileAdminValidator)
      scope.addHook('onRoute', ({ schema }) => {
        if (schema !== undefined) Object.assign(schema, { security: [{ bearer: [] }] })
      })
      scope.addHook('onSend', async (request, reply) => {
        if (request.method === 'GET' || reply.statusCode >= 400) return
        await showChange(request, deps)
      })
      registerAccounts(scope, deps)
      registerServicePlans(scope, deps)
      registerTokens(scope, deps)
      registerSenders(scope, deps)
      registerInboundNumbers(scope, deps)
      registerCarriers(scope, deps)
      registerRoutes(scope, deps)
      registerMessages(scope, deps)
    },
    { prefix: '/admin/v1' },
  )
}

/**
 * An operator's change is in this node's directory before it is answered, so that what it allows works at once. The
 * change is committed: should the refresh fail, the next poll brings it, and the answer is still the truth.
 */
async function showChange(request: FastifyRequest, deps: AdminDeps): Promise<void> {
  try {
    await deps.directory.refresh()
  } catch (error) {
    request.log.warn({ err: error }, 'directory not refreshed after a change')
  }
}
