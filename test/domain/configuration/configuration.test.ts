import { expect, test } from 'vitest'
import {
  formatCommandStatus,
  isCarrierHost,
  LINK_NAME,
  parseCommandStatus,
  pemCertificates,
  repeatedKeyword,
  repeatedValue,
} from '../../../src/domain/configuration/configuration.ts'

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

test.each([
  ['0x45', 0x45],
  ['0X00000045', 0x45],
  ['69', 69],
  ['0', 0],
  ['0xffffffff', 0xffff_ffff],
  ['4294967295', 0xffff_ffff],
  ['4294967296', null],
  ['0x100000000', null],
  ['45h', null],
  ['-1', null],
  ['1.5', null],
  ['', null],
])('command_status %j is %j', (text, status) => {
  expect(parseCommandStatus(text)).toBe(status)
})

test('a command_status is written as it is read', () => {
  expect(formatCommandStatus(0x45)).toBe('0x00000045')
  expect(parseCommandStatus(formatCommandStatus(0xffff_ffff))).toBe(0xffff_ffff)
})

const pem = (label: string, text = 'AAAA') => `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----`

test('certificates of a PEM text, without what stands between them', () => {
  const [one, two] = [pem('CERTIFICATE'), pem('CERTIFICATE', 'BBBB')]
  expect(pemCertificates(`subject=/CN=one\n${one}\r\n\n${two}\n`)).toEqual([one, two])
})

test.each([
  ['nothing', ''],
  ['other text', 'AAAA'],
  ['a key', pem('PRIVATE KEY')],
  ['a key beside it', `${pem('CERTIFICATE')}\n${pem('EC PRIVATE KEY')}`],
  ['a key that is not whole beside it', `${pem('CERTIFICATE')}\n-----BEGIN PRIVATE KEY-----\nAAAA`],
  ['one that is not whole', pem('CERTIFICATE').slice(0, -9)],
  ['one that is not base64', pem('CERTIFICATE', '<AAAA>')],
])('%s is no list of certificates', (_, text) => {
  expect(pemCertificates(text)).toBeNull()
})
