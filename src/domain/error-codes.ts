/** Failure codes of delivery records (errorCode, errorMessage): the closed list, explained in docs/error-codes.md. */

import type { CarrierState } from './receipts.ts'

/**
 * Families: 1xx this service and its links, 2xx the carrier, 3xx the recipient, 4xx sender and content, 5xx time,
 * 6xx nothing reliable known. 000 is success. A code once published keeps its meaning.
 */
export const FAILURES = {
  '100': 'Message could not be queued',
  '101': 'No route to the destination',
  '102': 'Carrier did not accept our session',
  '103': 'Submission outcome unknown and not repeated',
  '200': 'Rejected by the carrier',
  '201': 'Carrier system error',
  '202': 'Carrier at capacity',
  '203': 'Message refused as invalid by the carrier',
  '204': 'Deleted by the carrier',
  '205': 'Skipped by the carrier',
  '300': 'Not delivered to the handset',
  '301': 'Invalid destination number',
  '302': 'Unknown subscriber',
  '303': 'Subscriber absent or handset off',
  '304': 'Subscriber barred from receiving messages',
  '305': 'Handset does not support or accept the message',
  '306': 'Recipient network error',
  '307': 'Recipient has opted out',
  '400': 'Sender not accepted by the carrier',
  '401': 'Message too long for the carrier',
  '500': 'Expired before delivery to the handset',
  '501': 'Expired before the carrier accepted it',
  '600': 'Delivery status unknown to the carrier',
  '601': 'No delivery receipt in time',
} as const satisfies Record<string, string>

export type FailureCode = keyof typeof FAILURES
type DeliveryCode = '000' | FailureCode

/** Status texts under errorCode 000. */
export const SUCCESSES = {
  QUEUED: 'Message accepted and queued',
  SENT: 'Message sent to the carrier',
  DELIVERED: 'Message delivered to the handset',
} as const

/** command_status of submit_sm_resp (SMPP 3.4 §5.1.3) -> code; one that is not here is 200. */
const CODE_OF_SUBMIT_STATUS = new Map<number, FailureCode>([
  [0x01, '401'], // ESME_RINVMSGLEN
  [0x02, '203'], // ESME_RINVCMDLEN
  [0x03, '203'], // ESME_RINVCMDID
  [0x04, '102'], // ESME_RINVBNDSTS
  [0x05, '102'], // ESME_RALYBND
  [0x06, '203'], // ESME_RINVPRTFLG
  [0x07, '203'], // ESME_RINVREGDLVFLG
  [0x08, '201'], // ESME_RSYSERR
  [0x0a, '400'], // ESME_RINVSRCADR
  [0x0b, '301'], // ESME_RINVDSTADR
  [0x0d, '102'], // ESME_RBINDFAIL
  [0x0e, '102'], // ESME_RINVPASWD
  [0x0f, '102'], // ESME_RINVSYSID
  [0x14, '202'], // ESME_RMSGQFUL
  [0x15, '203'], // ESME_RINVSERTYP
  [0x33, '301'], // ESME_RINVNUMDESTS
  [0x40, '301'], // ESME_RINVDESTFLAG
  [0x43, '203'], // ESME_RINVESMCLASS
  [0x48, '400'], // ESME_RINVSRCTON
  [0x49, '400'], // ESME_RINVSRCNPI
  [0x50, '301'], // ESME_RINVDSTTON
  [0x51, '301'], // ESME_RINVDSTNPI
  [0x53, '102'], // ESME_RINVSYSTYP
  [0x54, '203'], // ESME_RINVREPFLAG
  [0x58, '202'], // ESME_RTHROTTLED
  [0x61, '203'], // ESME_RINVSCHED
  [0x62, '203'], // ESME_RINVEXPIRY
  [0x64, '201'], // ESME_RX_T_APPN
  [0xc0, '203'], // ESME_RINVOPTPARSTREAM
  [0xc1, '203'], // ESME_ROPTPARNOTALLWD
  [0xc2, '203'], // ESME_RINVPARLEN
  [0xc3, '203'], // ESME_RMISSINGOPTPARAM
  [0xc4, '203'], // ESME_RINVOPTPARAMVAL
])

const CODE_OF_STATE: Readonly<Record<CarrierState, DeliveryCode>> = {
  SCHEDULED: '000',
  ENROUTE: '000',
  ACCEPTD: '000',
  DELIVRD: '000',
  EXPIRED: '500',
  DELETED: '204',
  UNDELIV: '300',
  REJECTD: '200',
  SKIPPED: '205',
  UNKNOWN: '600',
}

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

/** The code of a submission: 0 (ESME_ROK) is success, a status that the table lacks is 200. */
export function fromSubmitStatus(commandStatus: number): DeliveryCode {
  return commandStatus === 0 ? '000' : (CODE_OF_SUBMIT_STATUS.get(commandStatus) ?? '200')
}

/**
 * The code of a receipt. The state decides. For UNDELIV and REJECTD, network_error_code says more exactly why, if its
 * kind of network (`networkType`, see Receipt) has codes that mean the same everywhere: the MAP errors of GSM, and SMPP's
 * own. An `err:` in the text has a meaning of the carrier's own, so it is kept for the operator and never translated.
 */
export function fromReceipt(
  state: CarrierState,
  rawErr: string | null,
  networkType: number | null = null,
): DeliveryCode {
  const code = CODE_OF_STATE[state]
  if ((state !== 'UNDELIV' && state !== 'REJECTD') || rawErr === null) return code
  const codes =
    networkType === NETWORK_GSM
      ? CODE_OF_MAP_ERROR
      : networkType === NETWORK_SMPP
        ? CODE_OF_SUBMIT_STATUS
        : undefined
  return codes?.get(Number(rawErr)) ?? code
}
