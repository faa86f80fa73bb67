import { COMMANDS_BY_ID, COMMANDS_BY_NAME, type Command, type FieldSpec, RESPONSE_BIT } from './commands.ts'
import { HEADER_LENGTH, type KnownPdu, type MalformedPdu, type Pdu, type UnknownPdu } from './pdu.ts'
import { STATUSES } from './statuses.ts'
import { TLVS_BY_TAG, type Tlv } from './tlvs.ts'

const EMPTY = Buffer.alloc(0)
const NO_TLVS = Object.freeze({})
const NO_UNKNOWN_TLVS: ReadonlyMap<number, Buffer> = new Map()

type Draft = Record<string, unknown>

/**
 * One empty PDU per command. Copying it keeps the key order, so PDUs of a command share their hidden class. It is stored
 * as a copy, because an object built with many computed keys is a slow dictionary in V8, but its copy is not (8 times
 * faster).
 */
const TEMPLATES = new Map<Command, Draft>()
for (const command of COMMANDS_BY_NAME.values()) {
  const draft: Draft = { command: command.name, commandId: command.id, status: 0, sequence: 0 }
  for (const field of command.fields) draft[field.name] = emptyValue(field)
  draft.tlvs = NO_TLVS
  draft.unknownTlvs = NO_UNKNOWN_TLVS
  draft.tlvsTruncated = false
  draft.overlong = null
  TEMPLATES.set(command, { ...draft })
}

/**
 * Reads one PDU from `buffer[start, end)`, the frame the framer cut. Never throws: see pdu.ts for `unknown` and
 * `malformed`.
 *
 * A string may exceed its length if its NUL is within the PDU. `overlong` names the first string that does, and the
 * session decides. Otherwise requests are read strictly. Responses are read leniently, since nobody can be told of
 * their faults and a refused submit_sm_resp would make a sent message ambiguous: the body may be missing with any
 * status (§4.4.2), and a string may lack its NUL.
 */
export function decodePdu(buffer: Buffer, start = 0, end = buffer.length): Pdu {
  if (end - start < HEADER_LENGTH) return incompleteHeader()
  const commandId = buffer.readUInt32BE(start + 4)
  const status = buffer.readUInt32BE(start + 8)
  const sequence = buffer.readUInt32BE(start + 12)
  const command = COMMANDS_BY_ID.get(commandId)
  let offset = start + HEADER_LENGTH
  if (command === undefined) {
    return {
      command: 'unknown',
      commandId,
      status,
      sequence,
      body: buffer.subarray(offset, end),
    } satisfies UnknownPdu
  }
  const pdu: Draft = { ...TEMPLATES.get(command) }
  pdu.status = status
  pdu.sequence = sequence
  if (offset === end && command.isResponse) return pdu as unknown as Pdu

  const malformed = (fault: MalformedPdu['fault'], field: FieldSpec): MalformedPdu => {
    const answer = fault === 'truncated' ? STATUSES.ESME_RINVCMDLEN : field.fault
    return {
      command: 'malformed',
      of: command.name,
      commandId,
      status,
      sequence,
      fault,
      field: field.name,
      answer,
    }
  }
  for (const field of command.fields) {
    if (offset >= end && field.kind !== 'body') return malformed('truncated', field)
    switch (field.kind) {
      case 'int8':
        pdu[field.name] = buffer[offset++]
        break
      case 'cstring': {
        let nul = offset
        while (nul < end && buffer[nul] !== 0) nul++
        if (nul === end && !command.isResponse) return malformed('unterminated', field)
        if (nul - offset >= field.maxLength) pdu.overlong ??= field.name
        if (nul > offset) pdu[field.name] = buffer.toString('latin1', offset, nul)
        offset = Math.min(nul + 1, end)
        break
      }
      case 'short_message': {
        const stop = offset + 1 + buffer[offset]!
        if (stop > end) return malformed('too_long', field)
        pdu[field.name] = buffer.subarray(offset + 1, stop)
        offset = stop
        break
      }
      case 'body':
        pdu[field.name] = buffer.subarray(offset, end)
        offset = end
    }
  }
  if (offset < end) readTlvs(pdu, buffer, offset, end)
  return pdu as unknown as Pdu
}

/** The command_status for an overlong mandatory string of a request; null when there is none. */
export function overlongRefusal({ command, commandId, overlong }: KnownPdu): number | null {
  if (overlong === null || commandId >= RESPONSE_BIT) return null
  return COMMANDS_BY_NAME.get(command)!.fields.find(({ name }) => name === overlong)?.fault ?? null
}

/** §3.2.4.1: tag, length, value, until the end. A tag given twice keeps its first value. */
function readTlvs(pdu: Draft, buffer: Buffer, start: number, end: number): void {
  const known: Draft = {}
  const unknown = new Map<number, Buffer>()
  let offset = start
  while (offset < end) {
    const stop = end - offset < 4 ? end + 1 : offset + 4 + buffer.readUInt16BE(offset + 2)
    if (stop > end) {
      pdu.tlvsTruncated = true
      break
    }
    const tag = buffer.readUInt16BE(offset)
    const tlv = TLVS_BY_TAG.get(tag)
    if (!unknown.has(tag) && (tlv === undefined || known[tlv.name] === undefined)) {
      const value = tlv === undefined ? undefined : tlvValue(tlv, buffer, offset + 4, stop)
      if (tlv !== undefined && value !== undefined) {
        known[tlv.name] = value
        if (typeof value === 'string' && value.length >= tlv.maxLength) pdu.overlong ??= tlv.name
      } else {
        unknown.set(tag, buffer.subarray(offset + 4, stop))
      }
    }
    offset = stop
  }
  pdu.tlvs = known
  if (unknown.size > 0) pdu.unknownTlvs = unknown
}

/** Integers of any kind are accepted in 1 to 4 octets, because peers differ. Undefined: the length cannot be right. */
function tlvValue(tlv: Tlv, buffer: Buffer, start: number, end: number): unknown {
  switch (tlv.kind) {
    case 'octets':
      return buffer.subarray(start, end)
    case 'flag':
      return true
    case 'cstring': {
      let nul = start
      while (nul < end && buffer[nul] !== 0) nul++
      return buffer.toString('latin1', start, nul)
    }
    default: {
      const length = end - start
      return length >= 1 && length <= 4 ? buffer.readUIntBE(start, length) : undefined
    }
  }
}

function emptyValue(field: FieldSpec): unknown {
  if (field.kind === 'int8') return 0
  return field.kind === 'cstring' ? '' : EMPTY
}

function incompleteHeader(): MalformedPdu {
  return {
    command: 'malformed',
    of: null,
    commandId: 0,
    status: 0,
    sequence: 0,
    fault: 'truncated',
    field: 'header',
    answer: STATUSES.ESME_RINVCMDLEN,
  }
}
