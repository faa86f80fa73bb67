import type { DeliveryCode, FailureCode } from '../error-codes.ts'

/**
 * What a carrier's statuses mean for a message: the command_status of a submit and the state of a receipt. When a refused
 * message is retried is in retries.ts; the names of the statuses are in smpp/statuses.ts.
 */

/**
 * What a command_status other than 0 (SMPP 3.4 §5.1.3) means for the message:
 * - throttled: slow down; never fails a message, no attempt consumed
 * - retry: try until validity is over
 * - limited-retry: three tries in all
 * - rebind: the link is at fault; bind again, no attempt consumed. After three binds for a message (`RebindCounts`), or in a
 *   session that was just bound anew and has taken a message (`CarrierLink.rebind`), as limited-retry
 * - permanent: not tried again. FAILED, or UNKNOWN when an earlier attempt is in doubt
 */
export const ERROR_OUTCOMES = ['throttled', 'retry', 'limited-retry', 'rebind', 'permanent'] as const
export type ErrorOutcome = (typeof ERROR_OUTCOMES)[number]
/** What a submit_sm_resp means; accepted: the carrier has the message. */
export type SubmitOutcome = 'accepted' | ErrorOutcome
/** What ends an attempt: the carrier has refused the message, for good or for now. */
export type RefusalOutcome = Exclude<ErrorOutcome, 'throttled' | 'rebind'>

/** What is counted of a submit_sm; `refused`: any status but ESME_ROK and those that mean throttled. */
export const SUBMIT_RESULTS = ['accepted', 'refused', 'throttled', 'noAnswer'] as const
export type SubmitResult = (typeof SUBMIT_RESULTS)[number]

/** What each command_status means for the message, and its error code; null: the code says no more than 200. */
const MEANINGS = new Map<number, readonly [outcome: ErrorOutcome, code: FailureCode | null]>([
  [0x01, ['permanent', '401']], // ESME_RINVMSGLEN
  [0x02, ['permanent', '203']], // ESME_RINVCMDLEN
  [0x03, ['permanent', '203']], // ESME_RINVCMDID
  [0x04, ['rebind', '102']], // ESME_RINVBNDSTS
  [0x05, ['rebind', '102']], // ESME_RALYBND
  [0x06, ['permanent', '203']], // ESME_RINVPRTFLG
  [0x07, ['permanent', '203']], // ESME_RINVREGDLVFLG
  [0x08, ['retry', '201']], // ESME_RSYSERR
  [0x0a, ['permanent', '400']], // ESME_RINVSRCADR
  [0x0b, ['permanent', '301']], // ESME_RINVDSTADR
  [0x0d, ['rebind', '102']], // ESME_RBINDFAIL
  [0x0e, ['rebind', '102']], // ESME_RINVPASWD
  [0x0f, ['rebind', '102']], // ESME_RINVSYSID
  [0x14, ['retry', '202']], // ESME_RMSGQFUL
  [0x15, ['permanent', '203']], // ESME_RINVSERTYP
  [0x33, ['permanent', '301']], // ESME_RINVNUMDESTS
  [0x40, ['permanent', '301']], // ESME_RINVDESTFLAG
  [0x43, ['permanent', '203']], // ESME_RINVESMCLASS
  [0x45, ['limited-retry', null]], // ESME_RSUBMITFAIL
  [0x48, ['permanent', '400']], // ESME_RINVSRCTON
  [0x49, ['permanent', '400']], // ESME_RINVSRCNPI
  [0x50, ['permanent', '301']], // ESME_RINVDSTTON
  [0x51, ['permanent', '301']], // ESME_RINVDSTNPI
  [0x53, ['rebind', '102']], // ESME_RINVSYSTYP
  [0x54, ['permanent', '203']], // ESME_RINVREPFLAG
  [0x58, ['throttled', '202']], // ESME_RTHROTTLED
  [0x61, ['permanent', '203']], // ESME_RINVSCHED
  [0x62, ['permanent', '203']], // ESME_RINVEXPIRY
  [0x64, ['retry', '201']], // ESME_RX_T_APPN
  [0xc0, ['permanent', '203']], // ESME_RINVOPTPARSTREAM
  [0xc1, ['permanent', '203']], // ESME_ROPTPARNOTALLWD
  [0xc2, ['permanent', '203']], // ESME_RINVPARLEN
  [0xc3, ['permanent', '203']], // ESME_RMISSINGOPTPARAM
  [0xc4, ['permanent', '203']], // ESME_RINVOPTPARAMVAL
  [0xfe, ['limited-retry', null]], // ESME_RDELIVERYFAILURE
  [0xff, ['limited-retry', null]], // ESME_RUNKNOWNERR
])

/** Reserved for SMSC vendors (SMPP 3.4 §5.1.3). */
const VENDOR_FIRST = 0x400
const VENDOR_LAST = 0x4ff

