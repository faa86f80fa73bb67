import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeInbound, decodeInboundParts } from '../../../src/domain/text/inbound-text.ts'

const CASES: ReadonlyArray<[string, number, string, string]> = [
  ['default alphabet', 0x00, '00411b65', '@A€'],
  ['default alphabet, bare ESC at the end', 0x00, '411b', 'A '],
  ['IA5', 0x01, '404124', '@A$'],
  ['binary that is text', 0x02, '48690a', 'Hi\n'],
  ['binary that is none', 0x04, '0001ff', '0001ff'],
  ['Latin-1', 0x03, 'e9a4', 'é¤'],
  ['an SMPP value we have no alphabet for', 0x05, 'e9', 'é'],
  ['Cyrillic', 0x06, 'bfe0d8d2d5e2', 'Привет'],
  ['Hebrew', 0x07, 'f9ece5ed', 'שלום'],
  ['UCS-2', 0x08, '04390041', 'йA'],
  ['UCS-2, a pair', 0x08, 'd83dde00', '😀'],
  ['UCS-2, odd last octet', 0x08, '0041d8', 'A'],
  ['UCS-2, lone surrogates', 0x08, 'd83d0041de00', '\ufffdA\ufffd'],
  ['UCS-2, NUL dropped', 0x08, '00000041', 'A'],
  ['UCS-2, a byte order mark is content', 0x08, 'feff0041', '\ufeffA'],
  ['ISO-2022-JP', 0x0a, '1b2442467c1b2842', '日'],
  ['EUC-KR', 0x0e, 'c7d1', '한'],
  ['Latin-1, NUL dropped', 0x03, '410042', 'AB'],
  ['general group, class 0, default alphabet', 0x10, '00', '@'],
  ['general group, class 0, 8-bit', 0x14, '00', '00'],
  ['general group, class 0, UCS-2', 0x18, '0439', 'й'],
  ['general group, reserved alphabet', 0x1c, 'e9', 'é'],
  ['automatic deletion group, UCS-2', 0x48, '0439', 'й'],
  ['reserved group', 0x80, 'e9', 'é'],
  ['message waiting, default alphabet', 0xc0, '00', '@'],
  ['message waiting, stored', 0xd8, '00', '@'],
  ['message waiting, UCS-2', 0xe0, '0439', 'й'],
  ['message class, default alphabet', 0xf0, '00', '@'],
  ['message class, 8-bit', 0xf4, '4869', 'Hi'],
  ['message class 3, 8-bit', 0xff, 'ff', 'ÿ'],
]

