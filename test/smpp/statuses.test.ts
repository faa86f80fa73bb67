import { expect, test } from 'vitest'
import { STATUSES, statusName } from '../../src/smpp/statuses.ts'

test.each(Object.entries(STATUSES))('%s is named', (name, code) => {
  expect(statusName(code)).toBe(name)
})

test.each([0x3ff, 0x400, 0x4ff, 0x500])('%i outside the table is still a value', (code) => {
  expect(statusName(code)).toBe(`0x00000${code.toString(16).toUpperCase()}`)
})
