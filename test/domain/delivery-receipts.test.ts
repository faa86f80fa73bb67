import { expect, it } from 'vitest'
import { receiptErrorMessage } from '../../src/domain/delivery-receipts.ts'
import { FAILURES, SUCCESSES } from '../../src/domain/error-codes.ts'

it('gives every code its text, and 000 that of the status', () => {
  for (const [code, text] of Object.entries(FAILURES)) expect(receiptErrorMessage('FAILED', code)).toBe(text)
  expect(receiptErrorMessage('SENT', '000')).toBe(SUCCESSES.SENT)
})

it('has a text for the code of another release', () => {
  expect(receiptErrorMessage('FAILED', '999')).not.toBe('')
  expect(receiptErrorMessage('UNKNOWN', '000')).not.toBe('')
})
