import { expect, test } from 'vitest'
import { maskedNumber } from '../../src/domain/messages/addresses.ts'
import { maskedUrl } from '../../src/domain/webhooks/callback-url.ts'

test.each([
  ['+15551230001', '+155******01'],
  ['+4670123', '+467**23'],
  ['123456', '***'],
  ['', '***'],
])('the number %s is kept as %s', (number, masked) => {
  expect(maskedNumber(number)).toBe(masked)
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
