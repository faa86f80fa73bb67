/** The OpenAPI document without a server that could answer it. */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { RateLimiter } from '../src/domain/limits/rate-limits.ts'
import { HTTP_LIMITS } from '../src/http/limits.ts'
import { registerAdminRoutes } from '../src/http/routes/admin/api.ts'
import type { AdminOptions } from '../src/http/routes/admin/operations.ts'
import { buildServer, type ServerDeps } from '../src/http/server.ts'

/** What the server answers at `/openapi.json`, or at `/admin/v1/openapi.json`. */
export async function openApiDocument<Document>(path: string): Promise<Document> {
  // Routes are registered and described, and never called: most of their dependencies may be missing.
  const adminOptions: Partial<AdminOptions> = { operatorTokenHashes: [] }
  const deps: Partial<ServerDeps> = {
    rateLimits: { accounts: new RateLimiter(), plans: new RateLimiter() },
    limits: HTTP_LIMITS,
    registry: new Registry(),
    log: pino({ enabled: false }),
    random: randomBytes,
    baseUrl: null,
    adminRoutes: (app: FastifyInstance) => registerAdminRoutes(app, adminOptions as AdminOptions),
  }
  const app = await buildServer(deps as ServerDeps)
  try {
    return (await app.inject(path)).json()
  } finally {
    await app.close()
  }
}