/** Classifies a command_status; a carrier's own table, when given, is asked first. */
export function submitOutcome(
  commandStatus: number,
  overrides?: ReadonlyMap<number, ErrorOutcome>,
): SubmitOutcome {
  if (commandStatus === 0) return 'accepted'
  const vendor = commandStatus >= VENDOR_FIRST && commandStatus <= VENDOR_LAST
  const known = overrides?.get(commandStatus) ?? MEANINGS.get(commandStatus)?.[0]
  return known ?? (vendor ? 'limited-retry' : 'permanent')
}

/** How an outcome is counted. */
export function submitResultOf(outcome: SubmitOutcome): SubmitResult {
  return outcome === 'accepted' || outcome === 'throttled' ? outcome : 'refused'
}

/** The error code of a submit_sm_resp: 0 (ESME_ROK) is success, and a status without a code of its own is 200. */
export function codeOfSubmitStatus(commandStatus: number): DeliveryCode {
  return commandStatus === 0 ? '000' : (ownCodeOf(commandStatus) ?? '200')
}

/** The error code that this status alone means; null if it has none. */
function ownCodeOf(commandStatus: number): FailureCode | null {
  return MEANINGS.get(commandStatus)?.[1] ?? null
}

/** The status that a receipt gives its segment. SENT: it is still on its way. */
export type ReceiptOutcome = 'SENT' | 'DELIVERED' | 'FAILED' | 'UNKNOWN'

/**
 * What a carrier says of a message: the words of SMPP 3.4 Appendix B, and SCHEDULED and SKIPPED of SMPP 5.0 §4.7.15.
 * `value` is the message_state (SMPP 3.4 §5.2.28), `outcome` the status that the message gets, `code` its error code.
 */
export const RECEIPT_STATES = {
  SCHEDULED: { value: 0, outcome: 'SENT', code: '000' },
  ENROUTE: { value: 1, outcome: 'SENT', code: '000' },
  DELIVRD: { value: 2, outcome: 'DELIVERED', code: '000' },
  EXPIRED: { value: 3, outcome: 'FAILED', code: '500' },
  DELETED: { value: 4, outcome: 'FAILED', code: '204' },
  UNDELIV: { value: 5, outcome: 'FAILED', code: '300' },
  ACCEPTD: { value: 6, outcome: 'SENT', code: '000' },
  UNKNOWN: { value: 7, outcome: 'UNKNOWN', code: '600' },
  REJECTD: { value: 8, outcome: 'FAILED', code: '200' },
  SKIPPED: { value: 9, outcome: 'FAILED', code: '205' },
} as const satisfies Record<string, { value: number; outcome: ReceiptOutcome; code: DeliveryCode }>

export type ReceiptState = keyof typeof RECEIPT_STATES

/** Network types of network_error_code (SMPP 3.4 §5.3.2.31, SMPP 5.0 §4.8.4.42). */
const NETWORK_GSM = 3
const NETWORK_SMPP = 7

/** MAP user errors (3GPP TS 29.002 §17.6.6) that a GSM network returns for a message it cannot deliver. */
const CODE_OF_MAP_ERROR = new Map<number, FailureCode>([
  [1, '302'], // unknownSubscriber
  [3, '306'], // unknownMSC
  [5, '302'], // unidentifiedSubscriber
  [6, '303'], // absentSubscriberSM
  [7, '304'], // unknownEquipment
  [8, '304'], // roamingNotAllowed
  [9, '304'], // illegalSubscriber
  [10, '305'], // bearerServiceNotProvisioned
  [11, '305'], // teleserviceNotProvisioned
  [12, '304'], // illegalEquipment
  [13, '304'], // callBarred
  [15, '304'], // cug-Reject
  [21, '305'], // facilityNotSupported
  [27, '303'], // absentSubscriber
  [28, '305'], // incompatibleTerminal
  [31, '303'], // subscriberBusyForMT-SMS
  [32, '305'], // sm-DeliveryFailure: memory full, protocol error
  [33, '303'], // messageWaitingListFull: many messages wait for an absent subscriber
  [34, '306'], // systemFailure
  [35, '306'], // dataMissing
  [36, '306'], // unexpectedDataValue
  [44, '302'], // numberChanged
  [51, '306'], // resourceLimitation
])

/**
 * The error code of a receipt. The state decides. For UNDELIV and REJECTD, network_error_code says more exactly why, if its
 * kind of network (`networkType`, see Receipt) has codes that mean the same everywhere: the MAP errors of GSM, and SMPP's
 * own. An `err:` in the text has a meaning of the carrier's own, so it is kept for the operator and never translated.
 */
export function codeOfReceipt(
  state: ReceiptState,
  rawCode: string | null,
  networkType: number | null = null,
): DeliveryCode {
  const { code } = RECEIPT_STATES[state]
  if ((state !== 'UNDELIV' && state !== 'REJECTD') || rawCode === null) return code
  if (networkType === NETWORK_GSM) return CODE_OF_MAP_ERROR.get(Number(rawCode)) ?? code
  return (networkType === NETWORK_SMPP ? ownCodeOf(Number(rawCode)) : null) ?? code
}
