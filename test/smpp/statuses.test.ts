import { expect, test } from 'vitest'
import {
  isVendorStatus,
  STATUSES,
  type StatusName,
  statusMeaning,
  statusName,
} from '../../src/smpp/statuses.ts'

test.each(Object.entries(STATUSES))('%s is named and explained', (name, code) => {
  expect(statusName(code)).toBe(name as StatusName)
  expect(statusMeaning(code).length).toBeGreaterThan(3)
})

test.each([
  [0x3ff, false, 'reserved'],
  [0x400, true, 'defined by the SMSC vendor'],
  [0x4ff, true, 'defined by the SMSC vendor'],
  [0x500, false, 'reserved'],
])('0x%s outside the table is still a value', (code, vendor, meaning) => {
  expect(isVendorStatus(code)).toBe(vendor)
  expect(statusMeaning(code)).toBe(meaning)
  expect(statusName(code)).toBe(`0x00000${code.toString(16).toUpperCase()}`)
})
