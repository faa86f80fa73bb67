import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'
import { isUuid } from '../domain/message-ids.ts'
import type { ErrorCode } from '../errors.ts'
import type { HttpMetrics } from './metrics.ts'
import { SEND_PATH } from './routes/sendsms.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The message that a send was answered with; null elsewhere. */
    msgId: string | null
    /** Of the failure that was answered; null where none was. */
    errorCode: ErrorCode | null
    /** The send came before under its Idempotency-Key. */
    replayed: boolean
  }
}

/** The route of requests that met none. */
const UNMATCHED = 'unmatched'

/**
 * One log line and one measurement for each request: the route's pattern and never the URL, so no number or token that
 * stands in one is written, and nothing a caller sends can begin a new line. The message of a send or look-up is named.
 */
export function recordRequests(app: FastifyInstance, metrics: HttpMetrics): void {
  const logsRequests = isLogged(app.log)
  app.decorateRequest('msgId', null)
  app.decorateRequest('errorCode', null)
  app.decorateRequest('replayed', false)
  app.addHook('onResponse', (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => {
    const route = request.routeOptions.url ?? UNMATCHED
    const method = route === UNMATCHED ? 'ANY' : request.method
    const { statusCode: status, elapsedTime } = reply
    metrics.observe(method, route, status, elapsedTime / 1000)
    if (route === SEND_PATH && !request.replayed) metrics.send(request.errorCode)
    if (logsRequests()) {
      const accountId = request.token?.account.accountId
      const latencyMs = inHundredths(elapsedTime)
      const msgId = request.msgId ?? messageNamedBy(request)
      const errorCode = request.errorCode ?? undefined
      const line = { method, route, status, latencyMs, requestId: request.id, accountId, msgId, errorCode }
      app.log.info(line, 'request')
    }
    done()
  })
}

export interface UnansweredSend {
  readonly requestId: string
  readonly accountId: string | undefined
  readonly elapsedMs: number
}

/** Records a send whose connection is closed without an answer: its line has no status. */
export function recordUnanswered(
  log: FastifyBaseLogger,
  metrics: HttpMetrics,
  { requestId, accountId, elapsedMs }: UnansweredSend,
): void {
  metrics.unanswered()
  log.warn({ requestId, accountId }, 'send not answered')
  const latencyMs = inHundredths(elapsedMs)
  log.info({ method: 'POST', route: SEND_PATH, status: null, latencyMs, requestId, accountId }, 'request')
}

/** Milliseconds as a request's line has them. */
export function inHundredths(ms: number): number {
  return Math.round(ms * 100) / 100
}

/** The message of a look-up, once the text is known to be an id: anything else in a path is not written. */
function messageNamedBy({ params }: FastifyRequest): string | undefined {
  const { msgId } = (params ?? {}) as { msgId?: string }
  return msgId !== undefined && isUuid(msgId) ? msgId.toLowerCase() : undefined
}

/** Building the line costs more than asking; pino's own level may change while running. */
export function isLogged(log: FastifyBaseLogger): () => boolean {
  const asked = log as { isLevelEnabled?: (level: string) => boolean }
  return () => asked.isLevelEnabled?.('info') ?? true
}
