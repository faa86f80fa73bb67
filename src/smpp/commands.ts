import { STATUSES } from './statuses.ts'

/**
 * The commands of SMPP 3.4 as data: ids (§5.1.2.1), mandatory fields in wire order (§4), and the states in which
 * each side may send them (§2.3, table 2-1). Codec and session are driven by this table.
 */

export type Role = 'esme' | 'smsc'
export type BoundState = 'BOUND_TX' | 'BOUND_RX' | 'BOUND_TRX'

export const BOUND_STATES = {
  bind_transmitter: 'BOUND_TX',
  bind_receiver: 'BOUND_RX',
  bind_transceiver: 'BOUND_TRX',
} as const

/**
 * `int8` one octet; `cstring` octets closed by NUL, `maxLength` counts the NUL; `short_message` one length octet
 * (sm_length) and that many octets; `body` everything that is left, uninterpreted.
 */
type FieldKind = 'int8' | 'cstring' | 'short_message' | 'body'

export interface FieldSpec {
  readonly name: string
  readonly kind: FieldKind
  /** Octets on the wire at most, NUL included. What we send keeps to it; an SMSC may exceed it (see decoding.ts). */
  readonly maxLength: number
  /** The command_status that answers a bad value. */
  readonly fault: number
}

interface CommandSpec {
  readonly id: number
  /** Null: this command has no response of its own (a response itself, outbind, alert_notification). */
  readonly response: string | null
  /** States in which the ESME, the SMSC may send it. OPEN commands are judged by the session itself. */
  readonly esme: readonly BoundState[]
  readonly smsc: readonly BoundState[]
  /** More states in which an ESME takes it from an SMSC: some send receipts over a transmitter session. */
  readonly tolerated?: readonly BoundState[]
  readonly fields: readonly FieldSpec[]
}

const int8 = <const N extends string>(name: N, fault: number = STATUSES.ESME_RINVCMDLEN) =>
  ({ name, kind: 'int8', maxLength: 1, fault }) as const
const cstring = <const N extends string>(
  name: N,
  maxLength: number,
  fault: number = STATUSES.ESME_RINVPARLEN,
) => ({ name, kind: 'cstring', maxLength, fault }) as const
// §5.2.21 ends at 254; 255 (legal since SMPP 5.0) is understood from a peer, never sent.
const shortMessage = {
  name: 'short_message',
  kind: 'short_message',
  maxLength: 254,
  fault: STATUSES.ESME_RINVMSGLEN,
} as const
const body = { name: 'body', kind: 'body', maxLength: 0xffff, fault: STATUSES.ESME_RINVCMDLEN } as const

const systemId = cstring('system_id', 16, STATUSES.ESME_RINVSYSID)
/** §5.2.2 has 9 octets. Many carriers issue longer passwords, and take them in a bind. */
const password = cstring('password', 65, STATUSES.ESME_RINVPASWD)
const messageId = cstring('message_id', 65, STATUSES.ESME_RINVMSGID)
const serviceType = cstring('service_type', 6, STATUSES.ESME_RINVSERTYP)
const schedule = cstring('schedule_delivery_time', 17, STATUSES.ESME_RINVSCHED)
const validity = cstring('validity_period', 17, STATUSES.ESME_RINVEXPIRY)
const source = (maxLength: number) =>
  [
    int8('source_addr_ton'),
    int8('source_addr_npi'),
    cstring('source_addr', maxLength, STATUSES.ESME_RINVSRCADR),
  ] as const
const destination = (maxLength: number) =>
  [
    int8('dest_addr_ton'),
    int8('dest_addr_npi'),
    cstring('destination_addr', maxLength, STATUSES.ESME_RINVDSTADR),
  ] as const

const BIND = [
  systemId,
  password,
  cstring('system_type', 13, STATUSES.ESME_RINVSYSTYP),
  int8('interface_version'),
  int8('addr_ton'),
  int8('addr_npi'),
  cstring('address_range', 41),
] as const

const SHORT_MESSAGE = [
  serviceType,
  ...source(21),
  ...destination(21),
  int8('esm_class'),
  int8('protocol_id'),
  int8('priority_flag'),
  schedule,
  validity,
  int8('registered_delivery'),
  int8('replace_if_present_flag'),
  int8('data_coding'),
  int8('sm_default_msg_id'),
  shortMessage,
] as const

const DATA = [
  serviceType,
  ...source(65),
  ...destination(65),
  int8('esm_class'),
  int8('registered_delivery'),
  int8('data_coding'),
] as const

