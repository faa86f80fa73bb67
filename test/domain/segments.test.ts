import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseUserData, UDHI } from '../../src/domain/concatenation.ts'
import { decodeInboundParts } from '../../src/domain/inbound-text.ts'
import { countSegments, MAX_SEGMENTS, segmentText } from '../../src/domain/segments.ts'

const COUNTS: ReadonlyArray<[string, string, 'GSM7' | 'UCS2', number]> = [
  ['empty', '', 'GSM7', 1],
  ['160 septets', 'a'.repeat(160), 'GSM7', 1],
  ['161 septets', 'a'.repeat(161), 'GSM7', 2],
  ['306 septets', 'a'.repeat(306), 'GSM7', 2],
  ['307 septets', 'a'.repeat(307), 'GSM7', 3],
  ['80 extension characters', '€'.repeat(80), 'GSM7', 1],
  ['an 81st extension character', '€'.repeat(81), 'GSM7', 2],
  ['76 extension characters to a segment, not 76.5', '€'.repeat(153), 'GSM7', 3],
  ['an extension character over the edge of a segment', `${'a'.repeat(152)}€${'a'.repeat(152)}`, 'GSM7', 3],
  ['1600 of the default alphabet', 'a'.repeat(1600), 'GSM7', 11],
  ['70 units', 'ж'.repeat(70), 'UCS2', 1],
  ['71 units', 'ж'.repeat(71), 'UCS2', 2],
  ['134 units', 'ж'.repeat(134), 'UCS2', 2],
  ['135 units', 'ж'.repeat(135), 'UCS2', 3],
  ['35 pairs', '😀'.repeat(35), 'UCS2', 1],
  ['36 pairs', '😀'.repeat(36), 'UCS2', 2],
  ['33 pairs to a segment, not 33.5', '😀'.repeat(67), 'UCS2', 3],
  ['one foreign character turns the whole to UCS-2', `${'a'.repeat(160)}ç`, 'UCS2', 3],
  ['the longest body, all pairs', '😀'.repeat(1600), 'UCS2', 49],
]

describe('counts', () => {
  test.each(COUNTS)('%s', (_name, text, encoding, segments) => {
    expect(countSegments(text)).toEqual({ encoding, segments })
    const built = segmentText(text, 7)
    expect([built.encoding, built.segments.length]).toEqual([encoding, segments])
    expect(built.hasUdh).toBe(segments > 1)
    expect(built.dataCoding).toBe(encoding === 'GSM7' ? 0 : 8)
  })

  test('more segments than the header can number are refused', () => {
    expect(segmentText('ж'.repeat(67 * MAX_SEGMENTS), 0).segments).toHaveLength(MAX_SEGMENTS)
    expect(() => segmentText('ж'.repeat(67 * MAX_SEGMENTS + 1), 0)).toThrow(RangeError)
  })
})

describe('headers', () => {
  test('05 00 03 reference total sequence', () => {
    const { segments } = segmentText('a'.repeat(307), 0xab)
    expect(segments.map((segment) => segment.subarray(0, 6).toString('hex'))).toEqual([
      '050003ab0301',
      '050003ab0302',
      '050003ab0303',
    ])
    expect(segments.map((segment) => segment.length)).toEqual([159, 159, 7])
  })

  test('a single segment is the text alone', () => {
    expect(segmentText('hi', 1).segments).toEqual([Buffer.from('hi')])
    expect(segmentText('й', 1).segments).toEqual([Buffer.from([0x04, 0x39])])
  })

  test('an extension character moves to the next segment whole', () => {
    const [first, second] = segmentText(`${'a'.repeat(152)}€${'a'.repeat(10)}`, 1).segments
    expect(first).toHaveLength(6 + 152)
    expect(second?.subarray(6, 8).toString('hex')).toBe('1b65')
  })

  test('a surrogate pair moves to the next segment whole', () => {
    const [first, second] = segmentText(`${'ж'.repeat(66)}😀${'ж'.repeat(10)}`, 1).segments
    expect(first).toHaveLength(6 + 66 * 2)
    expect(second?.subarray(6, 10).toString('hex')).toBe('d83dde00')
  })
})

describe('properties', () => {
  const gsmText = fc.string({
    unit: fc.constantFrom('a', 'Z', '@', 'Δ', '€', '[', '\f', '\n'),
    maxLength: 1600,
  })
  const anyText = fc.string({ unit: 'binary', maxLength: 1600 })
  const text = fc.oneof(gsmText, anyText, fc.string({ unit: 'grapheme', maxLength: 400 }))

  test('segmentation then reassembly gives the text back', () => {
    fc.assert(
      fc.property(text, fc.nat(255), fc.nat(48), (original, reference, turn) => {
        const { segments, dataCoding, hasUdh } = segmentText(original, reference)
        const parts = segments.map((shortMessage) => {
          const { payload, part } = parseUserData({ esmClass: hasUdh ? UDHI : 0, shortMessage, tlvs: {} })
          expect(shortMessage.length).toBeLessThanOrEqual(dataCoding === 8 ? 140 : 160)
          if (hasUdh) expect(part).toMatchObject({ reference, total: segments.length, kind: 'udh8' })
          return { sequence: part?.sequence ?? 1, payload, dataCoding }
        })
        const anyOrder = [...parts.slice(turn % parts.length), ...parts.slice(0, turn % parts.length)]
        expect(decodeInboundParts(anyOrder)).toBe(original.replaceAll('\0', ''))
      }),
    )
  })

  test('countSegments agrees with segmentText, lone surrogates included', () => {
    const units = fc
      .array(fc.oneof(fc.nat(0x7f), fc.constantFrom(0x20ac, 0xd800, 0xdc00), fc.nat(0xffff)), {
        maxLength: 700,
      })
      .map((codes) => String.fromCharCode(...codes))
    fc.assert(
      fc.property(fc.oneof(text, units), (original) => {
        const { encoding, segments } = segmentText(original, 1)
        expect(countSegments(original)).toEqual({ encoding, segments: segments.length })
      }),
    )
  })
})
