import type { FastifyInstance } from 'fastify'

/** `checks`: what was looked at, and `ok` or what is wrong with it. */
export interface Readiness {
  readonly ok: boolean
  readonly checks: Readonly<Record<string, string>>
}

/** `/livez`: the process answers. `/readyz`: 200 when it can do its work, else 503. */
export function healthRoutes(app: FastifyInstance, ready: () => Promise<Readiness>): void {
  app.get('/livez', { schema: { hide: true } }, async () => ({ ok: true }))
  app.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    const { ok, checks } = await ready()
    return reply.code(ok ? 200 : 503).send({ ok, checks })
  })
}
