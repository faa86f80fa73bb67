import { type AppError, ERRORS, type ErrorCode, type Fault } from '../../errors.ts'
import { Type } from './schema-builder.ts'
import { oneOf, titled } from './shapes.ts'

/** The fields of every failure. */
export const FAILURE_FIELDS = {
  errorCode: oneOf(Object.keys(ERRORS) as ErrorCode[], { title: 'ErrorCode' }),
  errorMessage: Type.String(),
  errors: Type.Optional(
    Type.Array(
      titled('Fault', {
        field: Type.String({ description: 'Field, parameter or header; `request` for the whole' }),
        code: Type.String(),
        message: Type.String(),
      }),
    ),
  ),
}

/** The body of every failure. */
export const ErrorBodySchema = titled('ErrorBody', {
  ...FAILURE_FIELDS,
  requestId: Type.String({ description: 'Also in the x-request-id header, and in the log' }),
})

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

type Failures = Record<number, typeof ErrorBodySchema>
/** An object with such keys takes 5 kB, and most of some 200 operations fail with the same statuses. */
const FAILURES = new Map<string, Failures>()

/** Response schemas of a route's failures. The document describes them once for all routes: failure-responses.ts. */
export function failures(...statuses: number[]): Readonly<Failures> {
  const key = statuses.join()
  let known = FAILURES.get(key)
  if (known === undefined) {
    known = Object.fromEntries(statuses.map((status) => [status, ErrorBodySchema]))
    FAILURES.set(key, known)
  }
  return known
}

/**
 * Response schemas of a route for customers: its success, with an example, and its failures. `more` are the statuses that
 * not every route fails with.
 */
export function answered(
  status: number,
  done: object,
  description: string,
  example: object,
  more: readonly number[] = [],
): Record<number, object> {
  const response = { ...done, description, examples: [example] }
  return { [status]: response, ...failures(400, 401, 403, 429, 500, 503, ...more) }
}
