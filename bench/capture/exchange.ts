import type { LongMessages } from '../../src/domain/configuration/configuration.ts'
import { parseUserData } from '../../src/domain/text/concatenation.ts'
import { decodeInboundParts } from '../../src/domain/text/inbound-text.ts'
import { segmentText } from '../../src/domain/text/segments.ts'
import type { InboundForm } from '../../src/simulator/inbound-messages.ts'
import type { Simulator } from '../../src/simulator/simulator.ts'
import { type Connection, connect } from '../../src/smpp/connection.ts'
import { messageOctets, type RequestPdu } from '../../src/smpp/pdu.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'

/** A short session of our ESME with the simulator that shows each form of message once. */

const GSM = 'Your code is 482913: {do not} share it, it costs 1 €.'
const UCS2 = 'Ваш код 482913 🙂'
/** Single shift table 1: no other table has ş, ğ and ı. */
const TURKISH = 'Şifreniz 482913, kimseyle paylaşmayın: ağır ceza.'
const LONG_FORMS: readonly LongMessages[] = ['udh', 'udh16', 'sar', 'payload']

export interface MtText {
  readonly text: string
  readonly form: LongMessages
  /** National language identifiers it may be sent with. */
  readonly nationalLanguages: readonly number[]
}

export const MT_TEXTS: readonly MtText[] = [
  { text: GSM, form: 'udh', nationalLanguages: [] },
  { text: UCS2, form: 'udh', nationalLanguages: [] },
  ...LONG_FORMS.flatMap((form) => [
    { text: `${GSM} `.repeat(8).trim(), form, nationalLanguages: [] },
    { text: `${UCS2} `.repeat(10).trim(), form, nationalLanguages: [] },
    { text: `${TURKISH} `.repeat(8).trim(), form, nationalLanguages: [1] },
  ]),
]
export const MO_TEXTS = [GSM.repeat(4), UCS2.repeat(6)] as const
export const MO_FORMS: readonly InboundForm[] = ['udh8', 'udh16', 'sar', 'payload']

const WAIT_MS = 10_000

export interface Exchanged {
  readonly submits: number
  readonly receipts: number
  /** Parts of inbound messages. */
  readonly delivers: number
  /** Texts that, by our own reading, did not arrive as they were sent. */
  readonly differing: readonly string[]
}

/** @throws (rejects) Error when something is refused or missing after 10 s. */
export async function exchange(simulator: Simulator): Promise<Exchanged> {
  const received: RequestPdu[] = []
  const link = connect<number>(
    {
      host: '127.0.0.1',
      port: simulator.port,
      windowSize: 20,
      bind: { command: 'bind_transceiver', system_id: 'aldis', password: 'secret' },
    },
    {
      onRequest(pdu, connection) {
        received.push(pdu)
        connection.respond(pdu, STATUSES.ESME_ROK)
      },
    },
  )
  await link.whenBound()
  const submits = await submitAll(link)
  const receipts = () => received.filter((pdu) => pdu.command === 'deliver_sm' && pdu.esm_class & 0x04).length
  await until(() => receipts() === submits, 'receipts')
  const differing: string[] = []
  for (const body of MO_TEXTS) {
    for (const form of MO_FORMS) {
      const before = received.length
      await simulator.sendInbound({ from: '+15551230002', to: '12345', body, form })
      if (joined(received.slice(before)) !== body) differing.push(`${form}: ${body}`)
    }
  }
  await link.request({ command: 'enquire_link' })
  const delivers = received.length - submits
  await link.unbind()
  return { submits, receipts: submits, delivers, differing }
}

async function submitAll(link: Connection<number>): Promise<number> {
  let submits = 0
  for (const [index, { text, form, nationalLanguages }] of MT_TEXTS.entries()) {
    const settings = { smartEncoding: false, nationalLanguages }
    const { pdus, dataCoding } = segmentText(text, 100 + index, { settings, form })
    for (const { esmClass, shortMessage, tlvs } of pdus) {
      const { status } = await link.request({
        command: 'submit_sm',
        source_addr_ton: 5,
        source_addr: 'Aldis',
        dest_addr_ton: 1,
        dest_addr_npi: 1,
        destination_addr: '15551230002',
        esm_class: esmClass,
        registered_delivery: 1,
        data_coding: dataCoding,
        short_message: shortMessage,
        tlvs,
      })
      if (status !== STATUSES.ESME_ROK) throw new Error(`A submit_sm was refused: ${status}`)
      submits += 1
    }
  }
  return submits
}

function joined(pdus: readonly RequestPdu[]): string {
  return decodeInboundParts(
    pdus.flatMap((pdu) => {
      if (pdu.command !== 'deliver_sm') return []
      const { payload, part } = parseUserData({
        esmClass: pdu.esm_class,
        shortMessage: pdu.short_message,
        tlvs: { ...pdu.tlvs, message_payload: messageOctets(pdu) },
      })
      return [{ sequence: part?.sequence ?? 1, payload, dataCoding: pdu.data_coding }]
    }),
  )
}

/** Polls every 20 ms. @throws (rejects) Error when `condition` does not hold within 10 s. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadlineMs = performance.now() + WAIT_MS
  while (!condition()) {
    if (performance.now() > deadlineMs) throw new Error(`${what}: not after ${WAIT_MS / 1_000} s`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
