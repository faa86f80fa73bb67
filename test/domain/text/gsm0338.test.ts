import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  lockingTable,
  NATIONAL_LANGUAGES,
  singleTable,
} from '../../../src/domain/text/gsm-national-tables.ts'
import { decodeGsm, encodeGsm, gsmAlphabet, septetsOf } from '../../../src/domain/text/gsm0338.ts'

/** The figures of 3GPP 23.038 §6.2.1 at the places where tables go wrong. */
const DEFAULT_CODES: ReadonlyArray<[string, number]> = [
  ['@', 0x00],
  ['$', 0x02],
  ['é', 0x05],
  ['Ç', 0x09],
  ['\n', 0x0a],
  ['\r', 0x0d],
  ['Å', 0x0e],
  ['Δ', 0x10],
  ['_', 0x11],
  ['Ξ', 0x1a],
  ['Æ', 0x1c],
  ['É', 0x1f],
  [' ', 0x20],
  ['¤', 0x24],
  ["'", 0x27],
  ['?', 0x3f],
  ['¡', 0x40],
  ['A', 0x41],
  ['Z', 0x5a],
  ['Ä', 0x5b],
  ['§', 0x5f],
  ['¿', 0x60],
  ['a', 0x61],
  ['ä', 0x7b],
  ['à', 0x7f],
]

const EXTENSION_CODES: ReadonlyArray<[string, number]> = [
  ['\f', 0x0a],
  ['^', 0x14],
  ['{', 0x28],
  ['}', 0x29],
  ['\\', 0x2f],
  ['[', 0x3c],
  ['~', 0x3d],
  [']', 0x3e],
  ['|', 0x40],
  ['€', 0x65],
]

describe('encodeGsm', () => {
  test.each(DEFAULT_CODES)('%j is 0x%s of the default alphabet', (character, code) => {
    expect(encodeGsm(character)).toEqual(Buffer.from([code]))
    expect(decodeGsm(Buffer.from([code]))).toBe(character)
    expect(septetsOf(character.charCodeAt(0))).toBe(1)
  })

  test.each(EXTENSION_CODES)('%j is ESC 0x%s', (character, code) => {
    expect(encodeGsm(character)).toEqual(Buffer.from([0x1b, code]))
    expect(decodeGsm(Buffer.from([0x1b, code]))).toBe(character)
    expect(septetsOf(character.charCodeAt(0))).toBe(2)
  })

  test.each(['ç', '`', '\t', '\x1b', '\0', 'ł', '😀', '\ud800', '\uffff', 'naïve'])(
    '%j has no code',
    (text) => {
      expect(encodeGsm(text)).toBeNull()
    },
  )

  test('an empty text is no octets', () => {
    expect(encodeGsm('')).toHaveLength(0)
  })

  test('all 127 default characters and 10 extension characters, and no more, have a code', () => {
    const counts = [0, 0, 0]
    for (let unit = 0; unit <= 0xffff; unit += 1) counts[septetsOf(unit)]! += 1
    expect(counts).toEqual([0x10000 - 137, 127, 10])
  })
})

describe('encodeGsm with the tables of a language', () => {
  const languages = NATIONAL_LANGUAGES.map((name, index) => [name, index + 1] as const)
  const septets = (character: string, alphabet: Uint16Array) => septetsOf(character.charCodeAt(0), alphabet)

  test.each(languages)('%s: every character of the single shift table', (_name, single) => {
    const language = { locking: null, single }
    const alphabet = gsmAlphabet(language)
    for (const character of singleTable(single)!.values()) {
      expect(decodeGsm(encodeGsm(character, alphabet)!, language)).toBe(character)
      expect(septets(character, alphabet)).toBe(septetsOf(character.charCodeAt(0)) || 2)
    }
    expect(septets('€', alphabet)).toBe(2)
    expect(encodeGsm('€', alphabet)).toEqual(Buffer.from([0x1b, 0x65]))
  })

  test.each(languages.filter(([, id]) => lockingTable(id)))(
    '%s: every one of the locking table',
    (_name, id) => {
      for (const language of [
        { locking: id, single: null },
        { locking: id, single: id },
      ]) {
        const alphabet = gsmAlphabet(language)
        const characters = lockingTable(id)!
        for (const character of characters) {
          expect(encodeGsm(character, alphabet)).toEqual(
            Buffer.from([character === ' ' ? 0x20 : characters.indexOf(character)]),
          )
          expect(decodeGsm(encodeGsm(character, alphabet)!, language)).toBe(character)
        }
        expect(septets('[', alphabet)).toBe(2)
        expect(septets('@', alphabet)).toBe(characters.includes('@') ? 1 : language.single === null ? 0 : 2)
      }
    },
  )

  test('a table that does not exist is the default one', () => {
    const alphabet = gsmAlphabet({ locking: 2, single: 14 })
    expect(encodeGsm('@ñ€', alphabet)).toEqual(encodeGsm('@ñ€'))
    expect(encodeGsm('ç', alphabet)).toBeNull()
  })

  test('no alphabet has ESC, a surrogate or U+FFFF', () => {
    for (const [, id] of languages)
      for (const text of ['\x1b', '\ud800', '\uffff', '😀'])
        expect(encodeGsm(text, gsmAlphabet({ locking: id, single: id }))).toBeNull()
  })
})

describe('decodeGsm', () => {
  test.each([
    ['ESC at the end is a space', [0x41, 0x1b], 'A '],
    ['ESC before ESC is a space', [0x1b, 0x1b, 0x41], ' A'],
    ['ESC before a code without extension gives the default character', [0x1b, 0x41], 'A'],
    ['an octet above 0x7F is Latin-1', [0xe9, 0x41], 'éA'],
    ['ESC before an octet above 0x7F', [0x1b, 0xe9], 'é'],
  ])('%s', (_name, octets, text) => {
    expect(decodeGsm(Buffer.from(octets))).toBe(text)
  })

  test.each([
    ['single shift', null, 1, [0x1b, 0x49, 0x79, 0x69], 'İyi'],
    ['locking shift', 1, null, [0x40, 0x79, 0x69, 0x1b, 0x65], 'İyi€'],
    ['a code that the single shift table lacks is the locking one', 1, 2, [0x1b, 0x0b, 0x1b, 0x09], 'Ğç'],
    ['ESC at the end and before ESC is a space', 6, 6, [0x15, 0x1b, 0x1b, 0x15, 0x1b], 'क क '],
    ['a code that the locking table lacks is a space', 4, null, [0x0c, 0x00], ' ঁ'],
    ['an octet above 0x7F is Latin-1', 13, 13, [0xe9, 0x1b, 0xe9], 'éé'],
    ['tables that do not exist', 2, 14, [0x09, 0x1b, 0x65, 0x1b, 0x63], 'Ç€c'],
    ['identifiers that are reserved', 0, 255, [0x40, 0x1b, 0x3c], '¡['],
  ])('national language, %s', (_name, locking, single, octets, text) => {
    expect(decodeGsm(Buffer.from(octets), { locking, single })).toBe(text)
  })

  test('whatever encodes decodes to itself', () => {
    const alphabet = [...DEFAULT_CODES, ...EXTENSION_CODES].map(([character]) => character)
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 400 }), (text) => {
        expect(decodeGsm(encodeGsm(text)!)).toBe(text)
      }),
    )
  })

  test('no octets throw', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => typeof decodeGsm(bytes) === 'string'))
  })
})
