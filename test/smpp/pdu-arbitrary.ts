import fc from 'fast-check'
import { COMMANDS, COMMANDS_BY_NAME, type CommandName, type FieldSpec } from '../../src/smpp/commands.ts'
import type { PduInput } from '../../src/smpp/pdu.ts'
import { TLVS } from '../../src/smpp/tlvs.ts'

const octets = (maxLength: number) => fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes))
const latin1 = (maxLength: number) =>
  fc.array(fc.integer({ min: 1, max: 0xff }), { maxLength }).map((codes) => String.fromCharCode(...codes))
const uint32 = fc.integer({ min: 0, max: 0xffffffff })

function fieldValue(field: FieldSpec): fc.Arbitrary<unknown> {
  if (field.kind === 'int8') return fc.integer({ min: 0, max: 0xff })
  if (field.kind === 'cstring') return latin1(field.maxLength - 1)
  return octets(field.kind === 'body' ? 500 : field.maxLength)
}

function tlvValue(tlv: (typeof TLVS)[keyof typeof TLVS]): fc.Arbitrary<unknown> {
  if (tlv.kind === 'octets') return octets(Math.min(tlv.maxLength, 400))
  if (tlv.kind === 'cstring') return latin1(tlv.maxLength - 1)
  if (tlv.kind === 'flag') return fc.constant(true)
  return fc.integer({ min: 0, max: 2 ** (8 * tlv.maxLength) - 1 })
}

const tlvs = fc.record(Object.fromEntries(Object.entries(TLVS).map(([name, tlv]) => [name, tlvValue(tlv)])), {
  requiredKeys: [],
})

/** Vendor tags only: a known tag would be read as its parameter. */
const unknownTlvs = fc
  .array(fc.tuple(fc.integer({ min: 0x1400, max: 0x3fff }), octets(20)), { maxLength: 3 })
  .map((entries) => new Map(entries))

/** Any PDU of a command with every field given: what `decodePdu` must give back after `encodePdu`. */
export function anyPdu(name: CommandName): fc.Arbitrary<PduInput> {
  const fields = COMMANDS_BY_NAME.get(name)!.fields
  const takesTlvs = !fields.some((field) => field.kind === 'body')
  return fc.record({
    command: fc.constant(name),
    status: fc.oneof(fc.constant(0), uint32),
    sequence: uint32,
    ...Object.fromEntries(fields.map((field) => [field.name, fieldValue(field)])),
    tlvs: takesTlvs ? tlvs : fc.constant({}),
    unknownTlvs: takesTlvs ? unknownTlvs : fc.constant(new Map()),
  }) as unknown as fc.Arbitrary<PduInput>
}

export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[]

export const anyPduAtAll: fc.Arbitrary<PduInput> = fc.oneof(...COMMAND_NAMES.map(anyPdu))
