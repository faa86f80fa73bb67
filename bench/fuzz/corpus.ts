import { segmentText } from '../../src/domain/text/segments.ts'
import { inboundMessageFields } from '../../src/simulator/inbound-messages.ts'
import { COMMANDS_BY_NAME, type Command, type FieldSpec } from '../../src/smpp/commands.ts'
import { encodePdu } from '../../src/smpp/encoding.ts'
import type { PduInput } from '../../src/smpp/pdu.ts'
import { TLVS_BY_NAME, type Tlv, type Tlvs } from '../../src/smpp/tlvs.ts'
import { randomOctets, type SeededRandom } from '../seeded-random.ts'

/** The PDUs that the fuzzing starts from, as the encoder writes them: every command, and the messages that matter. */

const LONG_GSM = 'Sixteen words of {text} that do not fit one message, with [extension] characters. '.repeat(
  4,
)
const LONG_UCS2 = 'Ваш код підтвердження 482913 🙂 нікому його не кажіть. '.repeat(4)
const FROM = '+15551230002'
const TO = '12345'

/** All are well-formed, with sequence numbers from 1. Octets that are only content come from `random`. */
export function fuzzCorpus(random: SeededRandom): Buffer[] {
  const pdus = [...everyCommand(random), ...submits(), ...inbound(), ...receipts()]
  return pdus.map((pdu, index) => encodePdu({ ...pdu, sequence: index + 1 }))
}

function everyCommand(random: SeededRandom): PduInput[] {
  const pdus: PduInput[] = []
  for (const command of COMMANDS_BY_NAME.values()) {
    pdus.push({ command: command.name } as PduInput, filled(command, random))
    if (command.isResponse) pdus.push({ command: command.name, status: 0x58 } as PduInput)
  }
  return pdus
}

/** Every mandatory field at its longest, and every optional parameter if the command takes any. */
function filled(command: Command, random: SeededRandom): PduInput {
  const fields = Object.fromEntries(command.fields.map((field) => [field.name, fieldValue(field, random)]))
  const takesTlvs = command.fields.length > 0 && !command.fields.some(({ kind }) => kind === 'body')
  const tlvs: Tlvs = Object.fromEntries(
    [...TLVS_BY_NAME.values()].map((tlv) => [tlv.name, tlvValue(tlv, random)]),
  )
  const optional = takesTlvs ? { tlvs, unknownTlvs: new Map([[0x1403, randomOctets(random, 6)]]) } : {}
  return { command: command.name, ...fields, ...optional } as PduInput
}

function fieldValue({ kind, maxLength }: FieldSpec, random: SeededRandom): number | string | Buffer {
  if (kind === 'int8') return random.below(256)
  if (kind === 'cstring') return 'A1b2C3d4'.repeat(9).slice(0, maxLength - 1)
  return randomOctets(random, kind === 'body' ? 120 : maxLength)
}

function tlvValue({ kind, maxLength }: Tlv, random: SeededRandom): number | string | boolean | Buffer {
  if (kind === 'flag') return true
  if (kind === 'cstring') return 'A1b2C3d4'.repeat(8).slice(0, Math.min(maxLength - 1, 40))
  if (kind === 'octets') return randomOctets(random, Math.min(maxLength, 60))
  return random.below(2 ** (8 * maxLength))
}

function submits(): PduInput[] {
  return ['Your code is 482913', LONG_GSM, 'Код 482913', LONG_UCS2].flatMap((body) => {
    const { pdus, dataCoding } = segmentText(body, 7)
    return pdus.map(
      ({ esmClass, shortMessage }): PduInput => ({
        command: 'submit_sm',
        source_addr: 'Aldis',
        source_addr_ton: 5,
        dest_addr_ton: 1,
        dest_addr_npi: 1,
        destination_addr: FROM.slice(1),
        esm_class: esmClass,
        registered_delivery: 1,
        data_coding: dataCoding,
        short_message: shortMessage,
      }),
    )
  })
}

function inbound(): PduInput[] {
  const pdus: PduInput[] = []
  for (const body of ['STOP', LONG_GSM, LONG_UCS2, LONG_GSM.repeat(20)]) {
    for (const form of ['udh8', 'udh16', 'sar', 'payload'] as const) {
      // Of a very long message only the payload form: its parts look like the other parts.
      if (body.length > 2_000 && form !== 'payload') continue
      for (const fields of inboundMessageFields({ from: FROM, to: TO, body, form }, 201))
        pdus.push({ command: 'deliver_sm', ...fields })
    }
  }
  const [first] = inboundMessageFields({ from: FROM, to: TO, body: 'STOP', form: 'payload' }, 0)
  pdus.push({
    command: 'data_sm',
    source_addr: first!.source_addr!,
    destination_addr: TO,
    tlvs: first!.tlvs!,
  })
  return pdus
}

const RECEIPT_TEXT =
  'id:1234567890 sub:001 dlvrd:001 submit date:2611210345 done date:2611210346 stat:DELIVRD err:000 text:Your code'

function receipts(): PduInput[] {
  const common = {
    command: 'deliver_sm',
    esm_class: 4,
    source_addr: FROM.slice(1),
    destination_addr: 'Aldis',
  } as const
  const tlvs: Tlvs = {
    receipted_message_id: '1234567890',
    message_state: 2,
    network_error_code: Buffer.from([3, 0, 27]),
  }
  const utf16 = Buffer.from(RECEIPT_TEXT, 'utf16le').swap16()
  return [
    { ...common, short_message: Buffer.from(RECEIPT_TEXT) },
    { ...common, short_message: Buffer.from(RECEIPT_TEXT), tlvs },
    {
      ...common,
      short_message: Buffer.from(RECEIPT_TEXT.replace('DELIVRD', 'UNDELIV')),
      tlvs: { message_state: 5 },
    },
    { ...common, tlvs },
    { ...common, data_coding: 8, tlvs: { message_payload: utf16 } },
  ]
}
