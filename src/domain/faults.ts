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
