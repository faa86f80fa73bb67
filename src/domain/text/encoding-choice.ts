import type { LongMessages } from '../configuration/configuration.ts'
import { buildHeader, type SegmentNumber } from './concatenation.ts'
import { DEFAULT_LANGUAGE, type Language, lockingTable } from './gsm-national-tables.ts'
import { DEFAULT_GSM, type GsmAlphabet, gsmAlphabet, septetsOf } from './gsm0338.ts'
import { smartText } from './smart-encoding.ts'

/** Chooses how to write a text: alphabet, tables of a language (3GPP TS 23.038 §6.2.1.2), or UCS-2. */

/** What a service plan allows in addition to the default alphabet and UCS-2. */
export interface TextSettings {
  readonly smartEncoding: boolean
  /** National language identifiers, the preferred one first. */
  readonly nationalLanguages: readonly number[]
}

export const PLAIN_TEXT: TextSettings = { smartEncoding: false, nationalLanguages: [] }

export interface EncodedText {
  /** What is sent. */
  readonly text: string
  /** Null: UCS-2. */
  readonly language: Language | null
  readonly segments: number
}

/** Room of a segment, in septets or (for UCS-2) code units: alone, and as one of several. */
export interface Room {
  readonly single: number
  readonly concatenated: number
}

/** Octets of user data in one SMS. */
const USER_DATA_OCTETS = 140

type Header = 'udh' | 'udh16'
/** Any part, because all parts have headers of the same length. */
const PARTS = {
  udh: { kind: 'udh8', reference: 0, total: 2, sequence: 1 },
  udh16: { kind: 'udh16', reference: 0, total: 2, sequence: 1 },
} as const satisfies Record<Header, SegmentNumber>

const DEFAULT_ROOM = { udh: gsmRoom(DEFAULT_LANGUAGE, 'udh'), udh16: gsmRoom(DEFAULT_LANGUAGE, 'udh16') }
const UCS2_ROOM = { udh: ucs2Room('udh'), udh16: ucs2Room('udh16') }

/** SAR and payload have the room of `udh`, which is what the SMSC makes of them. */
export function roomIn(language: Language | null, form: LongMessages): Room {
  const header = form === 'udh16' ? 'udh16' : 'udh'
  if (language === null) return UCS2_ROOM[header]
  return language === DEFAULT_LANGUAGE ? DEFAULT_ROOM[header] : gsmRoom(language, header)
}

/**
 * The encoding that needs fewest segments. Among equals, the order is: the default alphabet; UCS-2, which every handset
 * reads; a single shift table; a locking one; both. Among several languages, the preferred one comes first. The result of
 * smart encoding comes after the text itself, but before a language.
 */
export function chooseEncoding(text: string, settings: TextSettings, form: LongMessages): EncodedText {
  const plain = gsmSegments(text, DEFAULT_GSM, roomIn(DEFAULT_LANGUAGE, form))
  // Most texts.
  if (plain === 1 || (plain > 1 && settings.nationalLanguages.length === 0))
    return { text, language: DEFAULT_LANGUAGE, segments: plain }
  const texts = settings.smartEncoding && plain === 0 ? [text, smartText(text)] : [text]
  const ucs2: EncodedText = { text, language: null, segments: ucs2Segments(text, roomIn(null, form)) }
  const encodings = [...gsmEncodings(texts, [DEFAULT_LANGUAGE], form), ucs2]
  // With one segment, no table saves anything.
  if (ucs2.segments > 1)
    encodings.push(...gsmEncodings(texts, nationalLanguages(settings.nationalLanguages), form))
  return encodings.reduce((best, one) => (one.segments < best.segments ? one : best))
}

/** The encodings in those of the languages that have all characters. */
function gsmEncodings(
  texts: readonly string[],
  languages: readonly Language[],
  form: LongMessages,
): EncodedText[] {
  return texts.flatMap((text) =>
    languages.flatMap((language) => {
      const segments = gsmSegments(text, gsmAlphabet(language), roomIn(language, form))
      return segments === 0 ? [] : [{ text, language, segments }]
    }),
  )
}

/** In order of preference. */
function nationalLanguages(identifiers: readonly number[]): Language[] {
  const withLocking = identifiers.filter((identifier) => lockingTable(identifier) !== undefined)
  return [
    ...identifiers.map((single) => ({ locking: null, single })),
    ...withLocking.map((locking) => ({ locking, single: null })),
    ...withLocking.map((both) => ({ locking: both, single: both })),
  ]
}

/** Septets begin at a septet boundary after the header, hence the fill bits. */
function gsmRoom(language: Language, header: Header): Room {
  const septets = (octets: number) => Math.floor((USER_DATA_OCTETS * 8) / 7) - Math.ceil((octets * 8) / 7)
  return {
    single: septets(buildHeader(null, language).length),
    concatenated: septets(buildHeader(PARTS[header], language).length),
  }
}

function ucs2Room(header: Header): Room {
  const { length } = buildHeader(PARTS[header])
  return { single: USER_DATA_OCTETS >> 1, concatenated: (USER_DATA_OCTETS - length) >> 1 }
}

/** 0 when the alphabet lacks a character. */
function gsmSegments(text: string, alphabet: GsmAlphabet, { single, concatenated }: Room): number {
  let total = 0
  let fill = 0
  let segments = 1
  for (let index = 0; index < text.length; index += 1) {
    const septets = septetsOf(text.charCodeAt(index), alphabet)
    if (septets === 0) return 0
    total += septets
    fill += septets
    if (fill > concatenated) {
      segments += 1
      fill = septets
    }
  }
  return total <= single ? 1 : segments
}

function ucs2Segments(text: string, { single, concatenated }: Room): number {
  if (text.length <= single) return 1
  let segments = 0
  for (let start = 0; start < text.length; segments += 1) {
    const end = start + concatenated
    start = splitsPair(text, end) ? end - 1 : end
  }
  return segments
}

function splitsPair(text: string, end: number): boolean {
  return (text.charCodeAt(end - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(end) & 0xfc00) === 0xdc00
}
