import type { FastifyInstance } from 'fastify'
import { Registry } from 'prom-client'

/** `/metrics` in the Prometheus text format. */
export function registerMetrics(app: FastifyInstance, scrape: () => Promise<string>): void {
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) => {
    return reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(await scrape())
  })
}
