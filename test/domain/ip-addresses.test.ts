import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  inCidr,
  isLoopback,
  isPublicUnicast,
  isSameAddress,
  parseCidr,
  parseIpAddress,
  subscriberOf,
} from '../../src/domain/ip-addresses.ts'

describe('parseIpAddress', () => {
  test.each([
    ['0.0.0.0', 0n],
    ['8.8.8.8', 0x08080808n],
    ['255.255.255.255', 0xffffffffn],
    ['::', 0n],
    ['::1', 1n],
    ['1::', 1n << 112n],
    ['2001:db8::ff00:42:8329', 0x20010db8000000000000ff0000428329n],
    ['0:0:0:0:0:0:0:1', 1n],
    ['::ffff:127.0.0.1', 0xffff7f000001n],
    ['64:ff9b::8.8.8.8', 0x0064ff9b000000000000000008080808n],
    ['1:2:3:4:5:6:7.8.9.10', 0x00010002000300040005000607080910n - 0x10n + 0x0an],
  ])('%s', (text, value) => {
    expect(parseIpAddress(text)?.value).toBe(value)
  })

  test.each([
    ...[
      '',
      '1',
      '1.2.3',
      '1.2.3.4.5',
      '01.2.3.4',
      '1.2.3.256',
      '0x7f.0.0.1',
      '1.2.3.4 ',
      '1.2.3.-4',
      '127.0.0.1.',
    ],
    ...[
      ':',
      ':::',
      '1::2::3',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '1:2:3:4:5:6:7::8',
      'fe80::1%lo',
      '12345::',
    ],
    ...['::1.2.3', '1.2.3.4::', '::1.2.3.4:5', '[::1]', '::g', '1:2:3:4:5:6:7:1.2.3.4'],
  ])('refuses %j', (text) => {
    expect(parseIpAddress(text)).toBeNull()
  })

  test('reads back any eight groups, however they are written', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        expect(parseIpAddress(text)).not.toBeNull()
        expect(new URL(`http://[${text}]/`).hostname).toBe(
          new URL(`http://[${hextetsOf(parseIpAddress(text)?.value ?? -1n)}]/`).hostname,
        )
      }),
    )
  })

  test('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789abcdef:./%[]x') }), (text) => {
        parseIpAddress(text)
        isPublicUnicast(text)
        parseCidr(text)
      }),
    )
  })
})

function hextetsOf(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => (value >> BigInt(112 - 16 * index)) & 0xffffn)
  return groups.map((group) => group.toString(16)).join(':')
}

describe('parseCidr', () => {
  test('a bare address is a network of one', () => {
    expect(parseCidr('10.0.0.1')).toEqual({ family: 4, base: 0x0a000001n, prefixBits: 32 })
    expect(parseCidr('::1')?.prefixBits).toBe(128)
  })

  test('a network of addresses that are mapped into IPv6 is the IPv4 network', () => {
    expect(parseCidr('::ffff:10.0.0.0/104')).toEqual(parseCidr('10.0.0.0/8'))
    expect(parseCidr('::ffff:a00:1')).toEqual(parseCidr('10.0.0.1'))
    expect(parseCidr('::ffff:0.0.0.0/96')).toEqual(parseCidr('0.0.0.0/0'))
    expect(parseCidr('::fffe:0:0/95')).toMatchObject({ family: 6, prefixBits: 95 })
  })

  test.each([
    '',
    '/8',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.1/8',
    '::/129',
    '10.0.0.0/8/8',
    'x/8',
  ])('refuses %j', (text) => {
    expect(parseCidr(text)).toBeNull()
  })
})

describe('inCidr', () => {
  test.each([
    ['10.255.255.255', '10.0.0.0/8', true],
    ['11.0.0.0', '10.0.0.0/8', false],
    ['1.2.3.4', '0.0.0.0/0', true],
    ['::ffff:10.0.0.1', '10.0.0.0/8', true],
    ['10.0.0.1', '::ffff:10.0.0.0/104', true],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.0/104', true],
    ['11.0.0.1', '::ffff:10.0.0.0/104', false],
    ['::1', '::ffff:0.0.0.0/96', false],
    ['fd00::1', 'fc00::/7', true],
    ['fe00::', 'fc00::/7', false],
    ['nonsense', '0.0.0.0/0', false],
    ['1.2.3.4', 'nonsense', false],
  ])('%s in %s: %s', (address, cidr, expected) => {
    expect(inCidr(address, cidr)).toBe(expected)
  })
})

describe('isPublicUnicast', () => {
  // First and last address of each special block, and their neighbours outside it.
  test.each([
    ['0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
    ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
    ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
    ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
    ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
    ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
    ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
    ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
    ['192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
    ['192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
    ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
    ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
    ['192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
    ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
    ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
    ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
    ['224.0.0.0', '255.255.255.255', '223.255.255.255', null],
    ['2001::', '2001:1ff:ffff::', '2000:ffff:ffff::', '2001:200::'],
    ['2001:db8::', '2001:db8:ffff:ffff::', '2001:db7:ffff::', '2001:db9::'],
    ['2002::', '2002:ffff:ffff::', '2001:ffff:ffff::', '2003::'],
    ['2620:4f:8000::', '2620:4f:8000:ffff::', '2620:4f:7fff::', '2620:4f:8001::'],
    ['3fff::', '3fff:fff:ffff::', '3ffe:ffff::', '3fff:1000::'],
    ['4000::', 'ffff:ffff::', '3fff:ffff:ffff::', null],
    ['::', '1fff:ffff::', null, '2000::'],
  ])('%s to %s is not', (first, last, before, after) => {
    expect(isPublicUnicast(first)).toBe(false)
    expect(isPublicUnicast(last)).toBe(false)
    if (before !== null) expect(isPublicUnicast(before)).toBe(true)
    if (after !== null) expect(isPublicUnicast(after)).toBe(true)
  })

  test.each(['2400:1::5efe:a00:1', '2400:1::200:5efe:a00:1', '2400:1::5efe:808:808'])(
    'ISATAP %s is not',
    (address) => {
      expect(isPublicUnicast(address)).toBe(false)
    },
  )
})

test('isLoopback', () => {
  expect(['127.0.0.1', '127.255.0.1', '::1', '::ffff:127.0.0.1'].every(isLoopback)).toBe(true)
  expect(['128.0.0.1', '::2', '::ffff:128.0.0.1', 'localhost'].some(isLoopback)).toBe(false)
})

test('isSameAddress', () => {
  expect(isSameAddress('::1', '0:0:0:0:0:0:0:1')).toBe(true)
  expect(isSameAddress('127.0.0.1', '127.0.0.2')).toBe(false)
  expect(isSameAddress('0.0.0.1', '::1')).toBe(false)
  expect(isSameAddress('', '')).toBe(false)
})

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '20010db800010002/64'],
  ['2001:db8:1:2::', '20010db800010002/64'],
  ['2001:db8:1:3::', '20010db800010003/64'],
  ['::1', '0/64'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
])('subscriberOf(%s) is %s', (address, subscriber) => {
  expect(subscriberOf(address)).toBe(subscriber)
})
