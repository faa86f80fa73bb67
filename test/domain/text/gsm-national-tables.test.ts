import { describe, expect, test } from 'vitest'
import { lockingTable, sameLanguage, singleTable } from '../../../src/domain/text/gsm-national-tables.ts'

type Row = readonly [identifier: number, language: string, codes: Readonly<Record<string, string>>]

/** The letters by which each table is known, at its beginning, around ESC, and at its end (3GPP 23.038 annex A.3). */
const LOCKING: readonly Row[] = [
  [
    1,
    'Turkish',
    { '04': '€', '07': 'ı', '0b': 'Ğ', '0c': 'ğ', '1c': 'Ş', '1d': 'ş', '40': 'İ', '60': 'ç', '7f': 'à' },
  ],
  [
    3,
    'Portuguese',
    { '04': 'ê', '0b': 'Ô', '12': 'ª', '15': '∞', '18': '€', '24': 'º', '5b': 'Ã', '7d': '`' },
  ],
  [4, 'Bengali', { '00': '\u0981', '0f': 'এ', '1a': 'চ', '1c': 'ছ', '2f': 'ন', '60': '\u09ce', '7f': 'ৱ' }],
  [5, 'Gujarati', { '00': '\u0a81', '0c': 'ઍ', '1a': 'ચ', '1c': 'છ', '2f': 'ન', '60': 'ૐ', '7f': '૱' }],
  [
    6,
    'Hindi',
    { '00': '\u0901', '0c': 'ऍ', '1a': 'च', '1c': 'छ', '3c': '\u0929', '60': 'ॐ', '7b': 'ॲ', '7f': 'ॿ' },
  ],
  [
    7,
    'Kannada',
    { '00': ' ', '01': '\u0c82', '1a': 'ಚ', '1c': 'ಛ', '24': 'ಡ', '60': '\u0cd5', '7f': '\u0ce3' },
  ],
  [8, 'Malayalam', { '00': ' ', '01': '\u0d02', '1a': 'ച', '1c': 'ഛ', '48': 'ഴ', '60': '\u0d57', '7f': '൹' }],
  [
    9,
    'Oriya',
    { '00': '\u0b01', '0f': 'ଏ', '1a': 'ଚ', '1c': 'ଛ', '49': 'ଵ', '60': '\u0b56', '7f': '\u0b63' },
  ],
  [
    10,
    'Punjabi',
    { '00': '\u0a01', '0f': 'ਏ', '1a': 'ਚ', '1c': 'ਛ', '4e': '\u0a3c', '60': '\u0a51', '7f': 'ੴ' },
  ],
  [11, 'Tamil', { '01': '\u0b82', '0e': 'எ', '1a': 'ச', '1d': 'ஜ', '3c': 'ன', '60': 'ௐ', '7f': '௹' }],
  [
    12,
    'Telugu',
    { '00': '\u0c01', '0e': 'ఎ', '1a': 'చ', '1c': 'ఛ', '45': 'ఱ', '60': '\u0c55', '7f': '\u0c63' },
  ],
  [
    13,
    'Urdu',
    { '00': 'ا', '05': 'پ', '1a': 'د', '1c': '\u068c', '4f': 'ن', '5b': 'ے', '60': '\u0654', '7f': '\u0670' },
  ],
]

/** Annex A.2. */
const SINGLE: readonly Row[] = [
  [1, 'Turkish', { '47': 'Ğ', '49': 'İ', '53': 'Ş', '63': 'ç', '67': 'ğ', '69': 'ı', '73': 'ş' }],
  [
    2,
    'Spanish',
    { '09': 'ç', '41': 'Á', '49': 'Í', '4f': 'Ó', '55': 'Ú', '61': 'á', '69': 'í', '6f': 'ó', '75': 'ú' },
  ],
  [
    3,
    'Portuguese',
    { '05': 'ê', '12': 'Φ', '15': 'Ω', '1f': 'Ê', '5b': 'Ã', '61': 'Â', '7c': 'õ', '7f': 'â' },
  ],
  [4, 'Bengali', { '19': '০', '1a': '১', '1c': '২', '23': '৯', '2a': '\u09e3', '34': '৺' }],
  [5, 'Gujarati', { '19': '।', '1a': '॥', '1c': '૦', '25': '૯' }],
  [6, 'Hindi', { '19': '।', '1a': '॥', '1c': '०', '25': '९', '2c': '\u0958', '3a': '\u0971' }],
  [7, 'Kannada', { '19': '।', '1c': '೦', '25': '೯', '26': '\u0cde', '2a': 'ೲ' }],
  [8, 'Malayalam', { '19': '।', '1c': '൦', '25': '൯', '2e': 'ൺ', '34': 'ൿ' }],
  [9, 'Oriya', { '19': '।', '1c': '୦', '25': '୯', '2a': 'ୟ', '2c': 'ୱ' }],
  [10, 'Punjabi', { '19': '।', '1c': '੦', '25': '੯', '2a': '\u0a5b', '2d': '\u0a75' }],
  [11, 'Tamil', { '19': '।', '1c': '௦', '25': '௯', '26': '௳', '2e': '௺' }],
  [12, 'Telugu', { '1c': '౦', '25': '౯', '26': '\u0c58', '32': '౿' }],
  [13, 'Urdu', { '1c': '۰', '25': '۹', '26': '،', '33': '؟', '34': '\u0640', '3f': '۔' }],
]

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz']

