import type { FastifyInstance } from 'fastify'
import { AppError } from '../../errors.ts'
import { sharedAnswer } from '../shared-answer.ts'

/** `checks`: what was checked, and `ok` or what is wrong with it. */
export interface Readiness {
  readonly ok: boolean
  readonly checks: Readonly<Record<string, string>>
}

const HEALTH_PATHS: ReadonlySet<string> = new Set(['/livez', '/readyz'])
const STARTING: Readiness = { ok: false, checks: { start: 'not finished' } }
const RETRY_AFTER_S = 1

/** `/livez`: the process answers. `/readyz`: 200 when it can do its work, else 503. */
export function registerHealth(
  app: FastifyInstance,
  { isOpen = () => true, ready }: { isOpen?: () => boolean; ready: () => Promise<Readiness> },
): void {
  // It asks the database.
  const askReady = sharedAnswer(ready)
  app.get('/livez', { schema: { hide: true } }, async () => ({ ok: true }))
  app.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    const { ok, checks } = isOpen() ? await askReady() : STARTING
    return reply.code(ok ? 200 : 503).send({ ok, checks })
  })
}

/** While the node starts, everything else is answered 503. Call before routes are added. */
export function refuseUntilOpen(app: FastifyInstance, isOpen: () => boolean = () => true): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (isOpen() || HEALTH_PATHS.has(request.routeOptions.url ?? '')) return done()
    done(new AppError('SERVICE_UNAVAILABLE', { headers: { 'retry-after': String(RETRY_AFTER_S) } }))
  })
}
