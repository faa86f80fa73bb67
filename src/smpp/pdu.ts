import type { COMMANDS, CommandName } from './commands.ts'
import type { Tlvs } from './tlvs.ts'

/**
 * PDUs as values (SMPP 3.4 §3.2, §4). A decoded PDU is a flat object: header, the mandatory fields under the names
 * of the specification, and the optional parameters:
 *
 *   { command: 'deliver_sm', commandId: 5, status: 0, sequence: 7,
 *     service_type: '', source_addr_ton: 1, ..., short_message: <Buffer>,
 *     tlvs: { message_state: 2 }, unknownTlvs: Map { 0x1403 => <Buffer> }, tlvsTruncated: false, overlong: null }
 *
 * `command` discriminates the union. Two more members stand for what is not a PDU of the table: `unknown` (a
 * command id outside it) and `malformed` (a known command whose body cannot be read). Nothing here throws on input
 * from the wire. Strings are latin1, one character per octet. Buffers are views of the received chunk, never
 * overwritten later; copy what is to be kept for long, a view keeps its whole chunk (up to 64 KiB) alive.
 *
 * `decodePdu` is in decoding.ts, `encodePdu` in encoding.ts.
 */

/** command_length, command_id, command_status, sequence_number (§3.2). */
export const HEADER_LENGTH = 16

type FieldsOf<C extends CommandName> = {
  [F in (typeof COMMANDS)[C]['fields'][number] as F['name']]: F['kind'] extends 'int8'
    ? number
    : F['kind'] extends 'cstring'
      ? string
      : Buffer
}

interface Header {
  readonly commandId: number
  /** command_status: 0 in requests. */
  readonly status: number
  /** sequence_number as received, 0..0xFFFFFFFF; a response repeats it. */
  readonly sequence: number
}

interface OptionalPart {
  readonly tlvs: Tlvs
  /** Tags outside the table, and known tags whose length does not fit their kind: raw octets by tag. */
  readonly unknownTlvs: ReadonlyMap<number, Buffer>
  /** The optional part ended inside a parameter; what came before it is kept. */
  readonly tlvsTruncated: boolean
  /** The first string, mandatory or optional, that is longer than SMPP 3.4 allows; null: none is. */
  readonly overlong: string | null
}

type Simplify<T> = { [K in keyof T]: T[K] }

export type PduOf<C extends CommandName> = {
  [N in C]: Simplify<Header & { readonly command: N } & Readonly<FieldsOf<N>> & OptionalPart>
}[C]

type ResponseName = Extract<CommandName, `${string}_resp`>
type BindName = 'bind_transmitter' | 'bind_receiver' | 'bind_transceiver'
type RequestName = Exclude<CommandName, ResponseName | 'generic_nack'>

export type KnownPdu = PduOf<CommandName>
export type RequestPdu = PduOf<RequestName>
export type BindPdu = PduOf<BindName>
export type BindRespPdu = PduOf<`${BindName}_resp`>

export interface UnknownPdu extends Header {
  readonly command: 'unknown'
  readonly body: Buffer
}

/** A known command whose body cannot be read. `answer` is the command_status that names the fault. */
export interface MalformedPdu extends Header {
  readonly command: 'malformed'
  /** Null when not even the header is complete. */
  readonly of: CommandName | null
  readonly fault: 'truncated' | 'unterminated' | 'too_long'
  readonly field: string
  readonly answer: number
}

/**
 * What answers a request: its own response, or a generic_nack, or a response whose body cannot be read. All three
 * have `status`; only the first has the response's fields.
 */
export type ResponsePdu = PduOf<ResponseName | 'generic_nack'> | MalformedPdu

export type Pdu = KnownPdu | UnknownPdu | MalformedPdu

/** A PDU to be written: any field left out is empty ('' or 0). */
export type PduInput<C extends CommandName = CommandName> = {
  [N in C]: {
    readonly command: N
    readonly status?: number
    readonly sequence?: number
    readonly tlvs?: Tlvs
    readonly unknownTlvs?: ReadonlyMap<number, Buffer>
  } & Readonly<Partial<FieldsOf<N>>>
}[C]

/** Requests an application may send; binding and unbinding belong to the session. */
export type RequestInput = PduInput<Exclude<RequestName, BindName | 'unbind' | 'outbind'>>

/** What goes into an ESME's bind request. */
export type BindInput = PduInput<BindName>

/** Fields and optional parameters of a response; which command it is follows from the request. */
export interface ResponseBody {
  readonly message_id?: string
  readonly system_id?: string
  readonly final_date?: string
  readonly message_state?: number
  readonly error_code?: number
  readonly tlvs?: Tlvs
}

/**
 * The octets of a message: `short_message`, or the `message_payload` parameter when sm_length is 0 (§5.3.2.32:
 * the two exclude each other; where a peer sends both, sm_length decides). User data header included, if any.
 */
export function messageOctets(pdu: PduOf<'submit_sm' | 'deliver_sm' | 'data_sm'>): Buffer {
  if (pdu.command !== 'data_sm' && pdu.short_message.length > 0) return pdu.short_message
  return pdu.tlvs.message_payload ?? EMPTY
}

const EMPTY = Buffer.alloc(0)
