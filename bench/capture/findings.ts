import { decodeInbound } from '../../src/domain/text/inbound-text.ts'
import { type Exchanged, MO_FORMS, MO_TEXTS, MT_TEXTS } from './exchange.ts'

/** Compares tshark's reading of a captured exchange with what was sent. */

export interface Finding {
  readonly what: string
  readonly found: string | number
  readonly expected: string | number
}

const PI_WARN = 0x00600000
/** Forms that are sent in parts, which tshark joins. */
const PART_FORMS = MO_FORMS.filter((form) => form !== 'payload')

export function findings(packets: readonly unknown[], exchanged: Exchanged): Finding[] {
  const numbers = (key: string) => valuesOf(packets, key).map(Number)
  const count = (commandId: number) => numbers('smpp.command_id').filter((id) => id === commandId).length
  const delivers = exchanged.receipts + exchanged.delivers
  const warnings = valuesOf(packets, '_ws.expert').filter(
    (expert) => Math.max(...valuesOf(expert, '_ws.expert.severity').map(Number)) >= PI_WARN,
  )
  const longTexts = [
    ...MT_TEXTS.slice(2)
      .filter(({ form }) => form !== 'payload')
      .map(({ text }) => text),
    ...MO_TEXTS.flatMap((text) => PART_FORMS.map(() => text)),
  ]
  return [
    { what: 'malformed PDUs', found: valuesOf(packets, '_ws.malformed').length, expected: 0 },
    { what: 'expert warnings and errors', found: warnings.length, expected: 0 },
    {
      what: 'sum of command_length, and of TCP payload',
      found: sum(numbers('smpp.command_length')),
      expected: sum(numbers('tcp.len')),
    },
    { what: 'submit_sm', found: count(0x04), expected: exchanged.submits },
    { what: 'submit_sm_resp', found: count(0x80000004), expected: exchanged.submits },
    { what: 'deliver_sm', found: count(0x05), expected: delivers },
    { what: 'deliver_sm_resp', found: count(0x80000005), expected: delivers },
    { what: 'bind_transceiver, enquire_link', found: count(0x09) + count(0x15), expected: 2 },
    { what: 'unbind, unbind_resp', found: count(0x06) + count(0x80000006), expected: 2 },
    {
      what: 'first GSM-7 text',
      found: decodeInbound(octets(valuesOf(packets, 'smpp.message')[0]), 0),
      expected: MT_TEXTS[0]!.text,
    },
    {
      what: 'messages put together from parts',
      found: reassembled(packets).sort().join(' | '),
      expected: [...longTexts].sort().join(' | '),
    },
    {
      what: 'UCS-2 texts, in order',
      found: valuesOf(packets, 'smpp.message_text')
        .join('')
        .replaceAll(/\uFFFD+/g, '?'),
      // tshark reads UCS-2 strictly: a surrogate pair is shown as replacement characters.
      expected: [
        ...MT_TEXTS.filter(({ text }) => /[а-я]/i.test(text)).map(({ text }) => text),
        MO_TEXTS[1].repeat(MO_FORMS.length),
      ]
        .join('')
        .replaceAll(/[\u{10000}-\u{10ffff}]/gu, '?'),
    },
    { what: 'texts that our own side read otherwise', found: exchanged.differing.join(' | '), expected: '' },
  ]
}

/** Texts of the messages that tshark joined, from their octets. */
function reassembled(packets: readonly unknown[]): string[] {
  return packets.flatMap((packet) => {
    const codings = valuesOf(packet, 'smpp.data_coding').map(Number)
    const lengths = valuesOf(packet, 'gsm_sms_ud.reassembled.length').map(Number)
    return lengths.map((length) => {
      const whole = valuesOf(packet, 'gsm_sms_ud.short_msg').map(octets)
      const content = whole.find((candidate) => candidate.length === length)
      // Decoded as the header says, in tshark's reading.
      const [single = null] = valuesOf(packet, 'gsm_sms.dis_iei_lang.single_shift').map(Number)
      return decodeInbound(content ?? Buffer.alloc(0), codings.at(-1) ?? 0, { locking: null, single })
    })
  })
}

function octets(hex: unknown): Buffer {
  return Buffer.from(String(hex).replaceAll(':', ''), 'hex')
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** Every value under a key anywhere below `node`, with lists flattened. */
function valuesOf(node: unknown, wanted: string): unknown[] {
  if (Array.isArray(node)) return node.flatMap((element) => valuesOf(element, wanted))
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) => {
    const here = key === wanted ? (Array.isArray(value) ? value : [value]) : []
    return [...here, ...valuesOf(value, wanted)]
  })
}
