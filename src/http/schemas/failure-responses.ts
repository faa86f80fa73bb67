import { ERRORS, type ErrorCode } from '../../errors.ts'
import { ErrorBodySchema } from './error-body.ts'

/** The responses of failures, which all operations of the OpenAPI document share. */

const text = (description: string) => ({ description, schema: { type: 'string' } })
const seconds = (description: string) => ({ description, schema: { type: 'integer' } })

const RETRY_AFTER = { 'retry-after': seconds('Whole seconds to wait') }
const HEADERS: Readonly<Record<number, object>> = {
  401: { 'www-authenticate': text('Bearer, with the realm') },
  405: { allow: text('Methods that the path answers') },
  429: {
    ...RETRY_AFTER,
    'ratelimit-policy': text('Name, quota and window of the limit'),
    ratelimit: text('What is left of the quota, and the seconds until there is more'),
  },
  503: RETRY_AFTER,
}

const ENTRIES = Object.entries(ERRORS) as [ErrorCode, (typeof ERRORS)[ErrorCode]][]
const STATUSES: readonly number[] = [...new Set(ENTRIES.map(([, { status }]) => status))].sort()

/** `components.responses`, each named as its status: what it means, with an example of each of its error codes. */
export const FAILURE_RESPONSES = Object.fromEntries(STATUSES.map((status) => [status, responseOf(status)]))

function responseOf(status: number) {
  const entries = ENTRIES.filter(([, entry]) => entry.status === status)
  const examples = entries.map(([code, { message }]) => [code, { value: exampleOf(code, message) }])
  return {
    description: entries.map(([code]) => code).join(', '),
    headers: { 'x-request-id': text('Id of the request, also in the log'), ...HEADERS[status] },
    content: {
      'application/json': { schema: ErrorBodySchema, examples: Object.fromEntries(examples) },
    },
  }
}

function exampleOf(errorCode: ErrorCode, errorMessage: string) {
  const errors = [{ field: 'to', code: 'REQUIRED', message: 'is required' }]
  return {
    errorCode,
    errorMessage,
    ...(errorCode === 'VALIDATION_ERROR' && { errors }),
    requestId: '5c2a7e90d1b4-2f',
  }
}

/** What any request may meet: bytes that are not HTTP, limits of the server, and its failures. */
const OF_ANY = [400, 405, 408, 417, 431, 500, 503]
/** What a request may meet by the body that it has, even where none is asked for. */
const OF_BODIES = [413, 415]

/** Statuses of failures that every operation of the method may answer. */
export function universalFailures(method: string): number[] {
  const statuses = method === 'get' ? OF_ANY : [...OF_ANY, ...OF_BODIES]
  return statuses.filter((status) => STATUSES.includes(status))
}
