import { expect, test } from 'vitest'
import { maskedNumber, maskedUrl, withHiddenFields } from '../../src/domain/audit-log.ts'

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

test.each([
  ['https://hooks.example.com', 'https://hooks.example.com'],
  ['https://hooks.example.com/aldis/dlr', 'https://hooks.example.com/aldis/dlr'],
  ['https://me:pass@hooks.example.com:8443/dlr?key=1&b=2', 'https://hooks.example.com:8443/dlr?***'],
  ['https://hooks.example.com?key=1', 'https://hooks.example.com?***'],
  [
    'https://hooks.example.com/services/T0/xoxb56789012345678901234',
    'https://hooks.example.com/services/T0/***',
  ],
  ['https://hooks.example.com/0f8fad5b-d9cb-469f-a165-70867728950e/in', 'https://hooks.example.com/***/in'],
])('%s is recorded as %s', (url, recorded) => {
  expect(maskedUrl(url)).toBe(recorded)
})
