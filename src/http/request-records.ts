import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { HttpMetrics } from './metrics.ts'

/** The route of requests that met none. */
const UNMATCHED = 'unmatched'

/**
 * One log line and one measurement for each request: the route's pattern and never the URL, so no number, id or token that
 * stands in one is written, and nothing a caller sends can begin a new line.
 */
export function recordRequests(app: FastifyInstance, metrics: HttpMetrics): void {
  const logsRequests = isLogged(app)
  app.addHook('onResponse', (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => {
    const route = request.routeOptions.url ?? UNMATCHED
    const method = route === UNMATCHED ? 'ANY' : request.method
    const { statusCode: status, elapsedTime } = reply
    metrics.observe(method, route, status, elapsedTime / 1000)
    if (logsRequests()) {
      const accountId = request.token?.account.accountId
      const latencyMs = Math.round(elapsedTime * 100) / 100
      app.log.info({ method, route, status, latencyMs, requestId: request.id, accountId }, 'request')
    }
    done()
  })
}

/** Building the line costs more than asking; pino's own level may change while running. */
function isLogged(app: FastifyInstance): () => boolean {
  const log = app.log as { isLevelEnabled?: (level: string) => boolean }
  return () => log.isLevelEnabled?.('info') ?? true
}
