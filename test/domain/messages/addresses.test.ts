import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  classifySender,
  fromCarrierAddress,
  isE164,
  maskedNumber,
  readE164,
  toCarrierAddress,
} from '../../../src/domain/messages/addresses.ts'
import { anyText } from '../../support/any-text.ts'

test.each([
  ['+15551230001', true],
  ['+1234567', true],
  ['+123456789012345', true],
  ['+123456', false],
  ['+1234567890123456', false],
  ['+0123456789', false],
  ['15551230001', false],
  ['00441234567890', false],
  ['+1 555 123 0001', false],
  ['+1(555)1230001', false],
  ['tel:+15551230001', false],
  ['＋15551230001', false],
  ['+15551230001\0', false],
  ['+15551230001\n', false],
  ['+١٢٣٤٥٦٧٨', false],
  ['', false],
])('isE164(%j) is %s', (address, expected) => {
  expect(isE164(address)).toBe(expected)
})

describe('classifySender', () => {
  test.each([
    ['123', 'short-code'],
    ['12345678', 'short-code'],
    ['00000', 'short-code'],
    ['12', null],
    ['123456789', null],
    ['+15551230001', 'e164'],
    ['+123', null],
    ['Aldis', 'alphanumeric'],
    ['A', 'alphanumeric'],
    ['My Shop.1_-&', null],
    ['M&S. _-1', 'alphanumeric'],
    ['ElevenChars', 'alphanumeric'],
    ['TwelveCharss', null],
    [' Shop', null],
    ['Shop ', null],
    ['12 34', null],
    ['...', null],
    ['Café', null],
    ['Ѕhop', null],
    ['Shop\n', null],
    ['Sh\0p', null],
    ['constructor', 'alphanumeric'],
    ['', null],
  ])('%j is %s', (from, kind) => {
    expect(classifySender(from)).toBe(kind)
  })
})

test('on the link', () => {
  expect(toCarrierAddress('+15551230001')).toEqual({ ton: 1, npi: 1, address: '15551230001' })
  expect(toCarrierAddress('Aldis')).toEqual({ ton: 5, npi: 0, address: 'Aldis' })
  expect(toCarrierAddress('12345')).toEqual({ ton: 3, npi: 0, address: '12345' })
})

test.each([
  ['+15551230001', '+15551230001'],
  ['+1 (555) 123-0001', '+15551230001'],
  ['0044 7400.123456', '+447400123456'],
  ['+44\u00a07400\u202f123456\n', '+447400123456'],
  ['15551230001', null],
  ['07400 123456', null],
  ['+0155512300', null],
  ['+1555123000١', null],
  ['++15551230001', null],
  ['+15551230001,+15551230002', null],
  [`+${' '.repeat(100)}15551230001`, null],
  ['', null],
])('%j means the number %j', (text, number) => {
  expect(readE164(text)).toBe(number)
})

describe('fromCarrierAddress', () => {
  test.each([
    ['15551230001', 1, '+15551230001'],
    ['+15551230001', 1, '+15551230001'],
    ['15551230001', 0, '+15551230001'],
    ['+15551230001', 0, '+15551230001'],
    ['0015551230001', 0, '+15551230001'],
    ['1 (555) 123-0001', 1, '+15551230001'],
    ['12345', 0, '12345'],
    ['12345', 3, '12345'],
    ['12345', 1, '12345'],
    ['5551230001', 2, '5551230001'],
    ['0555123000', 0, '0555123000'],
    ['Aldis', 5, 'Aldis'],
    ['15551230001', 5, '15551230001'],
    ['15551230001\0', 1, '+15551230001'],
    ['', 1, ''],
  ])('%j with TON %i is %j', (address, ton, expected) => {
    expect(fromCarrierAddress(address, ton)).toBe(expected)
  })

  test('what goes out as a number comes back the same', () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{6,14}$/)
    fc.assert(
      fc.property(digits, (number) => {
        const { address, ton } = toCarrierAddress(`+${number}`)
        expect(fromCarrierAddress(address, ton)).toBe(`+${number}`)
      }),
    )
  })

  test('no address throws', () => {
    fc.assert(
      fc.property(anyText(), fc.nat(255), (address, ton) => {
        expect(fromCarrierAddress(address, ton)).not.toContain('\0')
      }),
    )
  })
})

test.each([
  ['+15551230001', '+155******01'],
  ['+4670123', '+467**23'],
  ['123456', '***'],
  ['', '***'],
])('the number %s is kept as %s', (number, masked) => {
  expect(maskedNumber(number)).toBe(masked)
})
