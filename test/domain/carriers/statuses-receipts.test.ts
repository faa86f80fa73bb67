import { describe, expect, test } from 'vitest'
import {
  codeOfReceipt,
  RECEIPT_STATES,
  type ReceiptOutcome,
  type ReceiptState,
} from '../../../src/domain/carriers/statuses.ts'

test.each<[ReceiptState, ReceiptOutcome]>([
  ['SCHEDULED', 'SENT'],
  ['ENROUTE', 'SENT'],
  ['ACCEPTD', 'SENT'],
  ['DELIVRD', 'DELIVERED'],
  ['EXPIRED', 'FAILED'],
  ['DELETED', 'FAILED'],
  ['UNDELIV', 'FAILED'],
  ['REJECTD', 'FAILED'],
  ['SKIPPED', 'FAILED'],
  ['UNKNOWN', 'UNKNOWN'],
])('a receipt %s asks for %s', (state, outcome) => {
  expect(RECEIPT_STATES[state].outcome).toBe(outcome)
})

describe('codeOfReceipt', () => {
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
    expect(codeOfReceipt(state, rawErr, networkType)).toBe(errorCode)
  })
})
