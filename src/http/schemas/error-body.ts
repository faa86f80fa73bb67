import { Type } from 'typebox'
import type { Fault } from '../../domain/faults.ts'
import { type AppError, ERRORS, type ErrorCode } from '../../errors.ts'
import { oneOf } from './nullable.ts'

/** What every failure answers (design: HTTP 1). */
export const ErrorBodySchema = Type.Object(
  {
    errorCode: oneOf(Object.keys(ERRORS) as ErrorCode[]),
    errorMessage: Type.String(),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          field: Type.String({ description: 'Field, parameter or header; `request` for the whole' }),
          code: Type.String(),
          message: Type.String(),
        }),
      ),
    ),
    requestId: Type.String({ description: 'Also in the x-request-id header, and in the log' }),
  },
  { title: 'Error' },
)

export interface ErrorBody {
  errorCode: ErrorCode
  errorMessage: string
  errors?: readonly Fault[]
  requestId: string
}

export function errorBody(error: AppError, requestId: string): ErrorBody {
  const { code: errorCode, message: errorMessage, errors } = error
  return errors === undefined
    ? { errorCode, errorMessage, requestId }
    : { errorCode, errorMessage, errors, requestId }
}

/** Headers of a 429, for the documentation. */
const RATE_LIMIT_HEADERS = {
  'retry-after': { type: 'integer', description: 'Whole seconds to wait' },
  'ratelimit-policy': { type: 'string', description: 'Name, quota and window of the limit' },
  ratelimit: { type: 'string', description: 'What is left of it, and seconds until there is more' },
}

const RETRY_HEADERS = { 'retry-after': RATE_LIMIT_HEADERS['retry-after'] }
const HEADERS_OF_STATUS: Readonly<Record<number, object>> = {
  429: { headers: RATE_LIMIT_HEADERS },
  503: { headers: RETRY_HEADERS },
}

/** Response schemas of a route's failures, for its documentation and its serialiser. */
export function failures(...statuses: number[]): Record<number, typeof ErrorBodySchema> {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        ...ErrorBodySchema,
        description: codesOf(status).join(', '),
        ...HEADERS_OF_STATUS[status],
      },
    ]),
  )
}

function codesOf(status: number): string[] {
  return Object.entries(ERRORS)
    .filter(([, entry]) => entry.status === status)
    .map(([code]) => code)
}