describe('decodeInbound', () => {
  test.each(CASES)('%s (0x%s)', (_name, dataCoding, hex, text) => {
    expect(decodeInbound(Buffer.from(hex, 'hex'), dataCoding)).toBe(text)
  })

  test('any octets under any data_coding give well-formed text without U+0000', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (bytes, dataCoding) => {
        const text = decodeInbound(bytes, dataCoding)
        expect(text.isWellFormed()).toBe(true)
        expect(text).not.toContain('\0')
      }),
      { numRuns: 2000 },
    )
  })

  test('any octets under any language give well-formed text without U+0000', () => {
    const identifier = fc.option(fc.nat(20))
    const dataCoding = fc.constantFrom(0x00, 0x10, 0xc0, 0xf0, 0x08)
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        dataCoding,
        identifier,
        identifier,
        (bytes, coding, locking, single) => {
          const text = decodeInbound(bytes, coding, { locking, single })
          expect(text.isWellFormed()).toBe(true)
          expect(text).not.toContain('\0')
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('a language matters to the GSM alphabet only', () => {
    const language = { locking: 13, single: 13 }
    expect(decodeInbound(Buffer.from([0x41]), 0x00, language)).toBe('ض')
    expect(decodeInbound(Buffer.from([0x41]), 0x03, language)).toBe('A')
    expect(decodeInbound(Buffer.from([0x00, 0x41]), 0x08, language)).toBe('A')
  })

  test('the octets given are left as they were', () => {
    const bytes = Buffer.from('04390041', 'hex')
    decodeInbound(bytes, 8)
    expect(bytes.toString('hex')).toBe('04390041')
  })
})

/** Every data_coding, by the alphabet it stands for: SMPP 3.4 §5.2.19 up to 0x0F, 3GPP 23.038 §4 above. */
const ALPHABETS: ReadonlyArray<readonly [alphabet: string, dataCodings: string]> = [
  ['gsm', '00 10-13 20-23 30-33 40-43 50-53 60-63 70-73'], // general groups, message classes
  ['gsm', 'c0-df'], // message waiting, discarded or stored
  ['gsm', 'f0-f3 f8-fb'], // message classes
  ['binary', '02 04 14-17 24-27 34-37 44-47 54-57 64-67 74-77 f4-f7 fc-ff'],
  ['ucs2', '08 18-1b 28-2b 38-3b 48-4b 58-5b 68-6b 78-7b e0-ef'],
  ['latin1', '01 03 05 09 0b-0d 0f'],
  ['latin1', '1c-1f 2c-2f 3c-3f 4c-4f 5c-5f 6c-6f 7c-7f 80-bf'], // reserved
  ['iso-8859-5', '06'],
  ['iso-8859-8', '07'],
  ['iso-2022-jp', '0a'],
  ['euc-kr', '0e'],
]

/** Octets that no two of the alphabets read alike. */
const PROBE = Buffer.from('04391b65b0a1', 'hex')
const READINGS: Readonly<Record<string, string>> = {
  gsm: 'è9€°¡',
  binary: '04391b65b0a1',
  ucs2: 'й\u1b65\ub0a1',
  latin1: '\x049\x1be°¡',
  'iso-8859-5': '\x049\x1beАЁ',
  'iso-8859-8': '\x049\x1be°\ufffd',
  'iso-2022-jp': '\x049\ufffde\ufffd\ufffd',
  'euc-kr': '\x049\x1be가',
}

describe('data_coding', () => {
  const alphabets = ALPHABETS.flatMap(([alphabet, ranges]) =>
    ranges.split(' ').flatMap((range) => {
      const [first, last = first] = range.split('-').map((hex) => Number.parseInt(hex, 16)) as [
        number,
        number?,
      ]
      return Array.from({ length: last - first + 1 }, (_, index) => [first + index, alphabet] as const)
    }),
  )

  test('each of the 256 has one', () => {
    expect(alphabets.map(([code]) => code).sort((a, b) => a - b)).toEqual([...Array(256).keys()])
  })

  test.each(alphabets)('%i is %s', (dataCoding, alphabet) => {
    expect(decodeInbound(PROBE, dataCoding)).toBe(READINGS[alphabet])
  })
})

describe('decodeInboundParts', () => {
  test('a surrogate pair split between parts is whole again', () => {
    const parts = [
      { sequence: 2, payload: Buffer.from('de00', 'hex'), dataCoding: 8 },
      { sequence: 1, payload: Buffer.from('d83d', 'hex'), dataCoding: 8 },
    ]
    expect(decodeInboundParts(parts)).toBe('😀')
  })

  test('an escape sequence split between parts is whole again', () => {
    const parts = [
      { sequence: 1, payload: Buffer.from([0x41, 0x1b]), dataCoding: 0 },
      { sequence: 2, payload: Buffer.from([0x65]), dataCoding: 0 },
    ]
    expect(decodeInboundParts(parts)).toBe('A€')
  })

  test('parts of different data_coding are decoded each by its own', () => {
    const parts = [
      { sequence: 1, payload: Buffer.from([0x00]), dataCoding: 0 },
      { sequence: 2, payload: Buffer.from([0x04, 0x39]), dataCoding: 8 },
      { sequence: 3, payload: Buffer.from([0x00]), dataCoding: 0 },
    ]
    expect(decodeInboundParts(parts)).toBe('@й@')
  })

  test('parts of different language are decoded each by its own', () => {
    const part = (sequence: number, single: number | null) => ({
      sequence,
      payload: Buffer.from([0x1b, 0x63, 0x1b]),
      dataCoding: 0,
      language: { locking: null, single },
    })
    expect(decodeInboundParts([part(1, 1), part(2, null), part(3, 1)])).toBe('ç c ç ')
    const split = [part(1, 1), { ...part(2, 1), payload: Buffer.from([0x73]) }]
    expect(decodeInboundParts(split)).toBe('çş')
  })

  test('a surrogate pair is whole whatever languages its parts name', () => {
    const part = (sequence: number, hex: string, single: number) => ({
      sequence,
      payload: Buffer.from(hex, 'hex'),
      dataCoding: 8,
      language: { locking: null, single },
    })
    expect(decodeInboundParts([part(1, 'd83d', 1), part(2, 'de00', 2)])).toBe('😀')
  })

  test('a missing part and a repeated one', () => {
    const part = (sequence: number, text: string) => ({ sequence, payload: Buffer.from(text), dataCoding: 0 })
    expect(decodeInboundParts([part(3, 'c'), part(1, 'a'), part(1, 'x')])).toBe('ac')
    expect(decodeInboundParts([])).toBe('')
  })
})
