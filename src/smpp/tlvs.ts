/**
 * Optional parameters of SMPP 3.4 (§5.3.2) as data. Tags outside the table, those of the vendor range
 * 0x1400-0x3FFF among them, travel as raw octets by number.
 */

/** `flag`: present or not, no value octets. `cstring`: NUL added when written, optional when read. */
type TlvKind = 'int8' | 'int16' | 'int32' | 'cstring' | 'octets' | 'flag'

interface TlvSpec {
  readonly tag: number
  readonly kind: TlvKind
  /** Value octets at most, NUL included. */
  readonly maxLength: number
}

const int8 = (tag: number) => ({ tag, kind: 'int8', maxLength: 1 }) as const
const int16 = (tag: number) => ({ tag, kind: 'int16', maxLength: 2 }) as const
const int32 = (tag: number) => ({ tag, kind: 'int32', maxLength: 4 }) as const
const cstring = (tag: number, maxLength: number) => ({ tag, kind: 'cstring', maxLength }) as const
const octets = (tag: number, maxLength: number) => ({ tag, kind: 'octets', maxLength }) as const
const flag = (tag: number) => ({ tag, kind: 'flag', maxLength: 0 }) as const

export const TLVS = {
  dest_addr_subunit: int8(0x0005),
  dest_network_type: int8(0x0006),
  dest_bearer_type: int8(0x0007),
  dest_telematics_id: int16(0x0008),
  source_addr_subunit: int8(0x000d),
  source_network_type: int8(0x000e),
  source_bearer_type: int8(0x000f),
  source_telematics_id: int8(0x0010),
  qos_time_to_live: int32(0x0017),
  payload_type: int8(0x0019),
  additional_status_info_text: cstring(0x001d, 256),
  receipted_message_id: cstring(0x001e, 65),
  ms_msg_wait_facilities: int8(0x0030),
  privacy_indicator: int8(0x0201),
  source_subaddress: octets(0x0202, 23),
  dest_subaddress: octets(0x0203, 23),
  user_message_reference: int16(0x0204),
  user_response_code: int8(0x0205),
  source_port: int16(0x020a),
  destination_port: int16(0x020b),
  sar_msg_ref_num: int16(0x020c),
  language_indicator: int8(0x020d),
  sar_total_segments: int8(0x020e),
  sar_segment_seqnum: int8(0x020f),
  sc_interface_version: int8(0x0210),
  callback_num_pres_ind: int8(0x0302),
  callback_num_atag: octets(0x0303, 65),
  number_of_messages: int8(0x0304),
  callback_num: octets(0x0381, 19),
  dpf_result: int8(0x0420),
  set_dpf: int8(0x0421),
  ms_availability_status: int8(0x0422),
  network_error_code: octets(0x0423, 3),
  message_payload: octets(0x0424, 0xffff),
  delivery_failure_reason: int8(0x0425),
  more_messages_to_send: int8(0x0426),
  message_state: int8(0x0427),
  ussd_service_op: int8(0x0501),
  display_time: int8(0x1201),
  sms_signal: int16(0x1203),
  ms_validity: int8(0x1204),
  alert_on_message_delivery: flag(0x130c),
  its_reply_type: int8(0x1380),
  its_session_info: octets(0x1383, 2),
} as const satisfies Record<string, TlvSpec>

type TlvName = keyof typeof TLVS

type TlvValue<K extends TlvKind> = K extends 'octets'
  ? Buffer
  : K extends 'cstring'
    ? string
    : K extends 'flag'
      ? true
      : number

/** The known optional parameters of one PDU, by name. */
export type Tlvs = { readonly [N in TlvName]?: TlvValue<(typeof TLVS)[N]['kind']> }

export interface Tlv extends TlvSpec {
  readonly name: TlvName
}

const TLV_LIST: readonly Tlv[] = (Object.keys(TLVS) as TlvName[]).map((name) => ({ ...TLVS[name], name }))

export const TLVS_BY_TAG: ReadonlyMap<number, Tlv> = new Map(TLV_LIST.map((tlv) => [tlv.tag, tlv]))
export const TLVS_BY_NAME: ReadonlyMap<string, Tlv> = new Map(TLV_LIST.map((tlv) => [tlv.name, tlv]))
