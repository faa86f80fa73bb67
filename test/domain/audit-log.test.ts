import { expect, test } from 'vitest'
import { maskedNumber, withHiddenFields } from '../../src/domain/audit-log.ts'

test.each([
  ['+15551230001', '+155******01'],
  ['+4670123', '+467**23'],
  ['123456', '***'],
  ['', '***'],
])('the number %s is kept as %s', (number, masked) => {
  expect(maskedNumber(number)).toBe(masked)
})

test('a field that the object does not show is named without its value', () => {
  const shown = { name: 'acme', host: 'b' }
  expect(withHiddenFields({ host: 'b', password: 'hush' }, shown)).toEqual({ ...shown, password: '***' })
  expect(withHiddenFields({}, shown)).toEqual(shown)
})
