/**
 * Every error code the HTTP API answers with: its status and its text (docs/error-codes.md). The list is
 * closed: a failure that is none of these is INTERNAL_ERROR.
 */
export const ERRORS = {
  VALIDATION_ERROR: { status: 400, message: 'The request is not valid' },
  SERVICE_PLAN_INCOMPLETE: { status: 400, message: 'The service plan has no route and cannot send yet' },
  UNAUTHENTICATED: { status: 401, message: 'A valid bearer token is required' },
  SERVICE_PLAN_INACTIVE: { status: 401, message: 'The service plan is not active' },
  FORBIDDEN: { status: 403, message: 'The token is not authorized for this service plan' },
  SENDER_NOT_AUTHORIZED: { status: 403, message: 'The service plan may not send from this sender' },
  COUNTRY_NOT_ALLOWED: { status: 403, message: 'The service plan may not send to this country' },
  SERVICE_PLAN_NOT_FOUND: { status: 404, message: 'The account has no such service plan' },
  MESSAGE_NOT_FOUND: { status: 404, message: 'No such message' },
  NOT_FOUND: { status: 404, message: 'No such resource' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'The resource does not support this method' },
  REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time' },
  CONFLICT: { status: 409, message: 'The request conflicts with the current state' },
  SENDER_PENDING_APPROVAL: { status: 409, message: 'The sender is waiting for approval' },
  PRECONDITION_FAILED: { status: 412, message: 'The resource no longer has the version in If-Match' },
  MESSAGE_TOO_LARGE: { status: 413, message: 'The message is too large' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'The body must be application/json in UTF-8, not compressed',
  },
  EXPECTATION_FAILED: { status: 417, message: 'The Expect header has an unsupported value' },
  SENDER_STATUS_UNKNOWN: { status: 422, message: 'The status of the sender is not recognized' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, message: 'The Idempotency-Key was used for another request' },
  RATE_LIMITED: { status: 429, message: 'Too many requests; retry after the indicated interval' },
  CAP_REACHED: { status: 429, message: 'The service plan has reached a cap of messages or of costs' },
  COUNTRY_PAUSED: { status: 429, message: 'Messages of the service plan to this country are paused' },
  HEADERS_TOO_LARGE: { status: 431, message: 'The request headers are too large' },
  INTERNAL_ERROR: { status: 500, message: 'The request could not be completed' },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'The service cannot answer right now; retry after the indicated interval',
  },
} as const satisfies Record<string, { status: number; message: string }>

/** What is wrong with one field of a request: an element of the `errors` array of a 400. */
export interface Fault {
  /** Name of the body field, query parameter or header; `request` for the request as a whole. */
  readonly field: string
  /** One word for programs: REQUIRED, WRONG_TYPE, INVALID_FORMAT, TOO_LONG … */
  readonly code: string
  readonly message: string
}

/** The field name of faults that belong to no single field. */
export const WHOLE_REQUEST = 'request'

export function fault(field: string, code: string, message: string): Fault {
  return { field, code, message }
}

export type ErrorCode = keyof typeof ERRORS

export interface ErrorDetails {
  /** Replaces the code's own text. Goes to the caller: no SQL, no internals. */
  readonly message?: string
  /** Every fault found, for VALIDATION_ERROR. */
  readonly errors?: readonly Fault[]
  /** Response headers the answer needs, for example Retry-After. */
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/** A failure with a code of the closed list; anything else that is thrown is a defect and answers INTERNAL_ERROR. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly errors: readonly Fault[] | undefined
  readonly headers: Readonly<Record<string, string>> | undefined

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    super(
      details.message ?? ERRORS[code].message,
      details.cause === undefined ? {} : { cause: details.cause },
    )
    this.code = code
    this.errors = details.errors
    this.headers = details.headers
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}

/** A VALIDATION_ERROR listing these faults. */
export function invalid(errors: readonly Fault[]): AppError {
  return new AppError('VALIDATION_ERROR', { errors })
}

/** Throws a VALIDATION_ERROR if there are faults. */
export function refuseAny(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalid(faults)
}

/** Returns what `read` reads; a VALIDATION_ERROR with the faults that it adds, if any. */
export function checked<T>(read: (faults: Fault[]) => T): T {
  const faults: Fault[] = []
  const value = read(faults)
  refuseAny(faults)
  return value
}

export function notFound(what: string): AppError {
  return new AppError('NOT_FOUND', { message: `No such ${what}` })
}

export function conflict(message: string): AppError {
  return new AppError('CONFLICT', { message })
}

/** A field whose value has the right form but cannot be meant. */
export function invalidField(field: string, code: string, message: string): AppError {
  return invalid([fault(field, code, message)])
}
