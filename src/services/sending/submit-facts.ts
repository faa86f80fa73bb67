import { codeOfSubmitStatus } from '../../domain/carriers/statuses.ts'
import type { SubmitRefusal } from '../../domain/carriers/submission-progress.ts'
import { formatCommandStatus, type ServicePlan } from '../../domain/configuration/configuration.ts'
import type { Directory } from '../../domain/configuration/directory.ts'
import type { Attempted, Postponed, Settled, Submitted } from '../../domain/journal/message-facts.ts'
import { IN_DOUBT_CODE } from '../../domain/journal/messages-in-doubt.ts'
import type { Dispatch } from '../../domain/journal/messages-in-progress.ts'
import { chargeFor } from '../../domain/routing/rates.ts'
import type { SubmitJob, SubmitToken } from './submit-job.ts'

/** What became of a message that was to be submitted: the facts of its PDUs, its attempts, its waits and its end. */

/** What the carrier accepted with one PDU: one entry for each segment that the PDU carries, all with its one id. */
export function submittedWith(
  { job, index }: Pick<SubmitToken, 'job' | 'index'>,
  { carrierMessageId, atMs, latencyMs }: Pick<Submitted, 'carrierMessageId' | 'atMs' | 'latencyMs'>,
): Submitted[] {
  const { firstSegment, segmentCount } = job.text.pdus[index]!
  const carrierId = job.carrier.id
  const segmentation = job.startedOver ? job.segmentation : null
  const submitted: Submitted[] = []
  for (let segment = firstSegment; segment < firstSegment + segmentCount; segment += 1)
    submitted.push({ kind: 'submitted', atMs, latencyMs, carrierId, carrierMessageId, segment, segmentation })
  return submitted
}

interface AttemptDetails {
  readonly refusal?: SubmitRefusal | null
  /** Default: why the carrier was chosen. */
  readonly reason?: string
}

/** The attempt that this job made, as the timeline shows it. Null for a first attempt that was simply accepted. */
export function attemptOf(
  job: SubmitJob,
  nowMs: number,
  outcome: Attempted['outcome'],
  { refusal = null, reason = job.route.reason }: AttemptDetails = {},
): Attempted | null {
  const { dispatch, isResubmission, startedAtMs } = job
  const isFirst = dispatch.failedAttempts === 0 && dispatch.carrierId === null
  if (outcome === 'accepted' && isFirst && !isResubmission) return null
  const pdu = refusal === null ? undefined : job.text.pdus[refusal.pdu]
  return {
    kind: 'attempted',
    atMs: startedAtMs ?? nowMs,
    tookMs: Math.max(0, nowMs - (startedAtMs ?? nowMs)),
    carrierId: job.carrier.id,
    outcome,
    commandStatus: outcome === 'accepted' ? 0 : (refusal?.commandStatus ?? null),
    segment: pdu?.segmentCount === 1 ? pdu.firstSegment : null,
    resubmission: isResubmission,
    reason,
  }
}

/** What is left of a job, for another carrier or for later. `wasTried`: an attempt was made. */
export function restOf(
  { dispatch, carrier, segmentation, progress, startedOver }: SubmitJob,
  wasTried = false,
): Dispatch {
  const { acceptedPduBits } = progress
  if (acceptedPduBits !== 0n)
    return { ...dispatch, acceptedPduBits, segmentation, startedOver, carrierId: carrier.id }
  // Another carrier may have segments of it.
  return wasTried && dispatch.acceptedPduBits === 0n ? { ...dispatch, carrierId: carrier.id } : dispatch
}

/** What an attempt that did not end the dispatch has changed. Omitted fields keep their values. */
export interface DispatchChange {
  readonly delayMs: number
  readonly failedAttempts?: number
  readonly ambiguous?: boolean
  readonly routeId?: number | null
  /** The carrier whose node should take the message. Default: none. */
  readonly chosenCarrierId?: number
}

