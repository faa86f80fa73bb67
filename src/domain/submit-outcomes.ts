/**
 * What a submit_sm_resp means for the message, by its command_status (SMPP 3.4 §5.1.3):
 * - accepted: the carrier has it
 * - throttled: slow down; never fails a message, no attempt consumed
 * - retry: try until validity is over
 * - limited-retry: three tries in all
 * - rebind: the link is at fault; bind again, no attempt consumed
 * - permanent: the message has failed
 */
export type SubmitOutcome = 'accepted' | 'throttled' | 'retry' | 'limited-retry' | 'rebind' | 'permanent'

const OUTCOMES = new Map<number, SubmitOutcome>([
  [0x00, 'accepted'], // ESME_ROK
  [0x04, 'rebind'], // ESME_RINVBNDSTS
  [0x05, 'rebind'], // ESME_RALYBND
  [0x08, 'retry'], // ESME_RSYSERR
  [0x0d, 'rebind'], // ESME_RBINDFAIL
  [0x0e, 'rebind'], // ESME_RINVPASWD
  [0x0f, 'rebind'], // ESME_RINVSYSID
  [0x14, 'retry'], // ESME_RMSGQFUL
  [0x45, 'limited-retry'], // ESME_RSUBMITFAIL
  [0x53, 'rebind'], // ESME_RINVSYSTYP
  [0x58, 'throttled'], // ESME_RTHROTTLED
  [0x64, 'retry'], // ESME_RX_T_APPN
  [0xfe, 'limited-retry'], // ESME_RDELIVERYFAILURE
  [0xff, 'limited-retry'], // ESME_RUNKNOWNERR
])

/** Reserved for SMSC vendors (SMPP 3.4 §5.1.3). */
const VENDOR_FIRST = 0x400
const VENDOR_LAST = 0x4ff

/** Classifies a command_status; a carrier's own table, when given, is asked first. */
export function submitOutcome(
  commandStatus: number,
  overrides?: ReadonlyMap<number, SubmitOutcome>,
): SubmitOutcome {
  const vendor = commandStatus >= VENDOR_FIRST && commandStatus <= VENDOR_LAST
  const known = overrides?.get(commandStatus) ?? OUTCOMES.get(commandStatus)
  return known ?? (vendor ? 'limited-retry' : 'permanent')
}
