import { createHook } from 'node:async_hooks'
import { zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compress, decompress } from '../../../src/domain/journal/compression.ts'

test('any data comes back, whatever was compressed before', () => {
  const data = fc.oneof(
    fc.uint8Array({ maxLength: 10_000 }),
    fc.tuple(fc.string(), fc.nat(20_000)).map(([text, times]) => Buffer.from(text.repeat(times))),
  )
  fc.assert(
    fc.property(
      fc.array(
        data.map((octets) => Buffer.from(octets)),
        { maxLength: 10 },
      ),
      (all) => {
        const frames = all.map(compress)
        expect(frames.map((frame) => zstdDecompressSync(frame))).toEqual(all)
      },
    ),
  )
})

test.each([0, 1, 262_143, 262_144, 262_145, 3_000_000])('%i octets that nothing makes shorter', (octets) => {
  const noise = crypto.getRandomValues(new Uint8Array(65_536))
  const data = Buffer.from(
    Array.from({ length: octets }, (_, at) => noise[(at * 7_919 + (at >> 16)) % 65_536]!),
  )
  expect(decompress(compress(data), Math.max(1, octets)).equals(data)).toBe(true)
})

test('a compressor is made once, and for data of more than 256 KiB', () => {
  compress(Buffer.alloc(10))
  const made: string[] = []
  const hook = createHook({ init: (_, type) => void (type === 'ZLIB' && made.push(type)) }).enable()
  try {
    for (let time = 0; time < 100; time += 1) compress(Buffer.alloc(10_000, time))
    expect(made).toEqual([])
    compress(Buffer.alloc(262_145))
    expect(made).toEqual(['ZLIB'])
  } finally {
    hook.disable()
  }
})

test('a frame that holds more than it may is refused', () => {
  const frame = compress(Buffer.alloc(1_000))
  expect(() => decompress(frame, 999)).toThrow(RangeError)
  expect(decompress(frame, 1_000)).toHaveLength(1_000)
})