/** The fact that a message waits, and is loaded again when it is due. */
export function postponementOf(
  { failedAttempts, acceptedPduBits, segmentation, startedOver, ambiguous, carrierId }: Dispatch,
  { delayMs, ...change }: DispatchChange,
  nowMs: number,
): Postponed {
  return {
    kind: 'postponed',
    atMs: nowMs,
    dueAtMs: nowMs + Math.ceil(delayMs),
    failedAttempts,
    acceptedPduBits,
    segmentation,
    startedOver,
    ambiguous,
    carrierId,
    routeId: null,
    chosenCarrierId: 0,
    ...change,
  }
}

/** How a dispatch ended. */
export interface Ending {
  readonly status: Settled['status']
  readonly errorCode?: string
  readonly commandStatus?: number
  readonly attempt?: Attempted | null
  /** Also set if a PDU of the attempt was not answered: its receipt may still come. */
  readonly unanswered?: Attempted | null
}

/** It is not known whether the message arrived, and it is not submitted again. */
const IN_DOUBT = { status: 'UNKNOWN', errorCode: IN_DOUBT_CODE } as const

/**
 * Returns what ends a message before it is submitted or resubmitted; null: nothing does. `policy` and `isRouted` are those of
 * its plan now.
 */
export function endBeforeSubmit(
  { ambiguous, expiresAtMs, optedOut, status }: Dispatch,
  {
    policy,
    isRouted,
    nowMs,
  }: { policy: ServicePlan['ambiguousSubmits'] | undefined; isRouted: boolean; nowMs: number },
): Ending | null {
  // A receipt came before the answer, so a carrier has the message.
  if (status !== 'QUEUED') return { status: status === 'FAILED' ? 'FAILED' : 'SENT' }
  const isOver = expiresAtMs <= nowMs
  if (ambiguous && (isOver || optedOut || policy === 'unknown')) return IN_DOUBT
  if (optedOut) return { status: 'FAILED', errorCode: '307' }
  return isOver ? { status: 'FAILED', errorCode: isRouted ? '501' : '101' } : null
}

/**
 * The end of a message that a carrier has refused for good, or until its validity or its tries were over. An earlier attempt
 * without an answer may have arrived.
 */
export function endAfterRefusal(job: SubmitJob, refusal: SubmitRefusal, nowMs: number): Ending {
  const { commandStatus, outcome } = refusal
  const errorCode = outcome === 'retry' ? '501' : codeOfSubmitStatus(commandStatus)
  const end = job.dispatch.ambiguous ? IN_DOUBT : ({ status: 'FAILED', errorCode } as const)
  const unanswered = job.progress.isUnanswered ? attemptOf(job, nowMs, 'no-answer') : null
  return { ...end, commandStatus, attempt: attemptOf(job, nowMs, 'refused', { refusal }), unanswered }
}

/** How a message ended, with its cost when it is SENT. `job` null: it ended before a carrier was chosen. */
export function settlementOf(
  { planId, recipient, segments: counted }: Dispatch,
  job: SubmitJob | null,
  { status, errorCode = '000', commandStatus }: Ending,
  { directory, nowMs }: { readonly directory: Directory; readonly nowMs: number },
): Settled {
  const segments = job?.text.segments ?? null
  const mccmnc = directory.mccmncOf(recipient)
  const rate = status === 'SENT' ? directory.rateOf(planId, recipient, mccmnc) : null
  return {
    kind: 'settled',
    atMs: nowMs,
    status,
    errorCode,
    carrierCode: commandStatus === undefined ? null : formatCommandStatus(commandStatus),
    carrierId: job?.carrier.id ?? null,
    routeId: job?.route.id ?? null,
    routeReason: job?.route.reason ?? null,
    segments,
    segmentation: job?.startedOver ? job.segmentation : null,
    mccmnc,
    charge: rate === null ? null : chargeFor(rate, segments ?? counted),
  }
}
