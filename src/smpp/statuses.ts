/**
 * command_status values by name (SMPP 3.4 §5.1.3). A code outside the table is still a value: see `statusName`.
 */
export const STATUSES = {
  ESME_ROK: 0x00,
  ESME_RINVMSGLEN: 0x01,
  ESME_RINVCMDLEN: 0x02,
  ESME_RINVCMDID: 0x03,
  ESME_RINVBNDSTS: 0x04,
  ESME_RALYBND: 0x05,
  ESME_RINVPRTFLG: 0x06,
  ESME_RINVREGDLVFLG: 0x07,
  ESME_RSYSERR: 0x08,
  ESME_RINVSRCADR: 0x0a,
  ESME_RINVDSTADR: 0x0b,
  ESME_RINVMSGID: 0x0c,
  ESME_RBINDFAIL: 0x0d,
  ESME_RINVPASWD: 0x0e,
  ESME_RINVSYSID: 0x0f,
  ESME_RCANCELFAIL: 0x11,
  ESME_RREPLACEFAIL: 0x13,
  ESME_RMSGQFUL: 0x14,
  ESME_RINVSERTYP: 0x15,
  ESME_RINVNUMDESTS: 0x33,
  ESME_RINVDLNAME: 0x34,
  ESME_RINVDESTFLAG: 0x40,
  ESME_RINVSUBREP: 0x42,
  ESME_RINVESMCLASS: 0x43,
  ESME_RCNTSUBDL: 0x44,
  ESME_RSUBMITFAIL: 0x45,
  ESME_RINVSRCTON: 0x48,
  ESME_RINVSRCNPI: 0x49,
  ESME_RINVDSTTON: 0x50,
  ESME_RINVDSTNPI: 0x51,
  ESME_RINVSYSTYP: 0x53,
  ESME_RINVREPFLAG: 0x54,
  ESME_RINVNUMMSGS: 0x55,
  ESME_RTHROTTLED: 0x58,
  ESME_RINVSCHED: 0x61,
  ESME_RINVEXPIRY: 0x62,
  ESME_RINVDFTMSGID: 0x63,
  ESME_RX_T_APPN: 0x64,
  ESME_RX_P_APPN: 0x65,
  ESME_RX_R_APPN: 0x66,
  ESME_RQUERYFAIL: 0x67,
  ESME_RINVOPTPARSTREAM: 0xc0,
  ESME_ROPTPARNOTALLWD: 0xc1,
  ESME_RINVPARLEN: 0xc2,
  ESME_RMISSINGOPTPARAM: 0xc3,
  ESME_RINVOPTPARAMVAL: 0xc4,
  ESME_RDELIVERYFAILURE: 0xfe,
  ESME_RUNKNOWNERR: 0xff,
} as const

export type StatusName = keyof typeof STATUSES

/** What each status tells an operator (§5.1.3, in our words). */
const MEANINGS: Record<StatusName, string> = {
  ESME_ROK: 'no error',
  ESME_RINVMSGLEN: 'message length is invalid',
  ESME_RINVCMDLEN: 'command length is invalid',
  ESME_RINVCMDID: 'command id is invalid',
  ESME_RINVBNDSTS: 'command not allowed in this bind state',
  ESME_RALYBND: 'already bound',
  ESME_RINVPRTFLG: 'priority flag is invalid',
  ESME_RINVREGDLVFLG: 'registered delivery flag is invalid',
  ESME_RSYSERR: 'system error',
  ESME_RINVSRCADR: 'source address is invalid',
  ESME_RINVDSTADR: 'destination address is invalid',
  ESME_RINVMSGID: 'message id is invalid',
  ESME_RBINDFAIL: 'bind failed',
  ESME_RINVPASWD: 'password is invalid',
  ESME_RINVSYSID: 'system id is invalid',
  ESME_RCANCELFAIL: 'cancel failed',
  ESME_RREPLACEFAIL: 'replace failed',
  ESME_RMSGQFUL: 'message queue is full',
  ESME_RINVSERTYP: 'service type is invalid',
  ESME_RINVNUMDESTS: 'number of destinations is invalid',
  ESME_RINVDLNAME: 'distribution list name is invalid',
  ESME_RINVDESTFLAG: 'destination flag is invalid',
  ESME_RINVSUBREP: 'submit with replace is not supported',
  ESME_RINVESMCLASS: 'esm_class is invalid',
  ESME_RCNTSUBDL: 'cannot submit to a distribution list',
  ESME_RSUBMITFAIL: 'submit failed',
  ESME_RINVSRCTON: 'source type of number is invalid',
  ESME_RINVSRCNPI: 'source numbering plan is invalid',
  ESME_RINVDSTTON: 'destination type of number is invalid',
  ESME_RINVDSTNPI: 'destination numbering plan is invalid',
  ESME_RINVSYSTYP: 'system type is invalid',
  ESME_RINVREPFLAG: 'replace_if_present flag is invalid',
  ESME_RINVNUMMSGS: 'number of messages is invalid',
  ESME_RTHROTTLED: 'message rate exceeded',
  ESME_RINVSCHED: 'scheduled delivery time is invalid',
  ESME_RINVEXPIRY: 'validity period is invalid',
  ESME_RINVDFTMSGID: 'predefined message is invalid or not found',
  ESME_RX_T_APPN: 'receiver: temporary application error',
  ESME_RX_P_APPN: 'receiver: permanent application error',
  ESME_RX_R_APPN: 'receiver: message rejected',
  ESME_RQUERYFAIL: 'query failed',
  ESME_RINVOPTPARSTREAM: 'optional part of the PDU is invalid',
  ESME_ROPTPARNOTALLWD: 'optional parameter not allowed',
  ESME_RINVPARLEN: 'parameter length is invalid',
  ESME_RMISSINGOPTPARAM: 'expected optional parameter is missing',
  ESME_RINVOPTPARAMVAL: 'optional parameter value is invalid',
  ESME_RDELIVERYFAILURE: 'delivery failed',
  ESME_RUNKNOWNERR: 'unknown error',
}

const NAME_BY_CODE = new Map<number, StatusName>(
  (Object.keys(STATUSES) as StatusName[]).map((name) => [STATUSES[name], name]),
)

/** True in the range left to SMSC vendors (§5.1.3: 0x00000400-0x000004FF). */
export function isVendorStatus(status: number): boolean {
  return status >= 0x400 && status <= 0x4ff
}

/** `ESME_RTHROTTLED` for 0x58; the code in hexadecimal (`0x00000401`) for one that has no name. */
export function statusName(status: number): string {
  return NAME_BY_CODE.get(status) ?? `0x${status.toString(16).padStart(8, '0').toUpperCase()}`
}

/** One line for an operator; never empty, whatever the code. */
export function statusMeaning(status: number): string {
  const name = NAME_BY_CODE.get(status)
  if (name !== undefined) return MEANINGS[name]
  return isVendorStatus(status) ? 'defined by the SMSC vendor' : 'reserved'
}
