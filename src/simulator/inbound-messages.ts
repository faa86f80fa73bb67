import type { LongMessages } from '../domain/configuration/configuration.ts'
import { toCarrierAddress } from '../domain/messages/addresses.ts'
import { type SegmentPdu, segmentText } from '../domain/text/segments.ts'
import type { PduInput } from '../smpp/pdu.ts'

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

const LONG_MESSAGES = {
  udh8: 'udh',
  udh16: 'udh16',
  sar: 'sar',
  payload: 'payload',
} as const satisfies Record<InboundForm, LongMessages>

/**
 * One element for each PDU. `reference` is the number the parts share, 0 to 255.
 * @throws RangeError more than 255 parts.
 */
export function inboundMessageFields(message: InboundMessage, reference: number): MessageFields[] {
  const form = message.form ?? 'udh8'
  const text = segmentText(message.body, reference, { form: LONG_MESSAGES[form] })
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
  return text.pdus.map((pdu) => ({ ...common, ...content(pdu, form) }))
}

function content({ esmClass, shortMessage, tlvs }: SegmentPdu, form: InboundForm): MessageFields {
  const isShort = form === 'payload' && tlvs.message_payload === undefined
  if (isShort) return { esm_class: esmClass, tlvs: { message_payload: shortMessage } }
  return { esm_class: esmClass, short_message: shortMessage, tlvs }
}
