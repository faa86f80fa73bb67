import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  hashToken,
  isWellFormedToken,
  MAX_TOKEN_LENGTH,
  makeToken,
  tokenHint,
} from '../../src/domain/tokens.ts'

const random32 = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('every token is well-formed and has one length', () => {
  fc.assert(
    fc.property(random32, (random) => {
      const token = makeToken(random)
      expect(token).toMatch(/^aldis_[0-9A-Za-z]{49}$/)
      expect(isWellFormedToken(token)).toBe(true)
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

test('one wrong character is noticed, wherever it is', () => {
  const token = makeToken(new Uint8Array(32).fill(0x5a))
  for (let at = 0; at < token.length; at++) {
    const wrong = token.slice(0, at) + (token[at] === 'a' ? 'b' : 'a') + token.slice(at + 1)
    expect(isWellFormedToken(wrong), wrong).toBe(false)
  }
})

test('any text is judged without a throw', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !isWellFormedToken(text)))
})

test('a token is made of exactly 32 bytes', () => {
  expect(() => makeToken(new Uint8Array(31))).toThrow(RangeError)
  expect(() => makeToken(new Uint8Array(33))).toThrow(RangeError)
})

test('the hash is SHA-256, and the hint shows four characters of the secret', () => {
  expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  const token = makeToken(new Uint8Array(32).fill(7))
  expect(tokenHint(token)).toBe(`aldis_…${token.slice(-4)}`)
})
