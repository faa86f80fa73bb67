import { lowBits } from '../../collections/bits.ts'
import type { Flowing } from '../../collections/fair-queue.ts'
import type { SubmitResult } from '../../domain/carriers/statuses.ts'
import { SubmissionProgress } from '../../domain/carriers/submission-progress.ts'
import type { Carrier } from '../../domain/configuration/configuration.ts'
import type { Dispatch } from '../../domain/journal/messages-in-progress.ts'
import { toCarrierAddress } from '../../domain/messages/addresses.ts'
import { PLAIN_TEXT, type TextSettings } from '../../domain/text/encoding-choice.ts'
import { type SegmentedText, segmentText } from '../../domain/text/segments.ts'
import type { RequestInput } from '../../smpp/pdu.ts'
import { absoluteTime, relativePeriod } from '../../smpp/validity-period.ts'

/** One PDU in flight. Its response comes back with this token. */
export interface SubmitToken {
  readonly job: SubmitJob
  /** Index among the PDUs of the text. */
  readonly index: number
  /** By the monotonic clock. */
  readonly sentAtMs: number
}

/** Called for each submit_sm that has ended: null without an answer. One that comes late counts as none. */
export type OnSubmit = (
  token: SubmitToken,
  result: SubmitResult,
  latencyMs: number | null,
  commandStatus: number | null,
) => void

/** The route of a message, and why this carrier of it was chosen. */
interface ChosenRoute {
  readonly id: number
  readonly reason: string
}

export interface SubmitJob extends Flowing<SubmitJob> {
  readonly dispatch: Dispatch
  readonly carrier: Carrier
  readonly route: ChosenRoute
  readonly text: SegmentedText
  /** How the text is divided into segments. Segments of two messages that are divided alike fit together. */
  readonly segmentation: string
  readonly progress: SubmissionProgress
  /** The text is divided differently from segments of it that were accepted before, now or earlier. */
  readonly startedOver: boolean
  /** A carrier may already have the message, or segments of it. */
  readonly isResubmission: boolean
  /** When its first PDU was sent, Unix ms; null: none was sent yet. */
  startedAtMs: number | null
}

/**
 * A message on its way to a carrier. The reference of its segments follows from its id, so that it survives a crash. Accepted
 * segments are not sent again, unless the text is now divided differently: then it starts over. Nothing is sent when the whole
 * message is delivered.
 */
export function submitJob(
  dispatch: Dispatch,
  {
    carrier,
    route,
    settings = PLAIN_TEXT,
  }: Pick<SubmitJob, 'carrier' | 'route'> & { readonly settings?: TextSettings },
): SubmitJob {
  const text = segmentText(dispatch.body, referenceOf(dispatch.msgId), {
    settings,
    form: carrier.longMessages,
  })
  const segmentation = `${carrier.longMessages} ${text.encoding} ${text.segments}`
  const { acceptedPduBits, deliveredBits } = dispatch
  const startsOver = acceptedPduBits !== 0n && dispatch.segmentation !== segmentation
  const startedOver = dispatch.startedOver || startsOver
  // Delivered segments say nothing about segments that are divided differently.
  const isDelivered = !startedOver && deliveredBits === lowBits(text.segments)
  const accepted = isDelivered ? lowBits(text.pdus.length) : startsOver ? 0n : acceptedPduBits
  return {
    dispatch,
    carrier,
    route,
    text,
    segmentation,
    progress: new SubmissionProgress(text.pdus.length, accepted, carrier.submitOutcomes),
    startedOver,
    isResubmission: dispatch.ambiguous || startedOver,
    startedAtMs: null,
    flow: null,
    next: null,
    previous: null,
  }
}

/** Random bits of the id. */
function referenceOf(msgId: string): number {
  return Number.parseInt(msgId.slice(24, 28), 16)
}

const REGISTERED_DELIVERY = 1

/**
 * Builds one submit_sm of a message (SMPP 3.4 §4.4.1), with a receipt asked for. `nowMs` is in Unix ms. The carrier is told
 * how long the message is still of use, so that it delivers nothing stale.
 */
export function submitSm({ dispatch, carrier, text }: SubmitJob, index: number, nowMs: number): RequestInput {
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
    validity_period: validityPeriod(carrier, dispatch.expiresAtMs, nowMs),
    registered_delivery: REGISTERED_DELIVERY,
    data_coding: text.dataCoding,
    short_message: shortMessage,
    tlvs,
  }
}

/** At least one second, so that the last segments of a message still go when its validity ends while it is being sent. */
function validityPeriod({ validityFormat, validitySeconds }: Carrier, endMs: number, nowMs: number): string {
  if (validityFormat === 'none') return ''
  const leftSeconds = Math.max(1, Math.floor((endMs - nowMs) / 1_000))
  const seconds = Math.min(leftSeconds, validitySeconds ?? leftSeconds)
  return validityFormat === 'relative' ? relativePeriod(seconds) : absoluteTime(nowMs + seconds * 1_000)
}
