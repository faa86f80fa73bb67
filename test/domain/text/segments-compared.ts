import { SegmentedMessage } from 'sms-segments-calculator'
import { expect } from 'vitest'
import { SeededRandom } from '../../../bench/seeded-random.ts'
import { countSegments } from '../../../src/domain/text/segments.ts'

/**
 * Compares our counts with those of the npm package `sms-segments-calculator`. Every difference belongs to a class that is
 * described in docs/text.md, and is proved to belong to it.
 */

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

function* texts(random: SeededRandom, count: number): Generator<string> {
  for (let index = 0; index < count; index += 1) {
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
export function difference(text: string, theirs: SegmentedMessage): 'clusters' | 'overfull' | 'unexplained' {
  const codePoints = segmentsOfWhole([...text])
  if (countSegments(text).segments !== codePoints) return 'unexplained'
  if (theirs.segments.some((segment) => segment.sizeInBits() > OCTETS_OF_A_SEGMENT * 8)) return 'overfull'
  const hasClusters = theirs.graphemes.length < [...text].length
  return hasClusters && segmentsOfWhole(theirs.graphemes) === theirs.segmentsCount
    ? 'clusters'
    : 'unexplained'
}

/** Expects the same of each text: the same encoding, and the same count except where the package keeps clusters whole. */
export function compareCounts(count: number): void {
  const found = { same: 0, clusters: 0, overfull: 0 }
  const strays: string[] = []
  for (const text of texts(new SeededRandom(38), count)) {
    const ours = countSegments(text)
    const theirs = new SegmentedMessage(text)
    const encoding = theirs.encodingName === 'GSM-7' ? 'GSM7' : 'UCS2'
    const why =
      ours.encoding === encoding && ours.segments === theirs.segmentsCount ? 'same' : difference(text, theirs)
    if (why === 'unexplained' || ours.encoding !== encoding) strays.push(text)
    else found[why] += 1
  }
  expect(strays).toEqual([])
  expect(found.same + found.clusters + found.overfull).toBe(count)
  expect(found.same).toBeGreaterThan(count * 0.9)
  expect(found.clusters).toBeGreaterThan(0)
}
