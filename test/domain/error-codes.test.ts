import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  FAILURES,
  type FailureCode,
  fromReceipt,
  fromSubmitStatus,
  SUCCESSES,
} from '../../src/domain/error-codes.ts'

const CODES = Object.keys(FAILURES) as FailureCode[]

test('codes are three digits, messages short and each its own', () => {
  expect(CODES.every((code) => /^[1-6]\d\d$/.test(code))).toBe(true)
  const messages = [...Object.values(FAILURES), ...Object.values(SUCCESSES)]
  expect(new Set(messages).size).toBe(messages.length)
  expect(messages.filter((message) => message.length > 60)).toEqual([])
})

test.each([
  [0x00, '000'],
  [0x01, '401'],
  [0x04, '102'],
  [0x08, '201'],
  [0x0a, '400'],
  [0x0b, '301'],
  [0x0e, '102'],
  [0x14, '202'],
  [0x45, '200'],
  [0x58, '202'],
  [0x61, '203'],
  [0xfe, '200'],
  [0x400, '200'],
  [0xffffffff, '200'],
])('command_status 0x%s is %s', (commandStatus, errorCode) => {
  expect(fromSubmitStatus(commandStatus)).toBe(errorCode)
})

describe('fromReceipt', () => {
  test.each([
    ['DELIVRD', null, null, '000'],
    ['ENROUTE', '000', null, '000'],
    ['EXPIRED', '000', null, '500'],
    ['DELETED', null, null, '204'],
    ['UNDELIV', '001', null, '300'],
    ['UNDELIV', '001', 3, '302'],
    ['UNDELIV', '027', 3, '303'],
    ['UNDELIV', '013', 3, '304'],
    ['UNDELIV', '032', 3, '305'],
    ['UNDELIV', '034', 3, '306'],
    ['UNDELIV', '999', 3, '300'],
    ['UNDELIV', null, 3, '300'],
    ['UNDELIV', 'abc', 3, '300'],
    ['UNDELIV', '001', 1, '300'],
    ['UNDELIV', '033', 3, '303'],
    ['UNDELIV', '044', 3, '302'],
    ['REJECTD', '013', 3, '304'],
    ['REJECTD', '999', 3, '200'],
    ['REJECTD', '001', null, '200'],
    ['REJECTD', '011', 7, '301'],
    ['UNDELIV', '020', 7, '202'],
    ['UNDELIV', '069', 7, '300'],
    ['UNDELIV', '006', 8, '300'],
    ['EXPIRED', '027', 3, '500'],
    ['DELIVRD', '027', 3, '000'],
    ['UNKNOWN', '001', 3, '600'],
    ['SKIPPED', null, null, '205'],
    ['UNKNOWN', null, null, '600'],
  ] as const)('%s, error %s of network type %s: %s', (state, rawErr, networkType, errorCode) => {
    expect(fromReceipt(state, rawErr, networkType)).toBe(errorCode)
  })
})

describe('docs/error-codes.md', () => {
  const doc = readFileSync(new URL('../../docs/error-codes.md', import.meta.url), 'utf8')

  test.each(Object.entries(FAILURES))('explains %s', (code, message) => {
    expect(doc).toContain(`| \`${code}\` | ${message} |`)
  })

  test.each(Object.entries(SUCCESSES))('gives the text of %s', (status, message) => {
    expect(doc).toContain(`| ${status} | ${message} |`)
  })

  test('lists no code that does not exist', () => {
    const listed = [...doc.matchAll(/^\| `([1-9]\d\d)` \|/gm)].map((match) => match[1])
    expect(listed).toEqual(CODES)
  })
})
