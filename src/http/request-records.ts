import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'
import { isUuid } from '../domain/identifiers.ts'
import type { ErrorCode } from '../errors.ts'
import type { HttpMetrics } from './metrics.ts'
import { CGI_SENDSMS_PATH } from './routes/cgi-sendsms.ts'
import { SEND_PATH } from './routes/sendsms.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The message that a send was answered with; null for other requests. */
    msgId: string | null
    /** Code of the failure that was answered; null when there was none. */
    errorCode: ErrorCode | null
    /** A repeated send under its Idempotency-Key. */
    replayed: boolean
  }
}

/** The route of requests that matched none. */
const UNMATCHED = 'unmatched'

/**
 * Writes one log line and one measurement for each request. They have the route's pattern and never the URL, so no number
 * or token in a URL is written, and nothing that a caller sends can begin a new line. The message of a send or look-up is
 * named, and so is the token of an operator.
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
    if ((route === SEND_PATH || route === CGI_SENDSMS_PATH) && !request.replayed)
      metrics.send(request.errorCode)
    if (logsRequests()) {
      const accountId = request.token?.account.accountId
      const latencyMs = inHundredths(elapsedTime)
      const msgId = request.msgId ?? messageNamedBy(request)
      const errorCode = request.errorCode ?? undefined
      const { id: requestId, operator } = request
      const who = { accountId, operator: operator?.name }
      app.log.info({ method, route, status, latencyMs, requestId, ...who, msgId, errorCode }, 'request')
    }
    done()
  })
}

export interface UnansweredSend {
  readonly requestId: string
  readonly accountId: string | undefined
  readonly elapsedMs: number
}

/** Records a send whose connection closed without an answer: its line has no status. */
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

/** Milliseconds in the form of a request's log line. */
export function inHundredths(ms: number): number {
  return Math.round(ms * 100) / 100
}

/** The message of a look-up, once the text is known to be an id: nothing else in a path is written. */
function messageNamedBy({ params }: FastifyRequest): string | undefined {
  const { msgId } = (params ?? {}) as { msgId?: string }
  return msgId !== undefined && isUuid(msgId) ? msgId.toLowerCase() : undefined
}

/** Checking is cheaper than building the line; pino's level may change while running. */
export function isLogged(log: FastifyBaseLogger): () => boolean {
  const asked = log as { isLevelEnabled?: (level: string) => boolean }
  return () => asked.isLevelEnabled?.('info') ?? true
}
