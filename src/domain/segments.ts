/** Cutting the text of an MT message into what fits one submit_sm each (3GPP TS 23.040 §9.2.3.24.1, 23.038). */

import { buildConcatenationHeader } from './concatenation.ts'
import { ESCAPE, encodeGsm, septetsOf } from './gsm0338.ts'

export type Encoding = 'GSM7' | 'UCS2'

/** Room in septets (GSM7) or UTF-16 code units (UCS2): alone, and beside a 6-octet concatenation header in 140 octets. */
const ROOM = {
  GSM7: { single: 160, concatenated: 153 },
  UCS2: { single: 70, concatenated: 67 },
} as const

/** The header has one octet for the total. A body of 1,600 code points needs 49 at most (33 surrogate pairs in each). */
export const MAX_SEGMENTS = 255

export type SegmentedText = {
  encoding: Encoding
  /** SMPP 3.4 §5.2.19: 0 is the default alphabet, 8 is UCS-2. */
  dataCoding: 0 | 8
  /** short_message of each submit_sm, its header included. */
  segments: Buffer[]
  /** Whether esm_class needs the UDHI flag. */
  hasUdh: boolean
}

/** How the text will be sent, without building it: called on every accept. Agrees with segmentText. */
export function countSegments(text: string): { encoding: Encoding; segments: number } {
  let total = 0
  let fill = 0
  let segments = 1
  for (let index = 0; index < text.length; index += 1) {
    const septets = septetsOf(text.charCodeAt(index))
    if (septets === 0) return { encoding: 'UCS2', segments: countUcs2Segments(text) }
    total += septets
    fill += septets
    if (fill > ROOM.GSM7.concatenated) {
      segments += 1
      fill = septets
    }
  }
  return { encoding: 'GSM7', segments: total <= ROOM.GSM7.single ? 1 : segments }
}

/**
 * The segments of a text, with `reference` (0..255) in their headers when there is more than one. An extension
 * character and a surrogate pair are never split. Throws RangeError beyond 255 segments.
 */
export function segmentText(text: string, reference: number): SegmentedText {
  const gsm = encodeGsm(text)
  if (gsm === null) {
    const bytes = Buffer.from(text, 'utf16le').swap16()
    const ends = text.length <= ROOM.UCS2.single ? [text.length] : ucs2Ends(text)
    const pieces = slices(
      bytes,
      ends.map((end) => end * 2),
    )
    return { encoding: 'UCS2', dataCoding: 8, ...withHeaders(pieces, reference) }
  }
  const ends = gsm.length <= ROOM.GSM7.single ? [gsm.length] : gsmEnds(gsm)
  return { encoding: 'GSM7', dataCoding: 0, ...withHeaders(slices(gsm, ends), reference) }
}

function countUcs2Segments(text: string): number {
  if (text.length <= ROOM.UCS2.single) return 1
  let segments = 0
  for (let start = 0; start < text.length; start = ucs2End(text, start)) segments += 1
  return segments
}

function ucs2Ends(text: string): number[] {
  const ends: number[] = []
  for (let start = 0; start < text.length; start = ends.at(-1) as number) ends.push(ucs2End(text, start))
  return ends
}

function ucs2End(text: string, start: number): number {
  const end = start + ROOM.UCS2.concatenated
  if (end >= text.length) return text.length
  const splitsPair = isHighSurrogate(text.charCodeAt(end - 1)) && isLowSurrogate(text.charCodeAt(end))
  return splitsPair ? end - 1 : end
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800
}

function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00
}

function gsmEnds(septets: Buffer): number[] {
  const ends: number[] = []
  for (let start = 0; start < septets.length; start = ends.at(-1) as number) {
    const end = start + ROOM.GSM7.concatenated
    // encodeGsm writes ESC only before an extension code, so an ESC in the last place would be torn from it.
    if (end >= septets.length) ends.push(septets.length)
    else ends.push(septets[end - 1] === ESCAPE ? end - 1 : end)
  }
  return ends
}

function slices(bytes: Buffer, ends: number[]): Buffer[] {
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

function withHeaders(pieces: Buffer[], reference: number): { segments: Buffer[]; hasUdh: boolean } {
  const total = pieces.length
  if (total > MAX_SEGMENTS) throw new RangeError(`${total} segments, at most ${MAX_SEGMENTS} can be numbered`)
  if (total === 1) return { segments: pieces, hasUdh: false }
  const segments = pieces.map((piece, index) =>
    Buffer.concat([buildConcatenationHeader(reference, total, index + 1), piece]),
  )
  return { segments, hasUdh: true }
}
