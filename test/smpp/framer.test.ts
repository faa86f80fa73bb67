import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodePdu } from '../../src/smpp/encoding.ts'
import { DEFAULT_FRAME_LIMIT, Framer } from '../../src/smpp/framer.ts'
import { anyPduAtAll } from './pdu-arbitrary.ts'

/** Every frame the framer cuts from these chunks, as hexadecimal. */
function framesOf(framer: Framer, chunks: Iterable<Buffer>): string[] {
  const frames: string[] = []
  for (const chunk of chunks) {
    framer.push(chunk)
    while (framer.next()) frames.push(framer.buffer.toString('hex', framer.start, framer.end))
  }
  return frames
}

/** The octets cut at the given places (modulo the length). */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const offsets = [
    0,
    ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b),
    bytes.length,
  ]
  return offsets.slice(1).map((end, i) => bytes.subarray(offsets[i], end))
}

const header = (commandLength: number, sequence: number) => {
  const bytes = encodePdu({ command: 'enquire_link', sequence })
  bytes.writeUInt32BE(commandLength, 0)
  return bytes
}

describe('cutting', () => {
  test('however the stream is cut into chunks, the frames are the same', () => {
    const stream = fc.array(anyPduAtAll, { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 30 }), (pdus, places) => {
        const frames = pdus.map(encodePdu)
        const bytes = Buffer.concat(frames)
        const expected = frames.map((frame) => frame.toString('hex'))
        const framer = new Framer()
        expect(framesOf(framer, cut(bytes, places))).toEqual(expected)
        expect(framer.held).toBe(0)
        expect(
          framesOf(
            new Framer(),
            Array.from(bytes, (octet) => Buffer.from([octet])),
          ),
        ).toEqual(expected)
      }),
    )
  })

  test('any octets, cut anywhere: no throw, and never more than one frame limit is held', () => {
    const limit = 64
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(fc.integer({ min: 0, max: 80 }), { maxLength: 20 }).map((lengths) => {
        return new Uint8Array(Buffer.concat(lengths.map((length) => header(length, 1))))
      }),
    )
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(), { maxLength: 20 }), (octets, places) => {
        const framer = new Framer(limit)
        for (const chunk of cut(Buffer.from(octets), places)) {
          framer.push(chunk)
          while (framer.next()) {
            expect(framer.end - framer.start).toBeLessThanOrEqual(limit)
            expect(framer.end - framer.start).toBeGreaterThanOrEqual(16)
          }
          expect(framer.held).toBeLessThan(limit)
          expect(framer.buffer.length).toBe(0)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('frames within one chunk are views of it, not copies', () => {
    const bytes = Buffer.concat([header(16, 1), header(16, 2)])
    const framer = new Framer()
    framer.push(bytes)
    expect(framer.next()).toBe(true)
    expect(framer.buffer).toBe(bytes)
    expect([framer.start, framer.end]).toEqual([0, 16])
  })

  test('a frame once cut is never written again', () => {
    const framer = new Framer()
    const kept: Buffer[] = []
    for (const sequence of [1, 2, 3]) {
      for (const octet of header(16, sequence)) {
        framer.push(Buffer.from([octet]))
        while (framer.next()) kept.push(framer.buffer.subarray(framer.start, framer.end))
      }
    }
    expect(kept.map((frame) => frame.readUInt32BE(12))).toEqual([1, 2, 3])
  })
})

describe('command_length', () => {
  test.each([0, 1, 15, DEFAULT_FRAME_LIMIT + 1, 0x7fffffff, 0xffffffff])(
    'B330 B333 %i is a fault',
    (length) => {
      const framer = new Framer()
      expect(
        framesOf(framer, [Buffer.concat([header(16, 5), header(length, 6), header(16, 7)])]),
      ).toHaveLength(1)
      expect(framer.fault).toEqual({ sequence: 6 })
      expect(framer.held).toBe(0)
      expect(framesOf(framer, [header(16, 8)])).toEqual([])
    },
  )

  test('a fault whose sequence number has not arrived has sequence 0', () => {
    for (const chunks of [[Buffer.alloc(4)], Array.from({ length: 4 }, () => Buffer.alloc(1))]) {
      const framer = new Framer()
      expect(framesOf(framer, chunks)).toEqual([])
      expect(framer.fault).toEqual({ sequence: 0 })
    }
  })

  test('a length cut in two still finds the sequence number in the same chunk', () => {
    const framer = new Framer()
    framesOf(framer, cut(header(3, 77), [2]))
    expect(framer.fault).toEqual({ sequence: 77 })
  })

  test.each([16, DEFAULT_FRAME_LIMIT])('%i is accepted', (length) => {
    const framer = new Framer()
    expect(framesOf(framer, [header(length, 1), Buffer.alloc(length - 16)])).toHaveLength(1)
    expect(framer.fault).toBeNull()
  })
})