const NEVER = [] as const
const ANY = ['BOUND_TX', 'BOUND_RX', 'BOUND_TRX'] as const
const SENDING = ['BOUND_TX', 'BOUND_TRX'] as const
const RECEIVING = ['BOUND_RX', 'BOUND_TRX'] as const
const TRANSMITTING = ['BOUND_TX'] as const

const response = <const F extends readonly FieldSpec[]>(id: number, fields: F) =>
  ({ id, response: null, esme: NEVER, smsc: NEVER, fields }) as const

export const COMMANDS = {
  generic_nack: response(0x80000000, []),
  bind_receiver: { id: 0x01, response: 'bind_receiver_resp', esme: NEVER, smsc: NEVER, fields: BIND },
  bind_receiver_resp: response(0x80000001, [systemId]),
  bind_transmitter: { id: 0x02, response: 'bind_transmitter_resp', esme: NEVER, smsc: NEVER, fields: BIND },
  bind_transmitter_resp: response(0x80000002, [systemId]),
  query_sm: {
    id: 0x03,
    response: 'query_sm_resp',
    esme: SENDING,
    smsc: NEVER,
    fields: [messageId, ...source(21)],
  },
  query_sm_resp: response(0x80000003, [
    messageId,
    cstring('final_date', 17),
    int8('message_state'),
    int8('error_code'),
  ]),
  submit_sm: { id: 0x04, response: 'submit_sm_resp', esme: SENDING, smsc: NEVER, fields: SHORT_MESSAGE },
  submit_sm_resp: response(0x80000004, [messageId]),
  deliver_sm: {
    id: 0x05,
    response: 'deliver_sm_resp',
    esme: NEVER,
    smsc: RECEIVING,
    tolerated: TRANSMITTING,
    fields: SHORT_MESSAGE,
  },
  deliver_sm_resp: response(0x80000005, [messageId]),
  unbind: { id: 0x06, response: 'unbind_resp', esme: ANY, smsc: ANY, fields: [] },
  unbind_resp: response(0x80000006, []),
  replace_sm: {
    id: 0x07,
    response: 'replace_sm_resp',
    esme: SENDING,
    smsc: NEVER,
    fields: [
      messageId,
      ...source(21),
      schedule,
      validity,
      int8('registered_delivery'),
      int8('sm_default_msg_id'),
      shortMessage,
    ],
  },
  replace_sm_resp: response(0x80000007, []),
  cancel_sm: {
    id: 0x08,
    response: 'cancel_sm_resp',
    esme: SENDING,
    smsc: NEVER,
    fields: [serviceType, messageId, ...source(21), ...destination(21)],
  },
  cancel_sm_resp: response(0x80000008, []),
  bind_transceiver: { id: 0x09, response: 'bind_transceiver_resp', esme: NEVER, smsc: NEVER, fields: BIND },
  bind_transceiver_resp: response(0x80000009, [systemId]),
  outbind: { id: 0x0b, response: null, esme: NEVER, smsc: NEVER, fields: [systemId, password] },
  enquire_link: { id: 0x15, response: 'enquire_link_resp', esme: ANY, smsc: ANY, fields: [] },
  enquire_link_resp: response(0x80000015, []),
  // Known by name; the destination list is not taken apart.
  submit_multi: { id: 0x21, response: 'submit_multi_resp', esme: SENDING, smsc: NEVER, fields: [body] },
  submit_multi_resp: response(0x80000021, [body]),
  alert_notification: {
    id: 0x102,
    response: null,
    esme: NEVER,
    smsc: RECEIVING,
    fields: [...source(65), int8('esme_addr_ton'), int8('esme_addr_npi'), cstring('esme_addr', 65)],
  },
  data_sm: {
    id: 0x103,
    response: 'data_sm_resp',
    esme: SENDING,
    smsc: RECEIVING,
    tolerated: TRANSMITTING,
    fields: DATA,
  },
  data_sm_resp: response(0x80000103, [messageId]),
} as const satisfies Record<string, CommandSpec>

export type CommandName = keyof typeof COMMANDS

export interface Command extends CommandSpec {
  readonly name: CommandName
  readonly isResponse: boolean
}

/** Responses carry the top bit of command_id (§5.1.2). */
export const RESPONSE_BIT = 0x80000000

const COMMAND_LIST: readonly Command[] = (Object.keys(COMMANDS) as CommandName[]).map((name) => ({
  ...COMMANDS[name],
  name,
  isResponse: COMMANDS[name].id >= RESPONSE_BIT,
}))

export const COMMANDS_BY_ID: ReadonlyMap<number, Command> = new Map(COMMAND_LIST.map((c) => [c.id, c]))
export const COMMANDS_BY_NAME: ReadonlyMap<string, Command> = new Map(COMMAND_LIST.map((c) => [c.name, c]))
