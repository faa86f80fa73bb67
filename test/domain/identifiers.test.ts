import { expect, test } from 'vitest'
import { canonicalPublicId, isPublicId, publicId } from '../../src/domain/identifiers.ts'

test('twelve bytes are 24 lower-case hex digits', () => {
  expect(publicId(Buffer.from('00ffAbcdef0123456789abcd', 'hex'))).toBe('00ffabcdef0123456789abcd')
  expect(() => publicId(Buffer.alloc(11))).toThrow(RangeError)
})

test('either case is an identifier, compared in lower case', () => {
  expect(isPublicId('64F0c0ffee0123456789ABCD')).toBe(true)
  expect(canonicalPublicId('64F0c0ffee0123456789ABCD')).toBe('64f0c0ffee0123456789abcd')
  for (const text of [
    '',
    '64f0c0ffee0123456789abc',
    '64f0c0ffee0123456789abcde',
    'g4f0c0ffee0123456789abcd',
  ]) {
    expect(isPublicId(text), text).toBe(false)
  }
})
