import { expect, test } from 'vitest'
import { type Status, statusOf, UNKNOWN_REVERSIBLE_MS } from '../../src/domain/messages.ts'
import type { CarrierState } from '../../src/domain/receipts.ts'

test.each<[CarrierState, Status]>([
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
])('a receipt %s asks for %s', (state, status) => {
  expect(statusOf(state)).toBe(status)
})

test('UNKNOWN gives way for 72 h', () => {
  expect(UNKNOWN_REVERSIBLE_MS).toBe(72 * 3_600_000)
})
