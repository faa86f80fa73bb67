import type { LongMessages } from '../configuration/configuration.ts'
import { buildHeader, type SegmentNumber } from './concatenation.ts'
import { DEFAULT_LANGUAGE, type Language, lockingTable } from './gsm-national-tables.ts'
import { DEFAULT_GSM, type GsmAlphabet, gsmAlphabet, septetsOf } from './gsm0338.ts'

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

// Smart encoding: typographic characters that the GSM alphabet lacks, and what replaces them, so that one curly quote
// does not make a text UCS-2. Only replacements that read the same are here: no letters, fractions or combining marks.
// docs/text.md shows the table.

/** Replacement -> the characters it stands for, as hexadecimal code points and ranges of them. */
const TABLE: ReadonlyArray<readonly [replacement: string, codePoints: string]> = [
  ['"', '00ab 00bb 02ba 02ee 201c-201f 2033 2036 275d 275e 301d-301f'],
  ["'", '0060 00b4 02b9 02bb-02bd 02c8 02ca 02cb 2018 2019 201b 2032 2035 275b 275c ff40'],
  ["'''", '2034 2037'],
  [',', '201a 3001 fe10 fe11 fe50 fe51 ff64'],
  ['.', '00b7 2024 3002 fe52 ff61'],
  ['..', '2025'],
  ['...', '2026 fe19'],
  ['-', '2010-2015 2022 2023 2043 2212 23bc 23bd 25e6 fe58 fe63'],
  [' ', '0009 00a0 1680 2000-200a 202f 205f 3000'],
  ['\n', '0085 2028 2029'],
  // Soft hyphen, zero-width spaces and joiners, marks of direction, byte order mark.
  ['', '00ad 180e 200b-200f 202a-202e 2060-2064 2066-2069 feff'],
  ['<', '2039 fe64'],
  ['>', '203a fe65'],
  ['(', '2768 276a 27ee 2985 fe59'],
  [')', '2769 276b 27ef 2986 fe5a'],
  ['{', '2774 fe5b'],
  ['}', '2775 fe5c'],
  ['/', '00f7 2044 2215 29f8'],
  ['\\', '29f5 29f9 fe68'],
  ['|', '00a6 2223 239c 239f 23b8 23b9 23d0 2758-275a'],
  ['_', '2017'],
  ['~', '02dc 02f7 223c 301c'],
  ['^', '02c6'],
  ['!', 'fe15 fe57'],
  ['?', 'fe16 fe56'],
  ['!!', '203c'],
  ['??', '2047'],
  ['?!', '2048'],
  ['!?', '2049'],
  [':', '02d0 02f8 2236 2982 a789 fe13 fe55'],
  [';', '204f fe14 fe54'],
  ['*', '204e 2217 229b 2722-2725 2731-2733 273a-273d 2743 2749-274b 29c6 fe61'],
  ['+', '02d6 fe62'],
  ['=', 'a78a fe66'],
  ['#', 'fe5f'],
  ['$', 'fe69'],
  ['%', 'fe6a'],
  ['&', 'fe60'],
  ['@', 'fe6b'],
  ['x', '00d7'],
  ['ff', 'fb00'],
  ['fi', 'fb01'],
  ['fl', 'fb02'],
  ['ffi', 'fb03'],
  ['ffl', 'fb04'],
  ['st', 'fb05 fb06'],
]

/** The full-width forms of ASCII are in its order. */
const FULL_WIDTH = { first: 0xff01, last: 0xff5e, offset: 0xfee0 }

/** Character -> its replacement. */
export const SMART_CHARACTERS: ReadonlyMap<string, string> = new Map([...fullWidth(), ...listed()])

/**
 * The text composed (Unicode NFC) and with its typographic characters replaced, whatever alphabet it then needs. A text
 * that would become empty stays as it is.
 */
export function smartText(text: string): string {
  return replaced(text) || text
}

/** A character with its combining marks, which NFC may compose. */
const CLUSTER = /\P{M}\p{M}*|\p{M}+/gsu

/** What smart encoding replaces in a text, each once. */
export interface SmartReplacement {
  /** One character, or a letter with its combining marks. */
  readonly characters: string
  /** Empty: it is left out. */
  readonly replacement: string
  /** Of the first, in code points from 0. */
  readonly position: number
}

export function smartReplacements(text: string): SmartReplacement[] {
  if (smartText(text) === text) return []
  const found = new Map<string, SmartReplacement>()
  let position = 0
  for (const [characters] of text.matchAll(CLUSTER)) {
    const replacement = replaced(characters)
    if (replacement !== characters && !found.has(characters))
      found.set(characters, { characters, replacement, position })
    position += [...characters].length
  }
  return [...found.values()]
}

function replaced(text: string): string {
  let smart = ''
  for (const character of text.normalize('NFC')) smart += SMART_CHARACTERS.get(character) ?? character
  return smart
}

function* listed(): Generator<[string, string]> {
  for (const [replacement, codePoints] of TABLE) {
    for (const token of codePoints.split(' ')) {
      const [first, last = first] = token.split('-').map((hex) => Number.parseInt(hex, 16)) as [
        number,
        number?,
      ]
      for (let code = first; code <= last; code += 1) yield [String.fromCharCode(code), replacement]
    }
  }
}

function* fullWidth(): Generator<[string, string]> {
  const { first, last, offset } = FULL_WIDTH
  for (let code = first; code <= last; code += 1)
    yield [String.fromCharCode(code), String.fromCharCode(code - offset)]
}
