import type { Type } from 'typebox'
import { ErrorBody } from './fields.ts'

/** The `response` schemas of a route: its success and the error body for all else. */
export function answers<Status extends 200 | 201 | 204, Body extends Type.TSchema>(
  status: Status,
  body: Body,
): Record<Status, Body> & { '4xx': typeof ErrorBody; '5xx': typeof ErrorBody } {
  return { [status]: body, '4xx': ErrorBody, '5xx': ErrorBody } as Record<Status, Body> & {
    '4xx': typeof ErrorBody
    '5xx': typeof ErrorBody
  }
}
