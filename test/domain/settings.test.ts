import { expect, test } from 'vitest'
import { isCarrierHost, LINK_NAME, repeatedKeyword, repeatedValue } from '../../src/domain/settings.ts'

test.each(['smpp.example.net', 'localhost', '127.0.0.1', '2001:db8::1', 'carrier_1', 'a-b.c'])(
  '%s is a host',
  (host) => {
    expect(isCarrierHost(host)).toBe(true)
  },
)

test.each(['', 'a b', '-a', 'a-', '.', 'a..b', 'http://a', 'a:2775', '256.1.1.1', '127.1', 'x'.repeat(254)])(
  '%j is no host',
  (host) => expect(isCarrierHost(host)).toBe(false),
)

test('names of carriers and routes begin with a letter, so that they are no numbers', () => {
  expect(LINK_NAME.test('acme-2.eu_1')).toBe(true)
  for (const name of ['', '1', '1acme', '-a', 'a b', 'a/b', `a${'b'.repeat(63)}`]) {
    expect(LINK_NAME.test(name), name).toBe(false)
  }
})

test('a keyword repeated in another case or another Unicode form is found', () => {
  expect(repeatedKeyword(['STOP', 'Start'])).toBeNull()
  expect(repeatedKeyword(['STOP', 'Start', 'stop'])).toBe('stop')
  expect(repeatedKeyword(['é', 'e\u0301'])).toBe('e\u0301')
  expect(repeatedValue(['a', 'b', 'a'])).toBe('a')
  expect(repeatedValue(['a', 'b', 'A'])).toBeNull()
})
