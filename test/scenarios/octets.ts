/** Octets that a well-behaved carrier would not write. */
import { encodePdu } from '../../src/smpp/encoding.ts'
import type { DeliverFields } from '../support/smsc.ts'

/** A PDU of these octets, whose command_length may lie. */
export function frame(
  commandId: number,
  body: Buffer = Buffer.alloc(0),
  { length = 16 + body.length, status = 0, sequence = 0 } = {},
): Buffer {
  const header = Buffer.alloc(16)
  for (const [index, value] of [length, commandId, status, sequence].entries())
    header.writeUInt32BE(value, 4 * index)
  return Buffer.concat([header, body])
}

/** A deliver_sm with octets behind it, or changed by `spoil`; command_length is set to what it has become. */
export function spoiltDeliver(fields: DeliverFields, spoil: (octets: Buffer) => Buffer): Buffer {
  const spoilt = spoil(encodePdu({ command: 'deliver_sm', ...fields }))
  spoilt.writeUInt32BE(spoilt.length, 0)
  return spoilt
}

/** One TLV as octets; `length` may lie. */
export function tlv(tag: number, value: Buffer, length: number = value.length): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt16BE(tag, 0)
  head.writeUInt16BE(length, 2)
  return Buffer.concat([head, value])
}
