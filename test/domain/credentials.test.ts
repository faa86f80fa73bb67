import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  hashPassword,
  hashToken,
  isPassword,
  MAX_TOKEN_LENGTH,
  makeToken,
  openSession,
  SALT_BYTES,
  sealSession,
  storedToken,
} from '../../src/domain/credentials.ts'
import { deriveKey } from '../../src/domain/secrets.ts'

describe('tokens', () => {
  const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const random32 = fc.uint8Array({ minLength: 32, maxLength: 32 })

  test('every token has one length, and ends with the CRC-32 of what stands before', () => {
    fc.assert(
      fc.property(random32, (random) => {
        const token = makeToken(random)
        expect(token).toMatch(/^aldis_[0-9A-Za-z]{49}$/)
        const checksum = Array.from(token.slice(-6)).reduce(
          (sum, digit) => sum * 62 + DIGITS.indexOf(digit),
          0,
        )
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
})

describe('passwords', () => {
  const SALT = Buffer.alloc(SALT_BYTES, 7)

  test('the hash of a password is of no other, and has its salt', async () => {
    const stored = await hashPassword('elpmis ü', SALT)
    expect(stored).toMatch(/^scrypt\.16384\.8\.1\.[\w-]{22}\.[\w-]{43}$/)
    expect(await isPassword('elpmis ü', stored)).toBe(true)
    expect(await isPassword('elpmis', stored)).toBe(false)
    expect(await hashPassword('elpmis ü', Buffer.alloc(SALT_BYTES, 8))).not.toBe(stored)
  })
})

describe('sessions of the console', () => {
  const key = deriveKey(randomBytes(32), 'sessions')
  const session = { tokenHash: hashToken('token'), expiresAtMs: 2_000 }
  const sealed = sealSession('customer', session, key, randomBytes(12))
  const open = (text: string, nowMs = 1_000) => openSession('customer', text, key, nowMs)

  test('a session opens until it expires', () => {
    expect(open(sealed)).toEqual(session)
    expect(open(sealed, 1_999)).toEqual(session)
    expect(open(sealed, 2_000)).toBeNull()
  })

  test('it shows nothing of the token', () => {
    expect(Buffer.from(sealed.split('.')[2]!, 'base64url').toString('latin1')).not.toContain('tokenHash')
    expect(sealSession('customer', session, key, randomBytes(12))).not.toBe(sealed)
  })

  test('a session of one kind is none of the other', () => {
    expect(openSession('operator', sealed, key, 1_000)).toBeNull()
  })

  test('null for whatever was not sealed with the key', () => {
    const other = deriveKey(randomBytes(32), 'sessions')
    expect(open(sealSession('customer', session, other, randomBytes(12)))).toBeNull()
    const [version, , rest] = sealed.split('.')
    const [, otherId] = sealSession('customer', session, other, randomBytes(12)).split('.')
    expect(open(`${version}.${otherId}.${rest}`)).toBeNull()
    for (const text of [
      '',
      'v1',
      'v1..',
      `v2${sealed.slice(2)}`,
      `${sealed}A`,
      sealed + sealed,
      'x'.repeat(16_000),
    ])
      expect(open(text), text.slice(0, 40)).toBeNull()
  })

  test('null when any character is missing or another', () => {
    for (let at = 0; at < sealed.length; at += 1) {
      expect(open(sealed.slice(0, at)), `first ${at}`).toBeNull()
      const changed = sealed[at] === 'A' ? 'B' : 'A'
      const text = sealed.slice(0, at) + changed + sealed.slice(at + 1)
      // The last character may have bits that stand for nothing.
      if (at < sealed.length - 1) expect(open(text), `without ${at}`).toBeNull()
    }
  })

  test('while SECRET_KEY is being changed, sessions of both keys open, and new ones are of the new key', () => {
    const fresh = deriveKey(randomBytes(32), 'sessions')
    expect(openSession('customer', sealed, [fresh, key], 1_000)).toEqual(session)
    const renewed = sealSession('customer', session, [fresh, key], randomBytes(12))
    expect(openSession('customer', renewed, fresh, 1_000)).toEqual(session)
  })
})
