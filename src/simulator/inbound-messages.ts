import type { LongMessages } from '../domain/configuration/configuration.ts'
import { toCarrierAddress } from '../domain/messages/addresses.ts'
import { type SegmentPdu, segmentText } from '../domain/text/segments.ts'
import { encodePdu } from '../smpp/encoding.ts'
import { messageOctets, type PduInput } from '../smpp/pdu.ts'
import type { SubmitPdu } from './submissions.ts'

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
type MessageFields = Omit<PduInput<'deliver_sm'>, 'command'>

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

/** Of esm_class, UDHI and reply path pass from submit_sm to deliver_sm (SMPP 3.4 §5.2.12). */
const FEATURE_BITS = 0xc0
const MAX_SHORT_MESSAGE = 254

/**
 * What a handset submitted, as the ESME receives it: addresses, header, alphabet and optional parameters as given. Null
 * when it does not fit a deliver_sm (an address of data_sm above 20 characters). Shares no octets with `pdu`.
 */
export function deliverFromSubmit(pdu: SubmitPdu): PduInput<'deliver_sm'> | null {
  const octets = Buffer.from(messageOctets(pdu))
  const { message_payload: _, ...tlvs } = pdu.tlvs
  const deliver: PduInput<'deliver_sm'> = {
    command: 'deliver_sm',
    service_type: pdu.service_type,
    source_addr_ton: pdu.source_addr_ton,
    source_addr_npi: pdu.source_addr_npi,
    source_addr: pdu.source_addr,
    dest_addr_ton: pdu.dest_addr_ton,
    dest_addr_npi: pdu.dest_addr_npi,
    destination_addr: pdu.destination_addr,
    esm_class: pdu.esm_class & FEATURE_BITS,
    protocol_id: pdu.command === 'submit_sm' ? pdu.protocol_id : 0,
    data_coding: pdu.data_coding,
    ...(octets.length <= MAX_SHORT_MESSAGE && pdu.tlvs.message_payload === undefined
      ? { short_message: octets, tlvs }
      : { tlvs: { ...tlvs, message_payload: octets } }),
  }
  try {
    encodePdu(deliver)
    return deliver
  } catch {
    return null
  }
}
