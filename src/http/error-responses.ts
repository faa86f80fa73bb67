import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, invalidField, WHOLE_REQUEST } from '../errors.ts'
import { ServerAwayError } from '../store/citus.ts'
import { outageOf, sqlState } from '../store/database.ts'
import { type DatabaseOutages, unavailable } from './outages.ts'
import { errorBody } from './schemas/error-body.ts'

declare module 'fastify' {
  interface FastifyInstance {
    readonly databaseOutages: DatabaseOutages
  }
}

/** Answers any failure of a request as JSON. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const failure = failureOf(error, request, reply)
  reply.code(failure.status).send(errorBody(failure, request.id))
}

/**
 * The failure to answer, whose headers are set. An error that is not ours is a defect: it is logged, and reported only as
 * INTERNAL_ERROR.
 */
export function failureOf(error: unknown, request: FastifyRequest, reply: FastifyReply): AppError {
  const failure = appErrorOf(error, request)
  request.errorCode = failure.code
  // The reason why the service is unavailable is logged once, where it is noticed, and not for each request.
  if (failure.status === 500) {
    const cause = failure.cause ?? error
    const outage = outageOf(cause)
    if (outage !== null)
      request.server.databaseOutages.failed(request.log, { outage, error: cause, requestId: request.id })
    else request.log.error({ requestId: request.id, error: loggable(cause) }, 'request failed')
  }
  // Fastify would close the connection after a body it refused, and the reset might overtake the answer. The rest of the
  // body is read and dropped, until the request's time is over.
  reply.removeHeader('connection')
  if (failure.status === 401) reply.header('www-authenticate', 'Bearer realm="aldis"')
  if (failure.headers !== undefined) reply.headers(failure.headers)
  return failure
}

const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  404: 'NOT_FOUND',
  408: 'REQUEST_TIMEOUT',
  415: 'UNSUPPORTED_MEDIA_TYPE',
}

function appErrorOf(error: unknown, { routeOptions }: FastifyRequest): AppError {
  if (error instanceof AppError) return error
  if (error instanceof ServerAwayError) return unavailable()
  const { statusCode } = (error ?? {}) as { statusCode?: number }
  if (statusCode === undefined || statusCode < 400 || statusCode >= 500) {
    return new AppError('INTERNAL_ERROR', { cause: error })
  }
  if (statusCode === 413)
    return new AppError('MESSAGE_TOO_LARGE', {
      message: `The body must have at most ${routeOptions.bodyLimit} bytes`,
    })
  const code = CODE_OF_STATUS[statusCode]
  if (code !== undefined) return new AppError(code)
  return invalidField(WHOLE_REQUEST, 'MALFORMED', 'could not be read')
}

/** The part of an error that is logged: never its properties, where drivers put the values of a statement. */
function loggable(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error }
  return { type: error.name, message: error.message, sqlState: sqlState(error), stack: error.stack }
}
