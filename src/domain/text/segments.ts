import type { LongMessages } from '../configuration/configuration.ts'
import { buildHeader, type SegmentNumber, UDHI } from './concatenation.ts'
import {
  chooseEncoding,
  type EncodedText,
  PLAIN_TEXT,
  roomIn,
  type SmartReplacement,
  smartReplacements,
  type TextSettings,
} from './encoding-choice.ts'
import { DEFAULT_LANGUAGE } from './gsm-national-tables.ts'
import { decodeGsm, ESCAPE, encodeGsm, gsmAlphabet } from './gsm0338.ts'

/** Turns the text of an MT message into the submit_sm that carry it (3GPP TS 23.040 §9.2.3.24, 23.038). */

export type Encoding = 'GSM7' | 'UCS2'

/** What one submit_sm carries of a text: one segment or, whole in message_payload, all of them. */
export interface SegmentPdu {
  readonly esmClass: number
  /** Header and octets; empty when message_payload has them. */
  readonly shortMessage: Buffer
  readonly tlvs: SegmentTlvs
  /** From 0. */
  readonly firstSegment: number
  readonly segmentCount: number
}

interface SegmentTlvs {
  readonly message_payload?: Buffer
  readonly sar_msg_ref_num?: number
  readonly sar_total_segments?: number
  readonly sar_segment_seqnum?: number
}

export interface SegmentedText {
  readonly encoding: Encoding
  /** SMPP 3.4 §5.2.19: 0 is the default alphabet, 8 is UCS-2. */
  readonly dataCoding: 0 | 8
  /** As charged, whatever the number of PDUs. */
  readonly segments: number
  readonly pdus: readonly SegmentPdu[]
}

/** Headers have one octet for the total. A body of 1,600 code points needs 49 at most (33 surrogate pairs in each). */
export const MAX_SEGMENTS = 255

const NOTHING = Buffer.alloc(0)
const NO_TLVS: SegmentTlvs = {}

/** How the text will be sent, without building it: called on every accept. Agrees with segmentText in form `udh`. */
export function countSegments(
  text: string,
  settings: TextSettings = PLAIN_TEXT,
): { encoding: Encoding; segments: number } {
  const { language, segments } = chooseEncoding(text, settings, 'udh')
  return { encoding: language === null ? 'UCS2' : 'GSM7', segments }
}

/** What each segment carries, as `countSegments` counts them. Joined, it is the text that is sent. */
function divideText(
  text: string,
  settings: TextSettings,
): { encoding: Encoding; segments: readonly string[] } {
  const encoded = chooseEncoding(text, settings, 'udh')
  const { language } = encoded
  const octets = octetsOf(encoded)
  const all = encoded.segments === 1 ? [octets] : pieces(octets, encoded, 'udh')
  if (language !== null) return { encoding: 'GSM7', segments: all.map((piece) => decodeGsm(piece, language)) }
  return { encoding: 'UCS2', segments: all.map((piece) => Buffer.from(piece).swap16().toString('utf16le')) }
}

/**
 * The PDUs of a text, in the encoding that needs fewest segments. `reference` (0..65535) is shared by its parts; an 8-bit
 * one is its low octet. An escape sequence or a surrogate pair is never split. Throws RangeError beyond 255 segments.
 */
export function segmentText(
  text: string,
  reference: number,
  { settings = PLAIN_TEXT, form = 'udh' }: { settings?: TextSettings; form?: LongMessages } = {},
): SegmentedText {
  const encoded = chooseEncoding(text, settings, form)
  const { language, segments } = encoded
  if (segments > MAX_SEGMENTS)
    throw new RangeError(`${segments} segments, at most ${MAX_SEGMENTS} can be numbered`)
  return {
    encoding: language === null ? 'UCS2' : 'GSM7',
    dataCoding: language === null ? 8 : 0,
    segments,
    pdus: pdusOf(encoded, form, reference),
  }
}

