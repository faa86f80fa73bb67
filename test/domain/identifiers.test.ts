import fc from 'fast-check'
import { expect, it, test } from 'vitest'
import {
  bucketOf,
  canonicalPublicId,
  createdAtMs,
  highestIdAt,
  isUuid,
  lowestIdAt,
  messageId,
  publicId,
} from '../../src/domain/identifiers.ts'

const instants = fc.integer({ min: 0, max: 2 ** 48 - 1 })
const randoms = fc.uint8Array({ minLength: 9, maxLength: 9 })
const buckets = fc.integer({ min: 0, max: 255 })

it('is a UUIDv7 that carries its millisecond and its bucket', () => {
  fc.assert(
    fc.property(instants, randoms, buckets, (ms, random, bucket) => {
      const id = messageId(ms, random, bucket)
      expect(isUuid(id)).toBe(true)
      expect(id[14]).toBe('7')
      expect('89ab').toContain(id[19])
      expect(createdAtMs(id)).toBe(ms)
      expect(bucketOf(id)).toBe(bucket)
    }),
  )
})

it('sorts by creation time, and lies between the boundaries of its millisecond', () => {
  fc.assert(
    fc.property(instants, randoms, buckets, (ms, random, bucket) => {
      const id = messageId(ms, random, bucket)
      expect(isUuid(lowestIdAt(ms)) && isUuid(highestIdAt(ms))).toBe(true)
      expect(id >= lowestIdAt(ms) && id <= highestIdAt(ms)).toBe(true)
      expect(id > highestIdAt(ms - 1) || ms === 0).toBe(true)
    }),
  )
})

it.each(['', 'not-a-uuid', '{00000000-0000-4000-8000-000000000000}', '00000000-0000-4000-8000-00000000000'])(
  'refuses %j as a UUID',
  (text) => {
    expect(isUuid(text)).toBe(false)
  },
)

test('twelve bytes are 24 lower-case hex digits', () => {
  expect(publicId(Buffer.from('00ffAbcdef0123456789abcd', 'hex'))).toBe('00ffabcdef0123456789abcd')
  expect(() => publicId(Buffer.alloc(11))).toThrow(RangeError)
})

test('identifiers are compared in lower case', () => {
  expect(canonicalPublicId('64F0c0ffee0123456789ABCD')).toBe('64f0c0ffee0123456789abcd')
})
