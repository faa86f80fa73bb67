import type { ErrorBody } from './api.ts'

type ErrorCode = ErrorBody['errorCode']
type Fault = NonNullable<ErrorBody['errors']>[number]

/** The service answered, and it was no success. */
export class AldisError extends Error {
  override readonly name = 'AldisError'
  /** HTTP status. */
  readonly status: number
  /** Code of the Error body, or of a record that was stored as FAILED. Null: the answer came from something between. */
  readonly errorCode: ErrorCode | (string & {}) | null
  /** One entry for each field that is wrong; empty when it is not about fields. */
  readonly errors: readonly Fault[]
  /** By which the operator finds the request in the log. */
  readonly requestId: string | null
  /** Whole seconds to wait before the next try, where the service says so. */
  readonly retryAfterSeconds: number | null
  /** The answer: parsed JSON, or the text when it is none. */
  readonly body: unknown

  constructor(status: number, headers: Headers, body: unknown) {
    const error: Partial<ErrorBody> = typeof body === 'object' && body !== null ? body : {}
    super(messageOf(status, error))
    this.status = status
    this.errorCode = error.errorCode ?? null
    this.errors = error.errors ?? []
    this.requestId = error.requestId ?? headers.get('x-request-id')
    const retryAfter = headers.get('retry-after')
    this.retryAfterSeconds = retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : null
    this.body = body
  }
}

function messageOf(status: number, { errorCode, errorMessage, errors = [] }: Partial<ErrorBody>): string {
  if (errorCode === undefined) return `${status}: not an answer of Aldis`
  const faults = errors.map(({ field, message }) => `${field}: ${message}`).join(', ')
  return `${status} ${errorCode}: ${errorMessage}${faults === '' ? '' : ` (${faults})`}`
}
