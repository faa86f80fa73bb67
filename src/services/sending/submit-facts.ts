import type { Refusal } from '../../domain/carriers/submission-progress.ts'
import type { Attempted, Postponed, Submitted } from '../../domain/journal/message-facts.ts'
import type { Dispatch } from '../../domain/journal/messages-in-progress.ts'
import type { SubmitJob, SubmitToken } from './submit-job.ts'

/** What an attempt that did not end the dispatch has changed. Omitted fields keep their values. */
export interface DispatchChange {
  readonly delayMs: number
  readonly attempt?: number
  readonly ambiguous?: boolean
  readonly routeId?: number | null
  /** The carrier whose node should take the message. Default: none. */
  readonly chosenCarrierId?: number
}

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

/** The fact that a message waits, and is loaded again when it is due. */
export function postponementOf(
  { attempt, acceptedPduBits, segmentation, startedOver, ambiguous, carrierId }: Dispatch,
  { delayMs, ...change }: DispatchChange,
  nowMs: number,
): Postponed {
  return {
    kind: 'postponed',
    atMs: nowMs,
    dueAtMs: nowMs + Math.ceil(delayMs),
    attempt,
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

/** A message that was on its way to a carrier. `wasTried`: an attempt was made. Segments that another carrier has are kept. */
export function postponementOfJob(
  job: SubmitJob,
  change: DispatchChange,
  { wasTried, nowMs }: { readonly wasTried: boolean; readonly nowMs: number },
): Postponed {
  const rest = restOf(job)
  const isLast = job.progress.acceptedPduBits !== 0n || (wasTried && rest.acceptedPduBits === 0n)
  const postponed = postponementOf(rest, { routeId: job.route.id, ...change }, nowMs)
  return isLast ? { ...postponed, carrierId: job.carrier.id } : postponed
}

interface AttemptDetails {
  readonly refusal?: Refusal | null
  /** Default: why the carrier was chosen. */
  readonly reason?: string
}

/** The attempt that a job is, for the message's timeline. Null for a first attempt that was simply accepted. */
export function attemptOf(
  job: SubmitJob,
  nowMs: number,
  outcome: Attempted['outcome'],
  { refusal = null, reason = job.route.reason }: AttemptDetails = {},
): Attempted | null {
  const { dispatch, isResubmission, startedAtMs } = job
  const isFirst = dispatch.attempt === 0 && dispatch.carrierId === null
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

/** What is left of a job for another carrier: the dispatch as before if nothing of it was accepted. */
export function restOf({ dispatch, carrier, segmentation, progress, startedOver }: SubmitJob): Dispatch {
  const { acceptedPduBits } = progress
  if (acceptedPduBits === 0n) return dispatch
  return { ...dispatch, acceptedPduBits, segmentation, startedOver, carrierId: carrier.id }
}
