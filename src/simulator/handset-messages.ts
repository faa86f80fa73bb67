import { encodePdu } from '../smpp/encoding.ts'
import { messageOctets, type PduInput } from '../smpp/pdu.ts'
import type { SubmitPdu } from './submissions.ts'

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
