import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildHeader, inSequence, parseUserData, UDHI } from '../../../src/domain/text/concatenation.ts'

const CONTENT = Buffer.from('A')

function parse(hex: string, esmClass = UDHI) {
  const { payload, part } = parseUserData({ esmClass, shortMessage: Buffer.from(hex, 'hex'), tlvs: {} })
  return { payload: payload.toString('hex'), part }
}

describe('user data headers', () => {
  const part = { reference: 0xab, total: 3, sequence: 2, kind: 'udh8' as const }

  test('8-bit reference', () => {
    expect(parse('050003ab03024142')).toEqual({ payload: '4142', part })
  })

  test('16-bit reference', () => {
    const expected = { reference: 0x0102, total: 3, sequence: 2, kind: 'udh16' }
    expect(parse('06080401020302414243')).toEqual({ payload: '414243', part: expected })
  })

  test('beside another element, before it and after it', () => {
    expect(parse('0b05041f90000000' + '03ab030241')).toEqual({ payload: '41', part })
    expect(parse('0b0003ab0302' + '05041f900000' + '41')).toEqual({ payload: '41', part })
  })

  test('of a repeated element the last counts', () => {
    expect(parse('0a' + '0003ab0301' + '0003ab0302' + '41')).toEqual({ payload: '41', part })
  })

  test('without concatenation the header is removed all the same', () => {
    expect(parse('0605041f90000041')).toEqual({ payload: '41', part: null })
  })

  test('without the UDHI flag there is no header', () => {
    expect(parse('050003ab03024142', 0x04)).toEqual({ payload: '050003ab03024142', part: null })
  })

  test('part 1 of 1 is a single message', () => {
    expect(parse('050003ab010141')).toEqual({ payload: '41', part: null })
  })

  test.each([
    ['total 0', '050003ab000141'],
    ['sequence 0', '050003ab030041'],
    ['sequence above total', '050003ab030441'],
    ['total 0, 16-bit', '060804abcd000141'],
  ])('%s: the number is ignored', (_name, hex) => {
    expect(parse(hex)).toEqual({ payload: '41', part: null })
  })

  test.each([
    ['empty', ''],
    ['header longer than the content', 'ff0003ab0302'],
    ['header that ends inside an element', '040003ab030241'],
    ['element longer than the header', '050009ab030241'],
    ['element without a length', '0100'],
    ['element of the wrong length', '040002030241'],
    ['16-bit element of the wrong length', '050803ab030241'],
  ])('%s: the raw content is a single message', (_name, hex) => {
    expect(parse(hex)).toEqual({ payload: hex, part: null })
  })
})

describe('buildHeader', () => {
  const part = { reference: 0x12, total: 3, sequence: 2 }
  const wide = { ...part, reference: 0x1234, kind: 'udh16' } as const
  const turkish = { locking: null, single: 1 }

  test.each([
    ['nothing to say', null, undefined, ''],
    ['8-bit reference', { ...part, kind: 'udh8' } as const, undefined, '050003120302'],
    ['16-bit reference', wide, undefined, '06080412340302'],
    ['SAR says it of itself', { ...part, kind: 'sar' } as const, undefined, ''],
    ['single shift', null, turkish, '03240101'],
    ['both tables', null, { locking: 3, single: 2 }, '06240102250103'],
    ['part and table', wide, turkish, '09080412340302240101'],
  ])('%s', (_name, of, language, hex) => {
    expect(buildHeader(of, language).toString('hex')).toBe(hex)
  })

  test('is read back as it was meant', () => {
    const identifier = fc.option(fc.nat(255))
    const parts = fc
      .record({
        kind: fc.constantFrom('udh8' as const, 'udh16' as const),
        reference: fc.nat(0xffff),
        total: fc.integer({ min: 2, max: 255 }),
        sequence: fc.nat(1000),
      })
      .map(({ kind, reference, total, sequence }) => ({
        kind,
        reference: kind === 'udh8' ? reference & 0xff : reference,
        total,
        sequence: 1 + (sequence % total),
      }))
    fc.assert(
      fc.property(fc.option(parts), identifier, identifier, (of, locking, single) => {
        const header = buildHeader(of, { locking, single })
        const esmClass = header.length === 0 ? 0 : UDHI
        const read = parseUserData({ esmClass, shortMessage: Buffer.concat([header, CONTENT]), tlvs: {} })
        expect(read).toEqual({ payload: CONTENT, part: of, language: { locking, single } })
      }),
    )
  })
})

