import { RECEIPT_STATES } from '../domain/carriers/statuses.ts'
import { parseUserData, UDHI } from '../domain/text/concatenation.ts'
import { decodeInbound } from '../domain/text/inbound-text.ts'
import { messageOctets, type PduInput } from '../smpp/pdu.ts'
import type { Tlvs } from '../smpp/tlvs.ts'
import type { Delivery } from './mailbox.ts'
import type { ReceiptStep } from './outcomes.ts'
import type { SubmitPdu } from './submissions.ts'

/** What the receipts of one submit say. No views of its PDU: they would keep the received chunk alive. */
export interface ReceiptFacts {
  readonly messageId: string
  readonly submitDate: string
  readonly mccmnc: string
  /** The first words of the message, as the text form repeats them. */
  readonly excerpt: string
  /** Of the ESME: the receipt's destination. */
  readonly source: Address
  readonly destination: Address
}

interface Address {
  readonly ton: number
  readonly npi: number
  readonly address: string
}

/** esm_class of a delivery receipt (SMPP 3.4 §5.2.12). */
const DELIVERY_RECEIPT = 0x04
/** Network type of network_error_code (§5.3.2.31). */
const NETWORK_GSM = 3
/** Appendix B: the first 20 characters. */
const EXCERPT_LENGTH = 20

export function receiptFacts(pdu: SubmitPdu, messageId: string, nowMs: number): ReceiptFacts {
  return {
    messageId,
    submitDate: receiptDate(nowMs),
    mccmnc: networkOf(pdu.destination_addr),
    excerpt: excerptOf(pdu),
    source: { ton: pdu.source_addr_ton, npi: pdu.source_addr_npi, address: pdu.source_addr },
    destination: { ton: pdu.dest_addr_ton, npi: pdu.dest_addr_npi, address: pdu.destination_addr },
  }
}

/** The receipts that registered_delivery asks for (§5.2.17): 1 every final one, 2 failures only, 0 none. */
export function wantedReceipts(
  steps: readonly ReceiptStep[],
  registeredDelivery: number,
): readonly ReceiptStep[] {
  switch (registeredDelivery & 0x03) {
    case 0:
      return []
    case 2:
      return steps.filter((step) => step.state !== 'DELIVRD' && step.state !== 'ENROUTE')
    default:
      return steps
  }
}

export function receiptDelivery(facts: ReceiptFacts, step: ReceiptStep, nowMs: number): Delivery {
  const { source, destination } = facts
  const pdu: PduInput<'deliver_sm'> = {
    command: 'deliver_sm',
    source_addr_ton: destination.ton,
    source_addr_npi: destination.npi,
    source_addr: destination.address,
    dest_addr_ton: source.ton,
    dest_addr_npi: source.npi,
    destination_addr: source.address,
    esm_class: DELIVERY_RECEIPT,
    short_message: Buffer.from(receiptText(facts, step, nowMs), 'latin1'),
    tlvs: receiptTlvs(facts.messageId, step),
  }
  return { kind: 'receipt', pdu, attempts: 0, onSent: null, onAnswered: null }
}

/** Appendix B, with mccmnc before the text: whatever stands behind `text:` is the message's own words. */
export function receiptText(facts: ReceiptFacts, step: ReceiptStep, nowMs: number): string {
  const delivered = step.state === 'DELIVRD' ? '001' : '000'
  return (
    `id:${facts.messageId} sub:001 dlvrd:${delivered} submit date:${facts.submitDate} ` +
    `done date:${receiptDate(nowMs)} stat:${step.state} err:${step.err} mccmnc:${facts.mccmnc} text:${facts.excerpt}`
  )
}

let datedMinute = -1
let dated = ''

/** YYMMDDhhmm, in UTC. The last minute is remembered: thousands of receipts share it. */
export function receiptDate(epochMs: number): string {
  const minute = Math.floor(epochMs / 60_000)
  if (minute !== datedMinute) {
    datedMinute = minute
    dated = new Date(epochMs).toISOString().slice(2, 16).replace(/[-T:]/g, '')
  }
  return dated
}

/** network_error_code only when there is an error. */
function receiptTlvs(messageId: string, step: ReceiptStep): Tlvs {
  const tlvs = { receipted_message_id: messageId, message_state: RECEIPT_STATES[step.state].value }
  const code = Number(step.err)
  if (code === 0) return tlvs
  return { ...tlvs, network_error_code: Buffer.from([NETWORK_GSM, code >> 8, code & 0xff]) }
}

/** In printable ASCII, which every alphabet of a receipt has. */
function excerptOf(pdu: SubmitPdu): string {
  const octets = messageOctets(pdu)
  const content =
    (pdu.esm_class & UDHI) === 0
      ? octets
      : parseUserData({ esmClass: pdu.esm_class, shortMessage: octets, tlvs: {} }).payload
  return decodeInbound(content.subarray(0, 2 * EXCERPT_LENGTH), pdu.data_coding)
    .slice(0, EXCERPT_LENGTH)
    .replace(/[^\x20-\x7e]/g, '?')
}

/** One mobile network for each of some calling codes (ITU-T E.164), as mccmnc (ITU-T E.212). No code begins another. */
const NETWORKS: ReadonlyMap<string, string> = new Map([
  ['1', '310260'],
  ['7', '25001'],
  ['33', '20801'],
  ['34', '21401'],
  ['39', '22201'],
  ['44', '23415'],
  ['49', '26201'],
  ['52', '334020'],
  ['55', '72410'],
  ['61', '50501'],
  ['81', '44010'],
  ['91', '40410'],
])

/** E.212's own test network. */
const TEST_NETWORK = '00101'
const MAX_CODE_LENGTH = 2

/** The network of a destination as a PDU carries it: international digits, with or without a `+`. */
export function networkOf(destination: string): string {
  const start = destination.startsWith('+') ? 1 : 0
  for (let length = 1; length <= MAX_CODE_LENGTH; length += 1) {
    const network = NETWORKS.get(destination.slice(start, start + length))
    if (network !== undefined) return network
  }
  return TEST_NETWORK
}
