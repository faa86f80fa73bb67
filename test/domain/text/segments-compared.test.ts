import { createRequire } from 'node:module'
import { SegmentedMessage } from 'sms-segments-calculator'
import { describe, expect, test } from 'vitest'
import { SMART_CHARACTERS } from '../../../src/domain/text/encoding-choice.ts'
import { countSegments } from '../../../src/domain/text/segments.ts'
import { compareCounts, difference } from './segments-compared.ts'

test('500 texts: the same encoding, and the same count but where the package keeps clusters whole', () =>
  compareCounts(500))

test.each([
  [
    'a family of 11 units at the end of a segment',
    `${'ж'.repeat(61)}👨‍👩‍👧‍👦${'ж'.repeat(62)}`,
    'clusters',
    2,
    3,
  ],
  ['a letter and its mark', `${'ж'.repeat(66)}e\u0301${'ж'.repeat(66)}`, 'clusters', 2, 3],
  [
    'clusters as long as a segment, two in one',
    `жжж${`a${'\u0301'.repeat(66)}`.repeat(2)}`,
    'overfull',
    3,
    2,
  ],
])('%s', (_name, text, why, segments, theirSegments) => {
  const theirs = new SegmentedMessage(text)
  expect(countSegments(text)).toEqual({ encoding: 'UCS2', segments })
  expect(theirs.segmentsCount).toBe(theirSegments)
  expect(difference(text, theirs)).toBe(why)
})

describe('typographic characters', () => {
  // CommonJS, whose default export is one thing to TypeScript and another to the test runner.
  const { default: map } = createRequire(import.meta.url)(
    'sms-segments-calculator/dist/libs/SmartEncodingMap.js',
  ) as { default: Record<string, string> }
  const theirs = new Map(Object.entries(map))
  const shown = (character: string) => character.charCodeAt(0).toString(16).padStart(4, '0')
  const listed = (characters: Iterable<string>) => [...characters].map(shown).sort().join(' ')

  test('of those the package replaces we leave marks, fractions, letters and controls alone', () => {
    const left = [...theirs.keys()].filter((character) => !SMART_CHARACTERS.has(character))
    const classes = Object.groupBy(left, (character) => {
      if (/\p{M}/u.test(character)) return 'marks'
      if (/\p{No}/u.test(character)) return 'fractions'
      return /\p{L}/u.test(character) ? 'letters' : 'controls'
    })
    expect(listed(classes.marks ?? [])).toBe(
      '0302 0303 0313 0314 0326 0330 0332 0334 0337 0338 0347 1dcd 20d2 20d3 20e5',
    )
    expect(listed(classes.fractions ?? [])).toBe('00bc 00bd 00be')
    // Small capitals, and the click that looks like an exclamation mark.
    expect(listed(classes.letters ?? [])).toBe(
      '01c3 0262 026a 0274 0280 028f 0299 029c 029f 1d00 1d04 1d05 1d07 1d0a 1d0b 1d0d 1d0f 1d18 1d1b 1d1c 1d20 ' +
        '1d21 1d22 a730 a731',
    )
    expect(listed(classes.controls ?? [])).toBe(
      '0000 0003 0004 0010 0011 0012 0013 0014 0017 0019 0080 008d 0090 009b 009f',
    )
  })

  test('of those both replace, spaces are one space here, lines stay lines and vertical commas are commas', () => {
    const other = [...theirs]
      .filter(([character, replacement]) => (SMART_CHARACTERS.get(character) ?? replacement) !== replacement)
      .map(([character]) => character)
    const classes = Object.groupBy(other, (character) => JSON.stringify(SMART_CHARACTERS.get(character)))
    expect(Object.fromEntries(Object.entries(classes).map(([by, all]) => [by, listed(all ?? [])]))).toEqual({
      '" "': '0009 00a0 2000 2002 2003 2004 2005 2006 2007 2008 2009 200a 202f 205f 3000',
      '"\\n"': '2028 2029',
      '","': 'fe10 fe11',
    })
  })
})