describe('national languages', () => {
  const languageOf = (hex: string, esmClass = UDHI) =>
    parseUserData({ esmClass, shortMessage: Buffer.from(hex, 'hex'), tlvs: {} }).language

  test.each([
    ['single shift', '0324010141', null, 1],
    ['locking shift', '0325010141', 1, null],
    ['both', '0625010324010241', 3, 2],
    ['beside the part number', '080003ab030224010d41', null, 13],
    ['an unknown table, kept as it came', '032401ff41', null, 255],
    ['of a repeated element the last', '0624010124010241', null, 2],
    ['an element of no octets', '02240041', null, null],
    ['an element of two octets', '042402010141', null, null],
    ['no header', '41', null, null],
    ['a header that does not fit', '0924010141', null, null],
  ])('%s', (_name, hex, locking, single) => {
    expect(languageOf(hex)).toEqual({ locking, single })
  })

  test('without the UDHI flag there is none', () => {
    expect(languageOf('0324010141', 0)).toEqual({ locking: null, single: null })
  })

  test('the header is removed and the part number read all the same', () => {
    const part = { reference: 0xab, total: 3, sequence: 2, kind: 'udh8' }
    expect(parse('080003ab030224010d41')).toEqual({ payload: '41', part })
    expect(parse('042402010141')).toEqual({ payload: '41', part: null })
  })
})

describe('TLVs', () => {
  const sar = { sar_msg_ref_num: 0x1234, sar_total_segments: 2, sar_segment_seqnum: 1 }

  test('SAR', () => {
    const { payload, part } = parseUserData({ esmClass: 0, shortMessage: CONTENT, tlvs: sar })
    expect(payload).toEqual(CONTENT)
    expect(part).toEqual({ reference: 0x1234, total: 2, sequence: 1, kind: 'sar' })
  })

  test('SAR with a reference of four octets: a signed number, so that PostgreSQL holds each of them', () => {
    const reference = (sar_msg_ref_num: number) =>
      parseUserData({ esmClass: 0, shortMessage: CONTENT, tlvs: { ...sar, sar_msg_ref_num } }).part?.reference
    expect([0x7fffffff, 0x80000000, 0xffffffff].map(reference)).toEqual([0x7fffffff, -0x80000000, -1])
  })

  test.each([
    ['incomplete', { ...sar, sar_total_segments: undefined }],
    ['total 0', { ...sar, sar_total_segments: 0 }],
    ['sequence above total', { ...sar, sar_segment_seqnum: 3 }],
  ])('SAR %s: a single message', (_name, tlvs) => {
    expect(parseUserData({ esmClass: 0, shortMessage: CONTENT, tlvs }).part).toBeNull()
  })

  test('message_payload counts only when short_message is empty', () => {
    const tlvs = { message_payload: Buffer.from('long') }
    expect(parseUserData({ esmClass: 0, shortMessage: Buffer.alloc(0), tlvs }).payload.toString()).toBe(
      'long',
    )
    expect(parseUserData({ esmClass: 0, shortMessage: CONTENT, tlvs }).payload.toString()).toBe('A')
  })

  test('message_payload may begin with a header', () => {
    const tlvs = { message_payload: Buffer.from('050003ab030241', 'hex') }
    const { payload, part } = parseUserData({ esmClass: UDHI, shortMessage: Buffer.alloc(0), tlvs })
    expect([payload.toString(), part?.sequence]).toEqual(['A', 2])
  })
})

test('no octets throw, and what is read is possible', () => {
  const octets = fc.uint8Array({ maxLength: 200 })
  fc.assert(
    fc.property(octets, fc.option(octets, { nil: undefined }), fc.nat(255), (bytes, more, esmClass) => {
      const { payload, part } = parseUserData({
        esmClass,
        shortMessage: Buffer.from(bytes),
        tlvs: { message_payload: more && Buffer.from(more) },
      })
      expect(payload.length).toBeLessThanOrEqual(Math.max(bytes.length, more?.length ?? 0))
      if (part !== null) expect(part.sequence).toBeLessThanOrEqual(part.total)
    }),
    { numRuns: 2000 },
  )
})

test('the parts are sorted, and the first of a repeated one is taken', () => {
  const part = (sequence: number, text: string) => ({ sequence, text })
  const parts = [part(3, 'c'), part(1, 'a'), part(2, 'b'), part(2, 'x')]
  expect(inSequence(parts).map(({ text }) => text)).toEqual(['a', 'b', 'c'])
  expect(inSequence([])).toEqual([])
})
