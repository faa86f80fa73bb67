import { ERRORS, type ErrorCode } from '../../errors.ts'
import { ErrorBodySchema } from './error-body.ts'

/** Responses for failures, shared by all operations of the OpenAPI document. */

const text = (description: string) => ({ description, schema: { type: 'string' } })
const seconds = (description: string) => ({ description, schema: { type: 'integer' } })

/** `components.headers`: those of every failure. */
export const SHARED_HEADERS = {
  'x-request-id': text(
    'Id of the request, also in the log; of a send that made a message, the id of the message',
  ),
}
const REQUEST_ID = { 'x-request-id': { $ref: '#/components/headers/x-request-id' } }

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

/** `components.responses`, by status: what it means, with an example of each of its error codes. */
export const FAILURE_RESPONSES = Object.fromEntries(
  [...Map.groupBy(ENTRIES, ([, { status }]) => status)].map(([status, entries]) => [
    status,
    responseOf(entries),
  ]),
)

function responseOf(entries: typeof ENTRIES) {
  const [[, { status }]] = entries as [(typeof ENTRIES)[number]]
  const examples = entries.map(([code, { message }]) => [code, { value: exampleOf(code, message) }])
  return {
    description: entries.map(([code]) => code).join(', '),
    headers: { ...REQUEST_ID, ...HEADERS[status] },
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

/** Failures of any request: bytes that are not HTTP, limits of the server, and its own failures. */
const OF_ANY = [400, 405, 408, 417, 431, 500, 503]
const OF_BODIES = [413, 415]

/** Statuses of failures that every operation may answer; those with a body have more. */
export function universalFailures(hasBody: boolean): readonly number[] {
  return hasBody ? [...OF_ANY, ...OF_BODIES] : OF_ANY
}
