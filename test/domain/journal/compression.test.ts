import { createHook } from 'node:async_hooks'
import { createZstdCompress, zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Compressor, decompress, FrameWriter } from '../../../src/domain/journal/compression.ts'

/** Node's own fields of a compressor. */
type Parts = {
  _handle?: { writeSync(...args: unknown[]): void } | undefined
  _writeState?: ArrayLike<number>
}

const frames = new FrameWriter()
const compress = (data: Buffer) => frames.compress(data)

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
        // Looked at octet by octet, as toEqual does it, 100 MB take longer than all the rest.
        expect(frames.map((frame, at) => zstdDecompressSync(frame).equals(all[at]!))).toEqual(
          all.map(() => true),
        )
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

test.each<[string, (made: Parts) => Parts]>([
  ['it has no such parts', () => ({ _handle: undefined })],
  [
    'its state has another order',
    ({ _writeState: state }) => ({ _writeState: Array.from(state!).toReversed() }),
  ],
  ['it writes nothing', () => ({ _handle: { writeSync: () => undefined }, _writeState: [100, 0] })],
  [
    'its write throws',
    () => ({
      _handle: {
        writeSync: () => {
          throw new Error('no memory')
        },
      },
    }),
  ],
])('a compressor that cannot be used again is made once, and frames are right: %s', (_, change) => {
  const made: Compressor[] = []
  const writer = new FrameWriter(() => {
    const compressor = createZstdCompress()
    made.push(Object.assign(compressor, change(compressor as Parts)))
    return compressor
  })
  const all = [1, 2, 3].map((octet) => Buffer.alloc(5_000, octet))
  expect(all.map((data) => zstdDecompressSync(writer.compress(data)))).toEqual(all)
  expect(made).toHaveLength(1)
})

test('a compressor that fails later is used no more, and its error ends nothing', async () => {
  let isBroken = false
  const writer = new FrameWriter(() => {
    const compressor = createZstdCompress()
    const handle = (compressor as Parts)._handle!
    const writeSync = handle.writeSync.bind(handle)
    handle.writeSync = (...args) => {
      writeSync(...args)
      if (isBroken) compressor.destroy(new Error('no memory'))
    }
    return compressor
  })
  const data = Buffer.alloc(5_000, 7)
  expect(zstdDecompressSync(writer.compress(data)).equals(data)).toBe(true)
  isBroken = true
  for (let time = 0; time < 3; time += 1)
    expect(zstdDecompressSync(writer.compress(data)).equals(data)).toBe(true)
  await new Promise((resolve) => setImmediate(resolve))
})
