import { toCarrierAddress } from '../domain/addresses.ts'
import type { Carrier } from '../domain/directory.ts'
import { type SegmentedText, segmentText } from '../domain/segments.ts'
import { SubmissionProgress } from '../domain/submission-progress.ts'
import { PLAIN_TEXT, type TextSettings } from '../domain/writings.ts'
import type { RequestInput } from '../smpp/pdu.ts'
import type { Dispatch, Postponement } from '../store/dispatches.ts'

/** One segment under way: the token its response comes back with. */
export interface SubmitToken {
  readonly job: SubmitJob
  readonly segment: number
}

export interface SubmitJob {
  readonly dispatch: Dispatch
  readonly carrier: Carrier
  readonly text: SegmentedText
  readonly progress: SubmissionProgress
}

/** A message on its way to a carrier. The reference of its segments follows from its id, so that it survives a crash. */
export function submitJob(
  dispatch: Dispatch,
  carrier: Carrier,
  settings: TextSettings = PLAIN_TEXT,
): SubmitJob {
  const text = segmentText(dispatch.body, referenceOf(dispatch.msgId), {
    settings,
    form: carrier.longMessages,
  })
  const progress = new SubmissionProgress(text.pdus.length, dispatch.submittedSegments)
  return { dispatch, carrier, text, progress }
}

/** Random bits of the id. */
function referenceOf(msgId: string): number {
  return Number.parseInt(msgId.slice(24, 28), 16)
}

const REGISTERED_DELIVERY = 1

/** One of the submit_sm of a message (SMPP 3.4 §4.4.1), with a receipt asked for. */
export function submitSm({ dispatch, text }: SubmitJob, index: number): RequestInput {
  const { esmClass, shortMessage, tlvs } = text.pdus[index]!
  const source = toCarrierAddress(dispatch.sender)
  const destination = toCarrierAddress(dispatch.recipient)
  return {
    command: 'submit_sm',
    source_addr_ton: source.ton,
    source_addr_npi: source.npi,
    source_addr: source.address,
    dest_addr_ton: destination.ton,
    dest_addr_npi: destination.npi,
    destination_addr: destination.address,
    esm_class: esmClass,
    registered_delivery: REGISTERED_DELIVERY,
    data_coding: text.dataCoding,
    short_message: shortMessage,
    tlvs,
  }
}

/** What an attempt that did not end the submission has changed; what is not given stays. */
export interface DispatchChange {
  readonly delayMs: number
  readonly attempt?: number
  readonly ambiguous?: boolean
  /** Bit n: the carrier has accepted segment n. */
  readonly accepted?: bigint
}

/** The dispatch given back to the database, due again after the delay. */
export function postponement(dispatch: Dispatch, change: DispatchChange): Postponement {
  return {
    msg_id: dispatch.msgId,
    holder: dispatch.holder,
    attempt: change.attempt ?? dispatch.attempt,
    submitted_segments: String(change.accepted ?? dispatch.submittedSegments),
    ambiguous: change.ambiguous ?? dispatch.ambiguous,
    carrier_id: null,
    delay_ms: change.delayMs,
    attempt_made: null,
  }
}
