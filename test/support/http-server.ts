/** The real HTTP server on a free port, over a database: what its two harnesses, for customers and operators, share. */

import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { messageId } from '../../src/domain/identifiers.ts'
import { RateLimiter } from '../../src/domain/limits/rate-limits.ts'
import type { SecretKeys } from '../../src/domain/secrets.ts'
import { HTTP_LIMITS, type HttpLimits } from '../../src/http/limits.ts'
import { buildServer, type ServerDeps } from '../../src/http/server.ts'
import { type AccepterOptions, GroupAccepter } from '../../src/operations/sends/accept-messages.ts'
import { LimitedAccepter } from '../../src/operations/sends/accept-within-limits.ts'
import type { CallbackGuard } from '../../src/outbound/callback-guard.ts'
import { OUTCOME_TABLE } from '../../src/services/sandbox/sandbox.ts'
import type { Database } from '../../src/store/database.ts'
import { nothingInProgress } from './in-progress.ts'
import { quietLog } from './log.ts'
import { readsOf } from './message-reads.ts'
import { testEventsOf } from './test-events.ts'

interface Options extends Partial<Omit<ServerDeps, 'writes' | 'limits' | 'testEvents' | 'adminRoutes'>> {
  readonly db: Database
  /** For what is written; `db` when absent. */
  readonly writes?: Database
  readonly directory: ServerDeps['directory']
  /** Of the URLs of test events, and of callback URLs unless there is a `guard`. */
  readonly realGuard: CallbackGuard
  readonly limits?: Partial<HttpLimits>
  readonly secretKey?: SecretKeys
  /** PEM of the authority of the receivers of test events. */
  readonly webhookCaPem?: string | undefined
  readonly adminRoutes?: (app: FastifyInstance, testEvents: ServerDeps['testEvents']) => void
}

export interface HttpServer {
  readonly app: FastifyInstance
  readonly port: number
  close(): Promise<void>
}

/** Nothing is submitted in these tests: messages wait in the database. */
const PLACEMENT = {
  place: () => ({
    msgId: messageId(Date.now(), randomBytes(9), randomBytes(1)[0]!),
    owner: null,
    begun: false,
    routeId: null,
  }),
  enqueue: () => undefined,
  release: () => undefined,
}

/** Accepts messages of plans without limits. */
function withoutLimits(options: AccepterOptions): LimitedAccepter {
  const limits = {
    take: () => Promise.reject(new Error('there are no limits here')),
    accepted: () => undefined,
  }
  return new LimitedAccepter({ accepter: new GroupAccepter(options), limits, log: quietLog })
}

export async function startHttpServer(options: Options): Promise<HttpServer> {
  const { realGuard, secretKey = randomBytes(32), webhookCaPem, adminRoutes, limits, ...deps } = options
  const { writes = deps.db, clock = Date.now } = deps
  const { testEvents, close } = testEventsOf({ guard: realGuard, secretKey, caPem: webhookCaPem, clock })
  const messages = readsOf(deps.db)
  const app = await buildServer({
    messages,
    records: deps.db,
    writes,
    accepter: withoutLimits({
      db: writes,
      journal: nothingInProgress(writes),
      messages,
      placement: PLACEMENT,
      secretKey,
      random: randomBytes,
      log: quietLog,
    }),
    guard: realGuard,
    testEvents,
    headerSettings: { secretKey, tracedShare: 0 },
    // Without carrier links there is no simulator.
    sandbox: { outcomes: OUTCOME_TABLE, send: async () => null },
    carrierCondition: () => 'usable',
    heldCause: () => null,
    keys: { cursor: randomBytes(32) },
    rateLimits: { accounts: new RateLimiter(), plans: new RateLimiter() },
    limits: { ...HTTP_LIMITS, quietMs: 0, ...limits },
    baseUrl: null,
    retentionDays: 30,
    ready: async () => ({ ok: true, checks: { database: 'ok' } }),
    clock,
    random: randomBytes,
    log: pino({ level: 'silent' }),
    registry: new Registry(),
    ...deps,
    ...(adminRoutes !== undefined && { adminRoutes: (scope) => adminRoutes(scope, testEvents) }),
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return {
    app,
    port,
    async close() {
      await app.close()
      await close()
    },
  }
}
