import type { DeliveryCode, FailureCode } from '../error-codes.ts'

/**
 * What a command_status other than 0 (SMPP 3.4 §5.1.3) means for the message:
 * - throttled: slow down; never fails a message, no attempt consumed
 * - retry: try until validity is over
 * - limited-retry: three tries in all
 * - rebind: the link is at fault; bind again, no attempt consumed. After three binds for a message (`RebindCounts`), as
 *   limited-retry
 * - permanent: not tried again. FAILED, or UNKNOWN when an earlier attempt is in doubt
 */
export const REFUSED_OUTCOMES = ['throttled', 'retry', 'limited-retry', 'rebind', 'permanent'] as const
export type RefusedOutcome = (typeof REFUSED_OUTCOMES)[number]
/** What a submit_sm_resp means; accepted: the carrier has the message. */
export type SubmitOutcome = 'accepted' | RefusedOutcome

/** What each command_status means for the message, and its error code; null: the code says no more than 200. */
const MEANINGS = new Map<number, readonly [outcome: SubmitOutcome, code: FailureCode | null]>([
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
  overrides?: ReadonlyMap<number, SubmitOutcome>,
): SubmitOutcome {
  if (commandStatus === 0) return 'accepted'
  const vendor = commandStatus >= VENDOR_FIRST && commandStatus <= VENDOR_LAST
  const known = overrides?.get(commandStatus) ?? MEANINGS.get(commandStatus)?.[0]
  return known ?? (vendor ? 'limited-retry' : 'permanent')
}

/** The error code of a submission: 0 (ESME_ROK) is success, and a status without a code of its own is 200. */
export function codeOfSubmitStatus(commandStatus: number): DeliveryCode {
  return commandStatus === 0 ? '000' : (ownCodeOf(commandStatus) ?? '200')
}

/** The error code that this status alone means; null if it has none. */
export function ownCodeOf(commandStatus: number): FailureCode | null {
  return MEANINGS.get(commandStatus)?.[1] ?? null
}
