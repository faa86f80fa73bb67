import type { DeliveryCode, FailureCode } from '../error-codes.ts'
import type { Status } from '../messages/messages.ts'
import { ownCodeOf } from './submit-outcomes.ts'

/** What a receipt says of its segment. SENT: it is still on its way. */
export type ReceiptOutcome = Exclude<Status, 'QUEUED'>

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
