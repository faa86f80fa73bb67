import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashToken, MAX_TOKEN_LENGTH, makeToken, storedToken } from '../../src/domain/credentials.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const random32 = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('every token has one length, and ends with the CRC-32 of what stands before', () => {
  fc.assert(
    fc.property(random32, (random) => {
      const token = makeToken(random)
      expect(token).toMatch(/^aldis_[0-9A-Za-z]{49}$/)
      const checksum = Array.from(token.slice(-6)).reduce((sum, digit) => sum * 62 + DIGITS.indexOf(digit), 0)
      expect(checksum).toBe(crc32(token.slice(0, -6)))
      expect(token.length).toBeLessThan(MAX_TOKEN_LENGTH)
    }),
  )
})

test('different bytes make different tokens', () => {
  fc.assert(
    fc.property(random32, random32, (a, b) => {
      expect(makeToken(a) === makeToken(b)).toBe(Buffer.from(a).equals(Buffer.from(b)))
    }),
  )
})

test('a token is made of exactly 32 bytes', () => {
  expect(() => makeToken(new Uint8Array(31))).toThrow(RangeError)
  expect(() => makeToken(new Uint8Array(33))).toThrow(RangeError)
})

test('the hash is SHA-256, and the hint shows four characters of the secret', () => {
  expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  const token = makeToken(new Uint8Array(32).fill(7))
  expect(storedToken(token).hint).toBe(`aldis_…${token.slice(-4)}`)
})
