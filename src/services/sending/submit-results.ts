import { canonicalId, idRuleOf } from '../../domain/carrier-message-ids.ts'
import { type Carrier, formatCommandStatus, type ServicePlan } from '../../domain/configuration.ts'
import type { Directory } from '../../domain/directory.ts'
import type { Attempted, LaterFact, Postponed, Settled, Submitted } from '../../domain/message-facts.ts'
import type { Dispatch } from '../../domain/messages-in-progress.ts'
import type { SubmitResult } from '../../domain/quality.ts'
import { chargeFor } from '../../domain/rates.ts'
import { submitOutcome } from '../../domain/submit-outcomes.ts'
import type { ResponsePdu } from '../../smpp/pdu.ts'
import type { OutcomeFacts } from '../messages/journal-items.ts'
import type { MessagesInProgress } from '../messages/messages-in-progress.ts'
import type { Recorder } from '../messages/recorder.ts'
import type { CarrierConditions } from './carrier-conditions.ts'
import type { HeldMessages } from './held-messages.ts'
import type { SubmitJob } from './submit-job.ts'

export interface SubmitResultsOptions {
  readonly directory: () => Directory
  readonly conditions: Pick<CarrierConditions, 'isAlone'>
  readonly inProgress: Pick<MessagesInProgress, 'tell' | 'whenAppended'>
  readonly recorder: Pick<Recorder, 'outcome'>
  readonly held: HeldMessages
  /** Of the database, Unix milliseconds. */
  readonly nowMs: () => number
}

/** How a dispatch ended. */
export interface Ending {
  readonly status: 'SENT' | 'FAILED' | 'UNKNOWN'
  readonly errorCode?: string
  readonly commandStatus?: number
  readonly attempt?: Attempted | null
}

/** What an attempt that did not end the dispatch has changed. Omitted fields keep their values. */
export interface DispatchChange {
  readonly delayMs: number
  readonly attempt?: number
  readonly ambiguous?: boolean
  readonly routeId?: number | null
  /** The carrier whose node should take the message. Default: none. */
  readonly chosenCarrierId?: number
}

/** It is not known whether the message arrived, and it is not submitted again. */
const IN_DOUBT = { status: 'UNKNOWN', errorCode: '103' } as const

/**
 * Records what became of messages that were to be submitted. They leave the submitter when they are settled, or requeued to be
 * loaded again when they are due. Their places in the windows are free when that is in the journal, so that the next
 * message to begin is behind it.
 */
export class SubmitResults {
  readonly #options: SubmitResultsOptions

  constructor(options: SubmitResultsOptions) {
    this.#options = options
  }

  /** The carrier accepted one PDU of the job. */
  accepted(job: SubmitJob, index: number, pdu: ResponsePdu): void {
    const id = pdu.command === 'submit_sm_resp' ? pdu.message_id : ''
    if (id === '') return
    const rule = idRuleOf(this.#options.directory().carrierById(job.carrier.id) ?? job.carrier)
    this.record(job, submittedWith(job, index, canonicalId(id, rule, 'submit')))
  }

  record({ dispatch: { planId, msgId } }: SubmitJob, facts: readonly LaterFact[]): void {
    this.#options.recorder.outcome({ planId, msgId, facts })
  }

  settle(dispatch: Dispatch, job: SubmitJob | null, ending: Ending): void {
    const { directory, held, inProgress, nowMs, recorder } = this.#options
    recorder.outcome(outcomeOf(dispatch, job, ending, { directory: directory(), nowMs: nowMs() }))
    inProgress.whenAppended(dispatch.msgId, () => held.delete(dispatch.msgId))
  }

  /** Requeues a message for which no carrier was chosen. */
  requeue(dispatch: Dispatch, change: DispatchChange): void {
    this.#leave(dispatch.msgId, postponementOf(dispatch, change, this.#options.nowMs()), null)
  }

  /**
   * Requeues a job, no longer than its validity. Another node may own the message's bucket. With its carrier named, it comes
   * back to a node that has that carrier.
   */
  requeueJob(job: SubmitJob, change: DispatchChange, attempt: Attempted | null = null): void {
    const { conditions, nowMs } = this.#options
    const [chosenCarrierId, atMs] = [conditions.isAlone ? 0 : job.carrier.id, nowMs()]
    const delayMs = Math.max(0, Math.min(change.delayMs, job.dispatch.expiresAtMs - atMs))
    const how = { wasTried: attempt !== null, nowMs: atMs }
    const postponed = postponementOfJob(job, { chosenCarrierId, ...change, delayMs }, how)
    this.#leave(job.dispatch.msgId, postponed, attempt)
  }

  /** Requeues jobs at once. Those with a segment in flight follow when it is answered or lost. */
  requeueIdle(jobs: readonly SubmitJob[]): void {
    for (const job of jobs) if (job.progress.isIdle) this.requeueJob(job, { delayMs: 0 })
  }

  #leave(msgId: string, postponed: Postponed, attempt: Attempted | null): void {
    const { held, inProgress } = this.#options
    const facts = attempt === null ? [postponed] : [attempt, postponed]
    // If its lane was lost, the message is in doubt or due at its new owner.
    if (!inProgress.tell(msgId, facts)) held.delete(msgId)
    else inProgress.whenAppended(msgId, () => held.leave(msgId))
  }
}

