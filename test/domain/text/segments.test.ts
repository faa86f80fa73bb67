import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LongMessages } from '../../../src/domain/configuration/configuration.ts'
import { parseUserData } from '../../../src/domain/text/concatenation.ts'
import {
  lockingTable,
  NATIONAL_LANGUAGES,
  singleTable,
} from '../../../src/domain/text/gsm-national-tables.ts'
import { decodeInboundParts } from '../../../src/domain/text/inbound-text.ts'
import {
  countSegments,
  MAX_SEGMENTS,
  type SegmentedText,
  segmentText,
} from '../../../src/domain/text/segments.ts'
import { anyText } from '../../support/any-text.ts'

const FORMS = ['udh', 'udh16', 'sar', 'payload'] as const satisfies readonly LongMessages[]
const TURKISH = 1
const SPANISH = 2
const HINDI = 6

function allowing(...nationalLanguages: number[]) {
  return { smartEncoding: false, nationalLanguages }
}

function hexOf({ pdus }: SegmentedText, octets: number): string[] {
  return pdus.map(({ shortMessage }) => shortMessage.subarray(0, octets).toString('hex'))
}

/** Octets of user data once GSM text is packed: header, fill bits and septets (3GPP 23.040 §9.2.3.24). */
function packedOctets(header: number, octets: number, dataCoding: number): number {
  return dataCoding === 8 ? header + octets : Math.ceil(((Math.ceil((header * 8) / 7) + octets) * 7) / 8)
}

/** What a handset makes of the PDUs, in whatever order they come; each segment must fit an SMS. */
function received({ pdus, dataCoding }: SegmentedText, form: LongMessages, turn = 0): string {
  const parts = pdus.map((pdu) => {
    const { payload, part, language } = parseUserData(pdu)
    const header = pdu.shortMessage.length - payload.length
    const reserved = part?.kind === 'sar' ? 5 + (header === 0 ? 1 : 0) : 0
    if (form !== 'payload' || pdus.length > 1)
      expect(packedOctets(Math.max(header, 0) + reserved, payload.length, dataCoding)).toBeLessThanOrEqual(
        140,
      )
    return { sequence: part?.sequence ?? 1, payload, dataCoding, language }
  })
  return decodeInboundParts([...parts.slice(turn % parts.length), ...parts.slice(0, turn % parts.length)])
}

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
  ['a pair over the edge leaves one unit free', `${'ж'.repeat(66)}😀${'ж'.repeat(65)}`, 'UCS2', 2],
  ['one foreign character turns the whole to UCS-2', `${'a'.repeat(160)}ç`, 'UCS2', 3],
  ['the longest body, all pairs', '😀'.repeat(1600), 'UCS2', 49],
]

describe('counts', () => {
  test.each(COUNTS)('%s', (_name, text, encoding, segments) => {
    expect(countSegments(text)).toEqual({ encoding, segments })
    const built = segmentText(text, 7)
    expect(built).toMatchObject({ encoding, segments, dataCoding: encoding === 'GSM7' ? 0 : 8 })
    expect(built.pdus.map((pdu) => [pdu.firstSegment, pdu.segmentCount])).toEqual(
      Array.from({ length: segments }, (_, index) => [index, 1]),
    )
  })

  test.each(FORMS)('more segments than a header can number are refused (%s)', (form) => {
    const longest = 'ж'.repeat((form === 'udh16' ? 66 : 67) * MAX_SEGMENTS)
    expect(segmentText(longest, 0, { form }).segments).toBe(MAX_SEGMENTS)
    expect(() => segmentText(`${longest}ж`, 0, { form })).toThrow(RangeError)
  })
})

describe('a text of one segment', () => {
  test.each(FORMS)('is the text alone (%s)', (form) => {
    const alone = { esmClass: 0, tlvs: {}, firstSegment: 0, segmentCount: 1 }
    expect(segmentText('hi', 1, { form }).pdus).toEqual([{ ...alone, shortMessage: Buffer.from('hi') }])
    const cyrillic = { ...alone, shortMessage: Buffer.from([0x04, 0x39]) }
    expect(segmentText('й', 1, { form }).pdus).toEqual([cyrillic])
  })

  test.each(FORMS)('names its language in a header (%s)', (form) => {
    const { pdus } = segmentText(`ş${'a'.repeat(70)}`, 1, { form, settings: allowing(TURKISH) })
    const shortMessage = Buffer.from(`032401011b73${'61'.repeat(70)}`, 'hex')
    expect(pdus).toEqual([{ esmClass: 0x40, shortMessage, tlvs: {}, firstSegment: 0, segmentCount: 1 }])
  })
})

