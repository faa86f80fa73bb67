import { expect, it } from 'vitest'
import { AldisError } from '../../../client/src/index.ts'
import { explain } from '../../../console/src/api/errors.ts'

const refused = (status: number, body: unknown, headers = {}) =>
  new AldisError(status, new Headers(headers), body)

it('a refusal has its words, its faults by field and its request id', () => {
  const body = {
    errorCode: 'INVALID_REQUEST',
    errorMessage: 'The request is invalid',
    errors: [{ field: 'port', code: 'OUT_OF_RANGE', message: 'must be at most 65535' }],
    requestId: 'r-1',
  }
  expect(explain(refused(400, body))).toEqual({
    title: 'The service refused this',
    detail: 'The request is invalid.',
    requestId: 'r-1',
    faults: { port: 'must be at most 65535' },
  })
})

it.each([
  [refused(401, {}), 'Your session has ended', 'Status 401, without an explanation.'],
  [
    refused(429, { errorMessage: 'Too many reads.' }, { 'retry-after': '3' }),
    'Too many requests',
    'Too many reads. Try again in 3 s.',
  ],
  [refused(502, '<html>'), 'The service failed', 'Status 502, without an explanation.'],
  [new TypeError('Failed to fetch'), 'The service cannot be reached', expect.stringContaining('connection')],
  [new DOMException('', 'TimeoutError'), 'The service took too long', expect.stringContaining('30 seconds')],
  [new Error('x is undefined'), 'Something went wrong', 'x is undefined'],
  ['text', 'Something went wrong', 'text'],
])('%s', (error, title, detail) => {
  expect(explain(error)).toEqual({ title, detail, requestId: null, faults: {} })
})
