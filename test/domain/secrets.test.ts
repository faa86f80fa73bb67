import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deriveKey, openSecret, SecretError, sealSecret } from '../../src/domain/secrets.ts'

const KEY = Buffer.alloc(32, 1)
const IV = Buffer.alloc(12, 2)

test('what is sealed opens under the same key and context', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.uint8Array({ minLength: 12, maxLength: 12 }),
      fc.string(),
      (text, iv, context) => {
        const sealed = sealSecret(KEY, text, iv, context)
        expect(openSecret(KEY, sealed, context)).toBe(text)
      },
    ),
  )
})

test('the sealed form does not hold the text', () => {
  const sealed = sealSecret(KEY, 'correct horse battery', IV, 'carrier 1')
  expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]+$/)
  expect(sealed).not.toContain('horse')
  expect(Buffer.from(sealed.split('.')[2]!, 'base64url').toString('latin1')).not.toContain('horse')
})

test('a wrong key is named as such, without the secret', () => {
  const sealed = sealSecret(KEY, 'correct horse', IV, 'carrier 1')
  const open = () => openSecret(Buffer.alloc(32, 9), sealed, 'carrier 1')
  expect(open).toThrow(SecretError)
  expect(open).toThrow('secret of carrier 1: was sealed with another SECRET_KEY than the one configured')
})

test('another context, a changed byte and a truncated text are refused', () => {
  const sealed = sealSecret(KEY, 'correct horse', IV, 'carrier 1')
  expect(() => openSecret(KEY, sealed, 'carrier 2')).toThrow(SecretError)
  expect(() => openSecret(KEY, sealed.slice(0, -4), 'carrier 1')).toThrow(SecretError)
  const [version, key, payload] = sealed.split('.') as [string, string, string]
  const bytes = Buffer.from(payload, 'base64url')
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    const text = `${version}.${key}.${changed.toString('base64url')}`
    expect(() => openSecret(KEY, text, 'carrier 1')).toThrow(SecretError)
  }
})

test('any text opens to SecretError, nothing else', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(() => openSecret(KEY, text, 'carrier 1')).toThrow(SecretError)
      expect(() => openSecret(KEY, `${sealSecret(KEY, '', IV, 'x').slice(0, 12)}${text}`, 'x')).toThrow(
        SecretError,
      )
    }),
  )
})

test('keys of different purposes differ, and a short master key is refused', () => {
  const master = Buffer.alloc(32, 3)
  expect(deriveKey(master, 'secrets')).toHaveLength(32)
  expect(deriveKey(master, 'secrets').equals(deriveKey(master, 'cursors'))).toBe(false)
  expect(deriveKey(master, 'secrets').equals(deriveKey(master, 'secrets'))).toBe(true)
  expect(() => deriveKey(Buffer.alloc(31), 'secrets')).toThrow(RangeError)
})