/** How the carrier answered, for its quality figures. */
export function resultOf({ command, status }: ResponsePdu, { submitOutcomes }: Carrier): SubmitResult {
  if (command === 'generic_nack' && status === 0) return 'refused'
  const kind = submitOutcome(status, submitOutcomes)
  return kind === 'accepted' || kind === 'throttled' ? kind : 'refused'
}

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

/** The end of a message that a carrier has refused for good. An earlier attempt without an answer may have arrived. */
export function refusalOf(job: SubmitJob, nowMs: number, errorCode: string, commandStatus: number): Ending {
  const end = job.dispatch.ambiguous ? IN_DOUBT : ({ status: 'FAILED', errorCode } as const)
  return { ...end, commandStatus, attempt: attemptOf(job, nowMs, 'refused', commandStatus) }
}

/** How a message ended, with its cost when it is SENT. `job` null: it ended before a carrier was chosen. */
export function outcomeOf(
  dispatch: Dispatch,
  job: SubmitJob | null,
  { status, errorCode = '000', commandStatus, attempt = null }: Ending,
  { directory, nowMs }: { readonly directory: Directory; readonly nowMs: number },
): OutcomeFacts {
  const { planId, msgId, recipient } = dispatch
  const segments = job?.text.segments ?? null
  const mccmnc = directory.mccmncOf(recipient)
  const rate = status === 'SENT' ? directory.rateOf(planId, recipient, mccmnc) : null
  const settled: Settled = {
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
    charge: rate === null ? null : chargeFor(rate, segments ?? dispatch.segments),
  }
  return { planId, msgId, facts: attempt === null ? [settled] : [attempt, settled] }
}

/** What the carrier accepted with one PDU: one entry for each segment that the PDU carries, all with its one id. */
export function submittedWith(job: SubmitJob, index: number, carrierMessageId: string): Submitted[] {
  const { firstSegment, segmentCount } = job.text.pdus[index]!
  const segmentation = job.startedOver ? job.segmentation : null
  const submitted: Submitted[] = []
  for (let segment = firstSegment; segment < firstSegment + segmentCount; segment += 1)
    submitted.push({ kind: 'submitted', carrierId: job.carrier.id, carrierMessageId, segment, segmentation })
  return submitted
}

/** A message that was not tried, and is loaded again when it is due. */
export function postponementOf(
  { attempt, acceptedPdus, segmentation, startedOver, ambiguous, carrierId }: Dispatch,
  { delayMs, ...change }: DispatchChange,
  nowMs: number,
): Postponed {
  return {
    kind: 'postponed',
    atMs: nowMs,
    dueAtMs: nowMs + Math.ceil(delayMs),
    attempt,
    acceptedPdus,
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
  const isLast = job.progress.accepted !== 0n || (wasTried && rest.acceptedPdus === 0n)
  const postponed = postponementOf(rest, { routeId: job.route.id, ...change }, nowMs)
  return isLast ? { ...postponed, carrierId: job.carrier.id } : postponed
}

/** The attempt that a job is, for the message's timeline. Null for a first attempt that was simply accepted. */
export function attemptOf(
  job: SubmitJob,
  nowMs: number,
  outcome: Attempted['outcome'],
  commandStatus: number | null = null,
  reason: string = job.route.reason,
): Attempted | null {
  const { dispatch, isResubmission, startedAtMs } = job
  const isFirst = dispatch.attempt === 0 && dispatch.carrierId === null
  if (outcome === 'accepted' && isFirst && !isResubmission) return null
  return {
    kind: 'attempted',
    atMs: startedAtMs ?? nowMs,
    carrierId: job.carrier.id,
    outcome,
    commandStatus,
    resubmission: isResubmission,
    reason,
  }
}

/** What is left of a job for another carrier: the dispatch as before if nothing of it was accepted. */
export function restOf({ dispatch, carrier, segmentation, progress, startedOver }: SubmitJob): Dispatch {
  const { accepted } = progress
  if (accepted === 0n) return dispatch
  return { ...dispatch, acceptedPdus: accepted, segmentation, startedOver, carrierId: carrier.id }
}
