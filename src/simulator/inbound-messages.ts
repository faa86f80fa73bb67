import { toCarrierAddress } from '../domain/addresses.ts'
import { CONCATENATION_HEADER_LENGTH, UDHI } from '../domain/concatenation.ts'
import { ESCAPE } from '../domain/gsm0338.ts'
import { MAX_SEGMENTS, type SegmentedText, segmentText } from '../domain/segments.ts'
import type { PduInput } from '../smpp/pdu.ts'
import type { Tlvs } from '../smpp/tlvs.ts'

/**
 * How a long MO message is cut: 8- or 16-bit references in user data headers (3GPP TS 23.040 §9.2.3.24.1, .8), SAR
 * parameters (SMPP 3.4 §5.3.2.22-24), or not at all, in message_payload (§5.3.2.32).
 */
export type InboundForm = 'udh8' | 'udh16' | 'sar' | 'payload'

export interface InboundMessage {
  /** E.164 with `+`, a short code, or letters: becomes TON, NPI and address. */
  readonly from: string
  readonly to: string
  /** Sent in the GSM alphabet if that has every character, else in UCS-2. */
  readonly body: string
  /** Default udh8. `payload` carries a short message in message_payload too. */
  readonly form?: InboundForm
}

/** What submit_sm and deliver_sm have in common, and all of it that an MO message needs. */
export type MessageFields = Omit<PduInput<'deliver_sm'>, 'command'>

/** Beside a header of 7 octets in 140: 152 septets, 66 code units. */
const UDH16_ROOM_OCTETS = { GSM7: 152, UCS2: 132 } as const
const IE_CONCATENATION_16_BIT = 0x08

/**
 * One element for each PDU. `reference` is the number the parts share, 0 to 255.
 * @throws RangeError more than 255 parts.
 */
export function inboundMessageFields(message: InboundMessage, reference: number): MessageFields[] {
  const text = segmentText(message.body, reference)
  const from = toCarrierAddress(message.from)
  const to = toCarrierAddress(message.to)
  const common = {
    source_addr_ton: from.ton,
    source_addr_npi: from.npi,
    source_addr: from.address,
    dest_addr_ton: to.ton,
    dest_addr_npi: to.npi,
    destination_addr: to.address,
    data_coding: text.dataCoding,
  }
  return contents(text, reference, message.form ?? 'udh8').map((content) => ({ ...common, ...content }))
}

interface Content {
  readonly esm_class: number
  readonly short_message?: Buffer
  readonly tlvs?: Tlvs
}

function contents(text: SegmentedText, reference: number, form: InboundForm): Content[] {
  const { segments, hasUdh } = text
  if (form === 'payload') return [{ esm_class: 0, tlvs: { message_payload: Buffer.concat(bare(text)) } }]
  if (!hasUdh) return segments.map((segment) => ({ esm_class: 0, short_message: segment }))
  switch (form) {
    case 'udh8':
      return segments.map((segment) => ({ esm_class: UDHI, short_message: segment }))
    case 'udh16':
      return withWideHeaders(text, reference)
    case 'sar':
      return bare(text).map((piece, index, pieces) => ({
        esm_class: 0,
        short_message: piece,
        tlvs: {
          sar_msg_ref_num: reference,
          sar_total_segments: pieces.length,
          sar_segment_seqnum: index + 1,
        },
      }))
  }
}

/** The segments without their headers. */
function bare({ segments, hasUdh }: SegmentedText): Buffer[] {
  return hasUdh ? segments.map((segment) => segment.subarray(CONCATENATION_HEADER_LENGTH)) : segments
}

function withWideHeaders(text: SegmentedText, reference: number): Content[] {
  const pieces = cut(Buffer.concat(bare(text)), text.encoding)
  if (pieces.length > MAX_SEGMENTS) throw new RangeError(`${pieces.length} segments, at most ${MAX_SEGMENTS}`)
  return pieces.map((piece, index) => {
    const header = [
      0x06,
      IE_CONCATENATION_16_BIT,
      0x04,
      reference >> 8,
      reference & 0xff,
      pieces.length,
      index + 1,
    ]
    return { esm_class: UDHI, short_message: Buffer.concat([Buffer.from(header), piece]) }
  })
}

/** Pieces of at most the room beside a wide header; an escape sequence or surrogate pair stays whole. */
function cut(content: Buffer, encoding: SegmentedText['encoding']): Buffer[] {
  const room = UDH16_ROOM_OCTETS[encoding]
  const pieces: Buffer[] = []
  for (let start = 0; start < content.length; ) {
    let end = Math.min(content.length, start + room)
    if (end < content.length) {
      if (encoding === 'GSM7' && content[end - 1] === ESCAPE) end -= 1
      if (encoding === 'UCS2' && (content[end - 2]! & 0xfc) === 0xd8) end -= 2
    }
    pieces.push(content.subarray(start, end))
    start = end
  }
  return pieces
}