function pdusOf(encoded: EncodedText, form: LongMessages, reference: number): SegmentPdu[] {
  const octets = octetsOf(encoded)
  const language = encoded.language ?? DEFAULT_LANGUAGE
  const total = encoded.segments
  if (total === 1 || form === 'payload') {
    const header = buildHeader(null, language)
    const content = header.length === 0 ? octets : Buffer.concat([header, octets])
    return [
      {
        esmClass: header.length === 0 ? 0 : UDHI,
        shortMessage: total === 1 ? content : NOTHING,
        tlvs: total === 1 ? NO_TLVS : { message_payload: content },
        firstSegment: 0,
        segmentCount: total,
      },
    ]
  }
  return pieces(octets, encoded, form).map((piece, index) => {
    const numbering = segmentNumberOf(form, reference, total, index + 1)
    const header = buildHeader(numbering, language)
    return {
      esmClass: header.length === 0 ? 0 : UDHI,
      shortMessage: Buffer.concat([header, piece]),
      tlvs: numbering.kind === 'sar' ? sarTlvs(numbering) : NO_TLVS,
      firstSegment: index,
      segmentCount: 1,
    }
  })
}

function octetsOf({ text, language }: EncodedText): Buffer {
  if (language === null) return Buffer.from(text, 'utf16le').swap16()
  return encodeGsm(text, gsmAlphabet(language)) as Buffer
}

/** Puts as many octets into each as there is room for, without splitting a character. */
function pieces(octets: Buffer, { language }: EncodedText, form: LongMessages): Buffer[] {
  const room = roomIn(language, form).concatenated * (language === null ? 2 : 1)
  const all: Buffer[] = []
  for (let start = 0; start < octets.length; ) {
    let end = Math.min(start + room, octets.length)
    if (end < octets.length) end -= language === null ? tornPair(octets, end) : tornEscape(octets, end)
    all.push(octets.subarray(start, end))
    start = end
  }
  return all
}

function tornPair(octets: Buffer, end: number): 0 | 2 {
  const high = (octets[end - 2] as number) & 0xfc
  const low = (octets[end] as number) & 0xfc
  return high === 0xd8 && low === 0xdc ? 2 : 0
}

/** encodeGsm writes ESC only before the code it belongs to. */
function tornEscape(octets: Buffer, end: number): 0 | 1 {
  return octets[end - 1] === ESCAPE ? 1 : 0
}

function segmentNumberOf(
  form: LongMessages,
  reference: number,
  total: number,
  sequence: number,
): SegmentNumber {
  if (form === 'udh') return { kind: 'udh8', reference: reference & 0xff, total, sequence }
  return { kind: form === 'sar' ? 'sar' : 'udh16', reference, total, sequence }
}

function sarTlvs({ reference, total, sequence }: SegmentNumber): SegmentTlvs {
  return { sar_msg_ref_num: reference, sar_total_segments: total, sar_segment_seqnum: sequence }
}

/** A character that the GSM 7-bit default alphabet lacks. */
interface ForeignCharacter {
  readonly character: string
  /** `U+2019` */
  readonly codePoint: string
  /** Of the first, in code points from 0. */
  readonly position: number
}

/** How a text would be sent, and why. */
export interface TextExplanation {
  readonly encoding: Encoding
  /** The text that each carries. */
  readonly segments: readonly string[]
  /** What keeps the text out of the GSM 7-bit alphabet, each once; empty unless it is sent as UCS-2. */
  readonly ucs2Characters: readonly ForeignCharacter[]
  /** Empty unless the plan has smart encoding. They are made only if that saves the text from UCS-2. */
  readonly smartReplacements: readonly SmartReplacement[]
}

/** Answers with the encoder of the message path itself. */
export function explainText(text: string, settings: TextSettings): TextExplanation {
  const { encoding, segments } = divideText(text, settings)
  return {
    encoding,
    segments,
    ucs2Characters: encoding === 'UCS2' ? foreignCharacters(text) : [],
    smartReplacements: settings.smartEncoding ? smartReplacements(text) : [],
  }
}

function foreignCharacters(text: string): ForeignCharacter[] {
  const found = new Map<string, ForeignCharacter>()
  for (const [position, character] of [...text].entries()) {
    if (found.has(character) || encodeGsm(character) !== null) continue
    const hex = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
    found.set(character, { character, codePoint: `U+${hex}`, position })
  }
  return [...found.values()]
}
