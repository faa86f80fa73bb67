import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify'
import type { Operator } from '../../../domain/credentials.ts'
import { AppError } from '../../../errors.ts'
import { makeChange } from '../../../operations/manage/audited-changes.ts'
import type { Author } from '../../../store/audit-log.ts'
import { findOperator, invalidToken, liveToken, presentedHash } from '../../authentication.ts'
import { documentOperatorRoutes } from '../../openapi.ts'
import { type DirectorySource, freshDirectory } from '../../outages.ts'
import { registerAccounts } from './accounts.ts'
import { registerAlarms } from './alarms.ts'
import { registerAuditLog } from './audit-log.ts'
import { registerCarrierBinds, registerCarriers } from './carriers.ts'
import { registerConfiguration } from './configuration.ts'
import { registerInboundMessages, registerUnownedInboundMessages } from './inbound-messages.ts'
import { registerInboundNumbers } from './inbound-numbers.ts'
import { registerMessageList, registerMessages } from './messages.ts'
import { registerNodes } from './nodes.ts'
import { registerNumberRanges } from './number-ranges.ts'
import type { AdminDeps, AdminOptions, OperatorRequest } from './operations.ts'
import { registerOptOuts } from './opt-outs.ts'
import { registerPlanLimits } from './plan-limits.ts'
import { registerQuality } from './quality.ts'
import { registerQueue } from './queue.ts'
import { registerRates } from './rates.ts'
import { registerRouteExplanation, registerRoutes } from './routes.ts'
import { registerRoutingRules, registerSenderRules } from './rules.ts'
import { registerSecrets } from './secrets.ts'
import { registerSenders } from './senders.ts'
import { registerSendsmsUsers } from './sendsms-users.ts'
import { registerServicePlans } from './service-plans.ts'
import { registerStatistics } from './statistics.ts'
import { registerOperatorTokens, registerTokens } from './tokens.ts'
import { registerWebhookDestinations } from './webhook-destinations.ts'
import { registerWebhookEvents } from './webhook-events.ts'
import { registerWebhookTests } from './webhook-tests.ts'

/** Registers the operators' API under `/admin/v1`, for callers with an operator token only. */
export function registerAdminRoutes(
  app: FastifyInstance,
  { db, operatorTokenHashes, sessions, ...rest }: AdminOptions,
): void {
  const deps: AdminDeps = {
    ...rest,
    change: (request, work) => makeChange(db, authorOf(request), work),
  }
  documentOperatorRoutes(app)
  app.register(
    async (scope) => {
      const directory = freshDirectory(deps.directory)
      scope.addHook('onRequest', async (request) => {
        const hash = presentedHash(request, 'operator', sessions)
        request.operator = await operatorWith(hash, operatorTokenHashes, directory, deps.clock)
        requireRole(request.method, request.operator)
      })
      scope.addHook('onSend', async (request, reply) => {
        if (onlyReads(request.method) || reply.statusCode >= 400) return
        // After many imports in a row, one poll a second shows them all: reading 200,000 rates takes about as long.
        if (request.routeOptions.url?.endsWith('/import') === true) return
        await showChange(request, deps)
      })
      registerAccounts(scope, deps)
      registerServicePlans(scope, deps)
      registerPlanLimits(scope, deps)
      registerTokens(scope, deps)
      registerOperatorTokens(scope, deps)
      registerAuditLog(scope, deps)
      registerSenders(scope, deps)
      registerInboundNumbers(scope, deps)
      registerSendsmsUsers(scope, deps)
      registerOptOuts(scope, deps)
      registerConfiguration(app, scope, deps)
      registerCarriers(scope, deps)
      registerCarrierBinds(scope, deps)
      registerRoutes(scope, deps)
      registerRouteExplanation(scope, deps)
      registerQuality(scope, deps)
      registerStatistics(scope, deps)
      registerQueue(scope, deps)
      registerAlarms(scope, deps)
      registerNodes(scope, deps)
      registerSecrets(scope, deps)
      registerRoutingRules(scope, deps)
      registerNumberRanges(scope, deps)
      registerRates(scope, deps)
      registerSenderRules(scope, deps)
      registerMessages(scope, deps)
      registerMessageList(scope, deps)
      registerInboundMessages(scope, deps)
      registerUnownedInboundMessages(scope, deps)
      registerWebhookEvents(scope, deps)
      registerWebhookDestinations(scope, deps)
      registerWebhookTests(scope, deps)
    },
    { prefix: '/admin/v1' },
  )
}

/** 401 without an operator token; 403 for a customer's token, which is known and may do other things. */
async function operatorWith(
  hash: string,
  environment: readonly string[],
  source: DirectorySource,
  clock: () => number,
): Promise<Operator> {
  const operator = await findOperator(hash, environment, source)
  if (operator !== null) return operator
  if (liveToken(await source(), hash, clock()) === undefined) throw invalidToken()
  throw new AppError('FORBIDDEN', { message: 'The token is not an operator token' })
}

/** 403 for everything but reads, unless the role allows more. */
function requireRole(method: string, { name, role }: Operator): void {
  if (role === 'admin' || onlyReads(method)) return
  const message = `The operator token ${name} has the role ${role}, which may only read`
  throw new AppError('FORBIDDEN', { message })
}

function onlyReads(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

function authorOf({ operator, ip, routeOptions }: OperatorRequest): Author {
  const { operationId } = routeOptions.schema as FastifySchema
  return { token: operator!.name, address: ip, operation: operationId! }
}

/**
 * An operator's change is in this node's directory before it is answered, so that it takes effect at once. The change is
 * committed: if the refresh fails, the next poll brings it, and the answer is still correct.
 */
async function showChange(request: FastifyRequest, deps: AdminDeps): Promise<void> {
  try {
    await deps.directory.refresh()
  } catch (error) {
    request.log.warn({ err: error }, 'directory not refreshed after a change')
  }
}