describe('locking shift tables', () => {
  test.each(LOCKING)('%i, %s', (identifier, _language, codes) => {
    const table = lockingTable(identifier)!
    const found = Object.keys(codes).map((code) => [code, table[Number.parseInt(code, 16)]])
    expect(Object.fromEntries(found)).toEqual(codes)
  })

  test.each(LOCKING)('%i, %s: 128 characters, the common ones at the common codes', (identifier) => {
    const table = lockingTable(identifier)!
    expect(table).toHaveLength(128)
    expect(table.filter((character) => character.length !== 1)).toEqual([])
    expect([table[0x0a], table[0x0d], table[0x1b], table[0x20]]).toEqual(['\n', '\r', ' ', ' '])
    expect(table.slice(0x30, 0x3a).join('')).toBe('0123456789')
    expect(table.slice(0x61, 0x7b)).toEqual(LETTERS)
    expect([table[0x2c], table[0x2e], table[0x3f]]).toEqual([',', '.', '?'])
  })

  test.each(LOCKING)('%i, %s: no character twice', (identifier) => {
    const characters = lockingTable(identifier)!.filter((character) => character !== ' ')
    expect(new Set(characters).size).toBe(characters.length)
  })

  // Of 127 codes (ESC left out) those that annex A leaves void.
  test.each([
    ['Turkish', 1, 0],
    ['Portuguese', 3, 0],
    ['Bengali', 4, 13],
    ['Gujarati', 5, 7],
    ['Hindi', 6, 0],
    ['Kannada', 7, 7],
    ['Malayalam', 8, 7],
    ['Oriya', 9, 11],
    ['Punjabi', 10, 17],
    ['Tamil', 11, 25],
    ['Telugu', 12, 7],
    ['Urdu', 13, 0],
  ])('%s (%i) has %i void codes', (_language, identifier, voids) => {
    const spaces = lockingTable(identifier)!.filter((character) => character === ' ')
    expect(spaces).toHaveLength(voids + 2)
  })

  test.each([null, 0, 2, 14, 255])('%j has none', (identifier) => {
    expect(lockingTable(identifier)).toBeUndefined()
  })
})

describe('single shift tables', () => {
  test.each(SINGLE)('%i, %s', (identifier, _language, codes) => {
    const table = singleTable(identifier)!
    const found = Object.keys(codes).map((code) => [code, table.get(Number.parseInt(code, 16))])
    expect(Object.fromEntries(found)).toEqual(codes)
  })

  test.each(SINGLE)('%i, %s: leaves ESC, controls and the default extension alone', (identifier) => {
    const table = singleTable(identifier)!
    const kept = [0x0a, 0x0d, 0x14, 0x1b, 0x28, 0x29, 0x2f, 0x3c, 0x3d, 0x3e, 0x40, 0x65]
    expect(kept.filter((code) => table.has(code))).toEqual([])
    expect([...table.values()].filter((character) => character.length !== 1)).toEqual([])
  })

  test.each(SINGLE.filter(([identifier]) => identifier >= 4))('%i, %s: Latin capitals', (identifier) => {
    const table = singleTable(identifier)!
    const capitals = LETTERS.map((_, index) => table.get(0x41 + index))
    expect(capitals.join('')).toBe('ABCDEFGHIJKLMNOPQRSTUVWXYZ')
    expect([table.get(0x00), table.get(0x09), table.get(0x18)]).toEqual(['@', "'", '*'])
  })

  test.each([null, 0, 14, 255])('%j has none', (identifier) => {
    expect(singleTable(identifier)).toBeUndefined()
  })
})

test('languages are the same when both of their tables are', () => {
  const language = { locking: 1, single: null }
  expect(sameLanguage(language, { ...language })).toBe(true)
  expect(sameLanguage(language, { ...language, single: 1 })).toBe(false)
  expect(sameLanguage(language, { ...language, locking: null })).toBe(false)
})
