import { DEFAULT_LANGUAGE, type Language } from './gsm-national-tables.ts'

/**
 * Builds and reads long messages in parts: user data headers (3GPP TS 23.040 §9.2.3.24) and the SAR TLVs (SMPP 3.4
 * §5.3.2.22-24).
 */

/** esm_class flag: the user data begins with a header (SMPP 3.4 §5.2.12). */
export const UDHI = 0x40

const IE_CONCATENATION_8_BIT = 0x00
const IE_CONCATENATION_16_BIT = 0x08
const IE_SINGLE_SHIFT = 0x24
const IE_LOCKING_SHIFT = 0x25

/** Which part of which message. `kind` belongs to the key: equal references of different kinds are different messages. */
export type SegmentNumber = {
  reference: number
  total: number
  sequence: number
  kind: 'udh8' | 'udh16' | 'sar'
}

export type UserData = {
  esmClass: number
  shortMessage: Buffer
  tlvs: {
    message_payload?: Buffer | undefined
    sar_msg_ref_num?: number | undefined
    sar_total_segments?: number | undefined
    sar_segment_seqnum?: number | undefined
  }
}

const NO_HEADER = Buffer.alloc(0)

/** The header that parseUserData reads as this part and language, its length octet first; empty when neither needs one. */
export function buildHeader(number: SegmentNumber | null, language: Language = DEFAULT_LANGUAGE): Buffer {
  const elements = [...numberElement(number), ...languageElements(language)]
  return elements.length === 0 ? NO_HEADER : Buffer.from([elements.length, ...elements])
}

/** SAR needs no element: its TLVs carry the part. */
function numberElement(part: SegmentNumber | null): number[] {
  if (part === null || part.kind === 'sar') return []
  const { reference, total, sequence, kind } = part
  if (kind === 'udh8') return [IE_CONCATENATION_8_BIT, 3, reference, total, sequence]
  return [IE_CONCATENATION_16_BIT, 4, reference >> 8, reference & 0xff, total, sequence]
}

function languageElements({ locking, single }: Language): number[] {
  const elements = []
  if (single !== null) elements.push(IE_SINGLE_SHIFT, 1, single)
  if (locking !== null) elements.push(IE_LOCKING_SHIFT, 1, locking)
  return elements
}

/**
 * Splits what a deliver_sm carries into content, part and national language. message_payload counts only when
 * short_message is empty (SMPP 3.4 §5.3.2.32). A header whose lengths do not fit is no header: the raw content is a
 * single message. One that fits but has an impossible part number (total 0, sequence 0 or above total) is removed and
 * the part number ignored (3GPP 23.040 §9.2.3.24.1). A "part 1 of 1" is a single message too. Never throws.
 */
export function parseUserData({ esmClass, shortMessage, tlvs }: UserData): {
  payload: Buffer
  part: SegmentNumber | null
  language: Language
} {
  const raw = shortMessage.length > 0 ? shortMessage : (tlvs.message_payload ?? shortMessage)
  const header = (esmClass & UDHI) === 0 ? null : parseHeader(raw)
  const payload = header === null ? raw : raw.subarray(header.length)
  return { payload, part: header?.part ?? sarPart(tlvs), language: header?.language ?? DEFAULT_LANGUAGE }
}

/** The parts sorted by sequence number, without repeats. */
export function inSequence<T extends { sequence: number }>(parts: ReadonlyArray<T>): T[] {
  const bySequence = new Map<number, T>()
  for (const part of parts) if (!bySequence.has(part.sequence)) bySequence.set(part.sequence, part)
  return [...bySequence.values()].sort((a, b) => a.sequence - b.sequence)
}

/** null when the lengths of the header or of one of its elements do not fit. `length` includes the length octet. */
function parseHeader(raw: Buffer): { length: number; part: SegmentNumber | null; language: Language } | null {
  const length = (raw[0] ?? 0xff) + 1
  if (length > raw.length) return null
  let part: SegmentNumber | null = null
  let language = DEFAULT_LANGUAGE
  let offset = 1
  while (offset < length) {
    const start = offset + 2
    const end = start + (raw[offset + 1] ?? 0xff)
    if (start > length || end > length) return null
    // If an element occurs twice, the last one counts (3GPP 23.040 §9.2.3.24).
    const identifier = raw[offset] as number
    const data = raw.subarray(start, end)
    const element = elementPart(identifier, data)
    if (element === 'broken') return null
    part = element ?? part
    language = elementLanguage(identifier, data, language)
    offset = end
  }
  return { length, part, language }
}

/**
 * `before` with the element's change (3GPP 23.040 §9.2.3.24.15-16). Data of any other length than one octet changes
 * nothing.
 */
function elementLanguage(identifier: number, data: Buffer, before: Language): Language {
  if (data.length !== 1) return before
  if (identifier === IE_SINGLE_SHIFT) return { ...before, single: data.readUInt8(0) }
  if (identifier === IE_LOCKING_SHIFT) return { ...before, locking: data.readUInt8(0) }
  return before
}

function elementPart(identifier: number, data: Buffer): SegmentNumber | 'broken' | null {
  if (identifier === IE_CONCATENATION_8_BIT) {
    if (data.length !== 3) return 'broken'
    return checkedPart('udh8', data.readUInt8(0), data.readUInt8(1), data.readUInt8(2))
  }
  if (identifier === IE_CONCATENATION_16_BIT) {
    if (data.length !== 4) return 'broken'
    return checkedPart('udh16', data.readUInt16BE(0), data.readUInt8(2), data.readUInt8(3))
  }
  return null
}

function sarPart(tlvs: UserData['tlvs']): SegmentNumber | null {
  const { sar_msg_ref_num: reference, sar_total_segments: total, sar_segment_seqnum: sequence } = tlvs
  if (reference === undefined || total === undefined || sequence === undefined) return null
  // Two octets, of which some carriers make four. A signed number has all 32 bits, and is what PostgreSQL's integer holds.
  return checkedPart('sar', reference | 0, total, sequence)
}

function checkedPart(
  kind: SegmentNumber['kind'],
  reference: number,
  total: number,
  sequence: number,
): SegmentNumber | null {
  const possible = total >= 2 && total <= 255 && sequence >= 1 && sequence <= total
  return possible ? { reference, total, sequence, kind } : null
}