describe('long texts', () => {
  test('udh: 05 00 03 reference total sequence', () => {
    const text = segmentText('a'.repeat(307), 0x12ab)
    expect(hexOf(text, 6)).toEqual(['050003ab0301', '050003ab0302', '050003ab0303'])
    expect(text.pdus.map(({ shortMessage }) => shortMessage.length)).toEqual([159, 159, 7])
    expect(text.pdus.map(({ esmClass }) => esmClass)).toEqual([0x40, 0x40, 0x40])
  })

  test('udh16: 06 08 04 reference total sequence, and an octet less for text', () => {
    const gsm = segmentText('a'.repeat(306), 0x12ab, { form: 'udh16' })
    expect(hexOf(gsm, 7)).toEqual(['06080412ab0301', '06080412ab0302', '06080412ab0303'])
    expect(gsm.pdus.map(({ shortMessage }) => shortMessage.length)).toEqual([159, 159, 9])
    const ucs2 = segmentText('ж'.repeat(133), 0x12ab, { form: 'udh16' })
    expect(ucs2.pdus.map(({ shortMessage }) => shortMessage.length)).toEqual([7 + 132, 7 + 132, 7 + 2])
  })

  test('sar: no header, the pieces of udh', () => {
    const { pdus } = segmentText('a'.repeat(307), 0x12ab, { form: 'sar' })
    const tlvs = { sar_msg_ref_num: 0x12ab, sar_total_segments: 3 }
    const pdu = (length: number, index: number) => ({
      esmClass: 0,
      shortMessage: Buffer.from('a'.repeat(length)),
      tlvs: { ...tlvs, sar_segment_seqnum: index + 1 },
      firstSegment: index,
      segmentCount: 1,
    })
    expect(pdus).toEqual([153, 153, 1].map(pdu))
  })

  test('payload: one PDU that stands for all segments', () => {
    const text = segmentText('a'.repeat(307), 0x12ab, { form: 'payload' })
    expect(text.segments).toBe(3)
    expect(text.pdus).toEqual([
      {
        esmClass: 0,
        shortMessage: Buffer.alloc(0),
        tlvs: { message_payload: Buffer.from('a'.repeat(307)) },
        firstSegment: 0,
        segmentCount: 3,
      },
    ])
  })

  test('a language stands in every header, before the octets of SAR and payload too', () => {
    const body = 'á'.repeat(140)
    const segmented = (form: LongMessages) => segmentText(body, 0x12ab, { form, settings: allowing(SPANISH) })
    expect(hexOf(segmented('udh'), 9)).toEqual(['080003ab0201240102', '080003ab0202240102'])
    expect(hexOf(segmented('udh16'), 10)).toEqual(['0908' + '0412ab0201240102', '0908' + '0412ab0202240102'])
    expect(hexOf(segmented('sar'), 4)).toEqual(['03240102', '03240102'])
    expect(segmented('sar').pdus.map(({ esmClass }) => esmClass)).toEqual([0x40, 0x40])
    const [whole] = segmented('payload').pdus
    expect(whole?.tlvs.message_payload?.subarray(0, 4).toString('hex')).toBe('03240102')
    expect(whole?.esmClass).toBe(0x40)
  })

  test.each(['udh', 'udh16', 'sar'] as const)(
    'an extension character moves to the next segment whole (%s)',
    (form) => {
      const room = form === 'udh16' ? 152 : 153
      const text = segmentText(`${'a'.repeat(room - 1)}€${'a'.repeat(10)}`, 1, { form })
      const [first, second] = text.pdus.map((pdu) => parseUserData(pdu).payload)
      expect(first).toHaveLength(room - 1)
      expect(second?.subarray(0, 2).toString('hex')).toBe('1b65')
    },
  )

  test.each(['udh', 'udh16', 'sar'] as const)(
    'a surrogate pair moves to the next segment whole (%s)',
    (form) => {
      const room = form === 'udh16' ? 66 : 67
      const text = segmentText(`${'ж'.repeat(room - 1)}😀${'ж'.repeat(10)}`, 1, { form })
      const [first, second] = text.pdus.map((pdu) => parseUserData(pdu).payload)
      expect(first).toHaveLength((room - 1) * 2)
      expect(second?.subarray(0, 4).toString('hex')).toBe('d83dde00')
    },
  )
})

