import { createRequire } from 'node:module'
import { SegmentedMessage } from 'sms-segments-calculator'
import { describe, expect, test } from 'vitest'
import { SeededRandom } from '../../bench/seeded-random.ts'
import { countSegments } from '../../src/domain/segments.ts'
import { SMART_CHARACTERS } from '../../src/domain/smart-encoding.ts'

/**
 * Our counts beside those of the npm package `sms-segments-calculator`, and our table of typographic characters beside
 * its own. Every difference belongs to a class that is described in docs/text.md, and is proved to belong to it.
 */

const TEXTS = 100_000

const GSM = [...'@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCXYZÄÖÑÜ§¿abcxyzäöñüà']
const EXTENSION = [...'\f^{}\\[~]|€']
const OTHER = [...'ждйЯçłşığ“”’—…中文字日本한국العβţ\u200b\u00a0\t`\0']
const COMBINING = ['e\u0301', 'n\u0303', 'a\u0308\u0323', 'क्षि', 'ক্ষ', 'நி', 'שָׁ', 'กำ', '\u1112\u1161\u11ab']
const EMOJI = ['😀', '🎉', '𝒜', '👨‍👩‍👧‍👦', '🏳️‍🌈', '👍🏽', '🇸🇪', '🇺🇸', '❤️', '1️⃣', '🧑🏻‍💻']
const LONE = ['\ud83d', '\ude00']
const STACKED = [`a${'\u0301'.repeat(40)}`, `e${'\u0308'.repeat(60)}`, 'ж']
const MIXTURES: readonly (readonly (readonly string[])[])[] = [
  [GSM],
  [GSM, GSM, GSM, GSM, EXTENSION],
  [EXTENSION],
  [GSM, OTHER],
  [OTHER],
  [EMOJI],
  [GSM, EMOJI],
  [COMBINING],
  [COMBINING, EMOJI, OTHER, GSM],
  [GSM, OTHER, LONE, EMOJI],
  [STACKED],
]
/** Code units around which a count changes. */
const EDGES = [1, 20, 70, 70, 134, 134, 160, 160, 306]

function* texts(random: SeededRandom): Generator<string> {
  for (let index = 0; index < TEXTS; index += 1) {
    const mixture = random.pick(MIXTURES)
    const length = random.once(100)
      ? 1 + random.below(1_600)
      : Math.max(1, random.pick(EDGES) - 6 + random.below(13))
    let text = ''
    while (text.length < length) text += random.pick(random.pick(mixture))
    // Half of them to the unit, through clusters and pairs.
    yield random.once(2) ? text : text.slice(0, length)
  }
}

/** Segments of UCS-2 when each of these is kept whole: as many as have room, none longer than 67 units. */
function segmentsOfWhole(atoms: readonly string[]): number {
  const units = atoms.reduce((sum, atom) => sum + atom.length, 0)
  if (units <= 70) return 1
  let segments = 1
  let fill = 0
  for (const { length } of atoms) {
    fill += length
    if (fill <= 67) continue
    segments += 1
    fill = length
  }
  return segments
}

const OCTETS_OF_A_SEGMENT = 140

/** Why the package counts differently; `unexplained` must not be. */
function difference(text: string, theirs: SegmentedMessage): 'clusters' | 'overfull' | 'unexplained' {
  const codePoints = segmentsOfWhole([...text])
  if (countSegments(text).segments !== codePoints) return 'unexplained'
  if (theirs.segments.some((segment) => segment.sizeInBits() > OCTETS_OF_A_SEGMENT * 8)) return 'overfull'
  const hasClusters = theirs.graphemes.length < [...text].length
  return hasClusters && segmentsOfWhole(theirs.graphemes) === theirs.segmentsCount
    ? 'clusters'
    : 'unexplained'
}

test(`${TEXTS} texts: the same encoding, and the same count but where the package keeps clusters whole`, () => {
  const found = { same: 0, clusters: 0, overfull: 0 }
  const strays: string[] = []
  for (const text of texts(new SeededRandom(38))) {
    const ours = countSegments(text)
    const theirs = new SegmentedMessage(text)
    const encoding = theirs.encodingName === 'GSM-7' ? 'GSM7' : 'UCS2'
    const why =
      ours.encoding === encoding && ours.segments === theirs.segmentsCount ? 'same' : difference(text, theirs)
    if (why === 'unexplained' || ours.encoding !== encoding) strays.push(text)
    else found[why] += 1
  }
  expect(strays).toEqual([])
  expect(found.same + found.clusters + found.overfull).toBe(TEXTS)
  expect(found.same).toBeGreaterThan(TEXTS * 0.9)
  expect(found.clusters).toBeGreaterThan(0)
}, 300_000)

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
