import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { AppError, ERRORS } from '../src/errors.ts'

const DOC = readFileSync(join(import.meta.dirname, '../docs/error-codes.md'), 'utf8')

it('docs/error-codes.md lists every code of the HTTP API with its status, and no other', () => {
  const documented = [...DOC.matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \|/gm)].map(([, code, status]) => [
    code,
    Number(status),
  ])
  expect(Object.fromEntries(documented)).toEqual(
    Object.fromEntries(Object.entries(ERRORS).map(([code, { status }]) => [code, status])),
  )
})

it('an error carries the status and text of its code, unless it is told better', () => {
  expect(new AppError('MESSAGE_NOT_FOUND')).toMatchObject({ status: 404, message: 'No such message' })
  expect(new AppError('CONFLICT', { message: 'in use' })).toMatchObject({ status: 409, message: 'in use' })
})
