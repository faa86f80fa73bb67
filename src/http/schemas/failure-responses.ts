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
/** Failures to read a request, which are answered whatever operation it is for. */
const UNREAD: ReadonlySet<number> = new Set([408, 417, 431])

/** Name of the shared response that describes a status: 404, or 4XX for those that are described together. */
export function responseName(status: number): string {
  return UNREAD.has(status) ? '4XX' : String(status)
}

/** `components.responses`: what each status means, with an example of each of its error codes. */
export const FAILURE_RESPONSES = Object.fromEntries(
  [...Map.groupBy(ENTRIES, ([, { status }]) => responseName(status))].map(([name, entries]) => [
    name,
    responseOf(entries),
  ]),
)

function responseOf(entries: typeof ENTRIES) {
  const [[, { status }]] = entries as [(typeof ENTRIES)[number]]
  const examples = entries.map(([code, { message }]) => [code, { value: exampleOf(code, message) }])
  const meanings = entries.map(([code, entry]) =>
    UNREAD.has(entry.status) ? `${code} (${entry.status})` : code,
  )
  return {
    description: meanings.join(', '),
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
const OF_ANY = [400, 405, ...UNREAD, 500, 503]
const OF_BODIES = [413, 415]

/** Statuses of failures that every operation may answer, those with a body more. */
export function universalFailures(hasBody: boolean): readonly number[] {
  return hasBody ? [...OF_ANY, ...OF_BODIES] : OF_ANY
}