describe('properties', () => {
  const gsmText = fc.string({
    unit: fc.constantFrom('a', 'Z', '@', 'Δ', '€', '[', '\f', '\n'),
    maxLength: 1600,
  })
  const whatever = anyText({ maxLength: 1600 })
  const text = fc.oneof(gsmText, whatever, fc.string({ unit: 'grapheme', maxLength: 400 }))
  const form = fc.constantFrom(...FORMS)
  const identifiers = NATIONAL_LANGUAGES.map((_, index) => index + 1)
  /** Text of one language, all of its tables, and what every one has. */
  const national = fc.constantFrom(...identifiers).chain((identifier) => {
    const letters = [...(lockingTable(identifier) ?? []), ...(singleTable(identifier)?.values() ?? [])]
    const unit = fc.oneof(fc.constantFrom(...letters), fc.constantFrom('a', ' ', '€', '[', '1'))
    return fc.record({
      body: fc.string({ unit, maxLength: 500 }),
      settings: fc.subarray(identifiers).map((others) => allowing(identifier, ...others)),
    })
  })

  test('segmentation then reassembly gives the text back, in every form', () => {
    fc.assert(
      fc.property(text, form, fc.nat(0xffff), fc.nat(48), (original, form, reference, turn) => {
        const segmented = segmentText(original, reference, { form })
        expect(received(segmented, form, turn)).toBe(original.replaceAll('\0', ''))
      }),
    )
  })

  test('likewise with the tables of every language', () => {
    fc.assert(
      fc.property(national, form, fc.nat(0xffff), fc.nat(9), ({ body, settings }, form, reference, turn) => {
        const segmented = segmentText(body, reference, { settings, form })
        expect(received(segmented, form, turn)).toBe(body)
        expect(segmented.segments).toBeLessThanOrEqual(segmentText(body, reference, { form }).segments)
      }),
      { numRuns: 1000 },
    )
  })

  test('parts carry their reference, total and sequence', () => {
    fc.assert(
      fc.property(national, form, fc.nat(0xffff), ({ body, settings }, form, reference) => {
        const { pdus, segments } = segmentText(body, reference, { settings, form })
        const parts = pdus.map((pdu) => parseUserData(pdu).part)
        const kind = { udh: 'udh8', udh16: 'udh16', sar: 'sar' }[form as string]
        const expected = (sequence: number) =>
          segments === 1 || form === 'payload'
            ? null
            : { kind, reference: form === 'udh' ? reference & 0xff : reference, total: segments, sequence }
        expect(parts).toEqual(parts.map((_, index) => expected(index + 1)))
        expect(pdus.reduce((sum, { segmentCount }) => sum + segmentCount, 0)).toBe(segments)
      }),
    )
  })

  test('countSegments agrees with segmentText, lone surrogates included', () => {
    const units = fc
      .array(fc.oneof(fc.nat(0x7f), fc.constantFrom(0x20ac, 0xd800, 0xdc00), fc.nat(0xffff)), {
        maxLength: 700,
      })
      .map((codes) => String.fromCharCode(...codes))
    const settings = fc.record({
      smartEncoding: fc.boolean(),
      nationalLanguages: fc.subarray([TURKISH, SPANISH, HINDI]),
    })
    const bodies = fc.oneof(
      text,
      units,
      national.map(({ body }) => body),
    )
    fc.assert(
      fc.property(bodies, settings, (original, settings) => {
        const { encoding, segments, pdus } = segmentText(original, 1, { settings })
        expect(countSegments(original, settings)).toEqual({ encoding, segments })
        expect(pdus).toHaveLength(segments)
      }),
    )
  })
})
