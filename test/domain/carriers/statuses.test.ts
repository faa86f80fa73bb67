import { describe, expect, test } from 'vitest'
import {
  codeOfSubmitStatus,
  type ErrorOutcome,
  type SubmitOutcome,
  submitOutcome,
} from '../../../src/domain/carriers/statuses.ts'

describe('submitOutcome', () => {
  test.each<[number, SubmitOutcome]>([
    [0x00, 'accepted'],
    [0x58, 'throttled'],
    [0x08, 'retry'],
    [0x14, 'retry'],
    [0x64, 'retry'],
    [0x45, 'limited-retry'],
    [0xfe, 'limited-retry'],
    [0xff, 'limited-retry'],
    [0x400, 'limited-retry'],
    [0x4ff, 'limited-retry'],
    [0x04, 'rebind'],
    [0x05, 'rebind'],
    [0x0d, 'rebind'],
    [0x0e, 'rebind'],
    [0x0f, 'rebind'],
    [0x53, 'rebind'],
    [0x01, 'permanent'],
    [0x0a, 'permanent'],
    [0x0b, 'permanent'],
    [0x3ff, 'permanent'],
    [0x500, 'permanent'],
    [0xffffffff, 'permanent'],
  ])('0x%s is %s', (commandStatus, kind) => {
    expect(submitOutcome(commandStatus)).toBe(kind)
  })

  test("a carrier's own table is asked first", () => {
    const overrides = new Map<number, ErrorOutcome>([[0x0b, 'retry']])
    expect(submitOutcome(0x0b, overrides)).toBe('retry')
    expect(submitOutcome(0x58, overrides)).toBe('throttled')
  })
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
  expect(codeOfSubmitStatus(commandStatus)).toBe(errorCode)
})
