import type { FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'

/** `/metrics` in the Prometheus text format. */
export function metricsRoute(app: FastifyInstance, registry: Registry): void {
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics())
  })
}
