import type { Type } from 'typebox'
import { failures } from '../../schemas/error-body.ts'

const DESCRIPTIONS = { 200: 'As it is now', 201: 'Created', 202: 'Taken on', 204: 'Done' }

/** The `response` schemas of a route: its success and the error body. */
export function answers<Status extends 200 | 201 | 202 | 204, Body extends Type.TSchema>(
  status: Status,
  body: Body,
): Record<Status, Body> {
  const described = { ...body, description: DESCRIPTIONS[status] }
  return { ...failures(400, 401, 403, 404, 409), [status]: described } as unknown as Record<Status, Body>
}
