import { COMMANDS_BY_NAME, type Command, type FieldSpec } from './commands.ts'
import { HEADER_LENGTH, type PduInput } from './pdu.ts'
import { TLVS_BY_NAME, type Tlv, type Tlvs } from './tlvs.ts'

type Values = Record<string, unknown>

/** Most octets of the header and mandatory fields of each command, without short_message and body. */
const MANDATORY_LENGTHS = new Map<Command, number>()
for (const command of COMMANDS_BY_NAME.values()) {
  let length = HEADER_LENGTH
  for (const field of command.fields) length += field.kind === 'body' ? 0 : field.maxLength + 1
  MANDATORY_LENGTHS.set(command, length)
}

/**
 * Encodes one PDU into its own Buffer.
 *
 * A response with an error status and no fields is its header alone (§4.4.2).
 * @throws RangeError naming the field: a string or message too long for it, a character above U+00FF or NUL in a string,
 * an integer out of its range. Nothing is cut silently.
 */
export function encodePdu(pdu: PduInput): Buffer {
  const buffer = Buffer.allocUnsafe(encodedLengthBound(pdu))
  return buffer.subarray(0, writePdu(buffer, 0, pdu, pdu.sequence ?? 0, pdu.status ?? 0))
}

/** No encoding of this PDU is longer than this, in octets. Cheap: strings are not measured. */
export function encodedLengthBound(pdu: PduInput): number {
  const command = commandOf(pdu)
  let length = MANDATORY_LENGTHS.get(command)!
  if ('body' in pdu && pdu.body !== undefined) length += pdu.body.length
  if (pdu.tlvs !== undefined) {
    for (const name in pdu.tlvs) {
      const value = pdu.tlvs[name as keyof Tlvs]
      length += 9 + (typeof value === 'object' || typeof value === 'string' ? value.length : 0)
    }
  }
  if (pdu.unknownTlvs !== undefined) {
    for (const value of pdu.unknownTlvs.values()) length += 4 + value.length
  }
  return length
}

/**
 * Writes one PDU at `start` and returns the offset after it. `buffer` must have `encodedLengthBound(pdu)` octets
 * left. After a RangeError the octets from `start` on are undefined.
 */
export function writePdu(
  buffer: Buffer,
  start: number,
  pdu: PduInput,
  sequence: number,
  status: number,
): number {
  const command = commandOf(pdu)
  let offset = start + HEADER_LENGTH
  if (status === 0 || !command.isResponse || hasContent(command, pdu)) {
    offset = writeFields(buffer, offset, command.fields, pdu as unknown as Values)
    if (pdu.tlvs !== undefined) offset = writeTlvs(buffer, offset, pdu.tlvs)
    if (pdu.unknownTlvs !== undefined) {
      for (const [tag, value] of pdu.unknownTlvs)
        offset = writeOctetsTlv(buffer, offset, tag, value, `0x${tag.toString(16)}`)
    }
  }
  buffer.writeUInt32BE(offset - start, start)
  buffer.writeUInt32BE(command.id, start + 4)
  buffer.writeUInt32BE(status, start + 8)
  buffer.writeUInt32BE(sequence, start + 12)
  return offset
}

function writeFields(buffer: Buffer, start: number, fields: readonly FieldSpec[], values: Values): number {
  let offset = start
  for (const field of fields) {
    const value = values[field.name]
    switch (field.kind) {
      case 'int8':
        buffer[offset++] = value === undefined ? 0 : integer(value as number, 0xff, field.name)
        break
      case 'cstring':
        offset = value === undefined ? offset : writeText(buffer, offset, value as string, field)
        buffer[offset++] = 0
        break
      case 'short_message': {
        const octets = value as Buffer | undefined
        const length = octets?.length ?? 0
        if (length > field.maxLength) throw tooLong(field.name, length, field.maxLength)
        buffer[offset++] = length
        if (octets !== undefined) offset += octets.copy(buffer, offset)
        break
      }
      case 'body':
        if (value !== undefined) offset += (value as Buffer).copy(buffer, offset)
    }
  }
  return offset
}

/** The octets of a C-octet string without its NUL. */
function writeText(
  buffer: Buffer,
  start: number,
  text: string,
  spec: { readonly name: string; readonly maxLength: number },
): number {
  const length = text.length
  if (length >= spec.maxLength) throw tooLong(spec.name, length, spec.maxLength - 1)
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0 || code > 0xff) throw new RangeError(`${spec.name}: character ${i} is not a latin1 octet`)
    buffer[start + i] = code
  }
  return start + length
}

function writeTlvs(buffer: Buffer, start: number, tlvs: Tlvs): number {
  let offset = start
  for (const name in tlvs) {
    const tlv = TLVS_BY_NAME.get(name)
    if (tlv === undefined) throw new RangeError(`${name}: not an optional parameter of SMPP 3.4`)
    const value = tlvs[name as keyof Tlvs]
    if (value !== undefined) offset = writeTlv(buffer, offset, tlv, value)
  }
  return offset
}

function writeTlv(buffer: Buffer, start: number, tlv: Tlv, value: NonNullable<Tlvs[keyof Tlvs]>): number {
  if (tlv.kind === 'octets') {
    const octets = value as Buffer
    if (octets.length > tlv.maxLength) throw tooLong(tlv.name, octets.length, tlv.maxLength)
    return writeOctetsTlv(buffer, start, tlv.tag, octets, tlv.name)
  }
  let offset = start + 4
  if (tlv.kind === 'cstring') {
    offset = writeText(buffer, offset, value as string, tlv)
    buffer[offset++] = 0
  } else if (tlv.kind !== 'flag') {
    const number = integer(value as number, 2 ** (8 * tlv.maxLength) - 1, tlv.name)
    offset = buffer.writeUIntBE(number, offset, tlv.maxLength)
  }
  buffer.writeUInt16BE(tlv.tag, start)
  buffer.writeUInt16BE(offset - start - 4, start + 2)
  return offset
}

function writeOctetsTlv(buffer: Buffer, start: number, tag: number, value: Buffer, name: string): number {
  if (value.length > 0xffff) throw tooLong(name, value.length, 0xffff)
  buffer.writeUInt16BE(integer(tag, 0xffff, 'tag'), start)
  buffer.writeUInt16BE(value.length, start + 2)
  return start + 4 + value.copy(buffer, start + 4)
}

function hasContent(command: Command, pdu: PduInput): boolean {
  const values = pdu as unknown as Values
  for (const field of command.fields) {
    const value = values[field.name]
    if (
      typeof value === 'number' ? value !== 0 : value !== undefined && (value as string | Buffer).length > 0
    ) {
      return true
    }
  }
  for (const _name in pdu.tlvs) return true
  return (pdu.unknownTlvs?.size ?? 0) > 0
}

function commandOf(pdu: PduInput): Command {
  const command = COMMANDS_BY_NAME.get(pdu.command)
  if (command === undefined) throw new RangeError(`command: ${pdu.command} is not a command of SMPP 3.4`)
  return command
}

function integer(value: number, max: number, name: string): number {
  if (!Number.isInteger(value) || value < 0 || value > max) {
    throw new RangeError(`${name}: ${value} is not an integer from 0 to ${max}`)
  }
  return value
}

function tooLong(name: string, length: number, limit: number): RangeError {
  return new RangeError(`${name}: ${length} octets, the limit is ${limit}`)
}
