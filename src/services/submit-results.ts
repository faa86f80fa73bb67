import type { ServicePlan } from '../domain/configuration.ts'
import { countryOf } from '../domain/countries.ts'
import type { Directory } from '../domain/directory.ts'
import { chargeFor } from '../domain/rates.ts'
import { formatCommandStatus } from '../domain/settings.ts'
import type { Dispatch, Postponement } from '../store/dispatches.ts'
import type { Settlement, Submission, SubmitAttempt } from '../store/submissions.ts'
import type { SubmitJob } from './submit-job.ts'

/** How a submission ended. */
export interface Ending {
  readonly status: 'SENT' | 'FAILED' | 'UNKNOWN'
  readonly errorCode?: string
  readonly commandStatus?: number
  readonly attempt?: SubmitAttempt | null
}

/** What an attempt that did not end the submission has changed; what is not given stays. */
export interface DispatchChange {
  readonly delayMs: number
  readonly attempt?: number
  readonly ambiguous?: boolean
  readonly routeId?: number | null
  /** The carrier whose node is to take it up. Default: none. */
  readonly chosenCarrierId?: number
}

/** Whether it arrived is not known, and not to be tried any more. */
const IN_DOUBT = { status: 'UNKNOWN', errorCode: '103' } as const

/** What ends a message before it is submitted, or again; null: nothing does. `policy`, `isRouted`: of its plan, now. */
export function endBeforeSubmit(
  { ambiguous, expiresAt, optedOut, status }: Dispatch,
  {
    policy,
    isRouted,
    nowMs,
  }: { policy: ServicePlan['ambiguousSubmits'] | undefined; isRouted: boolean; nowMs: number },
): Ending | null {
  // A receipt was quicker than the answer: a carrier has it.
  if (status !== 'QUEUED') return { status: status === 'FAILED' ? 'FAILED' : 'SENT' }
  const isOver = expiresAt.getTime() <= nowMs
  if (ambiguous && (isOver || optedOut || policy === 'unknown')) return IN_DOUBT
  if (optedOut) return { status: 'FAILED', errorCode: '307' }
  return isOver ? { status: 'FAILED', errorCode: isRouted ? '501' : '101' } : null
}

/** The end of a message that a carrier has refused for good. An earlier attempt without an answer may have come through. */
export function refusalOf(job: SubmitJob, errorCode: string, commandStatus: number): Ending {
  const end = job.dispatch.ambiguous ? IN_DOUBT : ({ status: 'FAILED', errorCode } as const)
  return { ...end, commandStatus, attempt: attemptOf(job, 'refused', commandStatus) }
}

/** The end of a message, with what it costs when it is SENT. `job` null: it ended before a carrier was chosen. */
export function settlementOf(
  dispatch: Dispatch,
  job: SubmitJob | null,
  { status, errorCode = '000', commandStatus, attempt = null }: Ending,
  directory: Directory,
): Settlement {
  const { planId, msgId, recipient } = dispatch
  const segments = job?.text.segments ?? null
  const charged = segments ?? dispatch.segments
  const mccmnc = directory.mccmncOf(recipient)
  const rate =
    status === 'SENT' && directory.contents.rates.length > 0
      ? directory.rateFor({ planId, recipient, country: countryOf(recipient), mccmnc })
      : null
  const charge = rate === null ? null : chargeFor(rate, charged)
  return {
    plan_id: planId,
    msg_id: msgId,
    status,
    carrier_id: job?.carrier.id ?? null,
    error_code: errorCode,
    carrier_code: commandStatus === undefined ? null : formatCommandStatus(commandStatus),
    route_id: job?.route.id ?? null,
    route_reason: job?.route.reason ?? null,
    segments,
    cut: job?.startedOver ? job.cut : null,
    mccmnc,
    price: charge?.price ?? null,
    ptf: charge?.ptf ?? null,
    currency: charge?.currency ?? null,
    attempt,
  }
}

/** What the carrier accepted with one PDU: it stands for all segments that it carries, under its one id. */
export function submissionsOf(job: SubmitJob, index: number, carrierMessageId: string): Submission[] {
  const { firstSegment, segmentCount } = job.text.pdus[index]!
  return Array.from({ length: segmentCount }, (_, n) => ({
    carrier_id: job.carrier.id,
    carrier_message_id: carrierMessageId,
    msg_id: job.dispatch.msgId,
    plan_id: job.dispatch.planId,
    segment: firstSegment + n,
    cut: job.startedOver ? job.cut : null,
  }))
}

/** A dispatch that was not tried, given back to the database. */
export function postponementOf(dispatch: Dispatch, change: DispatchChange): Postponement {
  return {
    msg_id: dispatch.msgId,
    holder: dispatch.holder,
    attempt: change.attempt ?? dispatch.attempt,
    submitted_segments: String(dispatch.submittedSegments),
    cut: dispatch.cut,
    started_over: dispatch.startedOver,
    ambiguous: change.ambiguous ?? dispatch.ambiguous,
    carrier_id: dispatch.carrierId,
    route_id: change.routeId ?? null,
    chosen_carrier_id: change.chosenCarrierId ?? 0,
    delay_ms: change.delayMs,
    attempt_made: null,
  }
}

/** One that was on its way to a carrier; `attempt`: it was tried. Parts that another carrier has are still there. */
export function postponementOfJob(
  job: SubmitJob,
  change: DispatchChange,
  attempt: SubmitAttempt | null = null,
): Postponement {
  const rest = restOf(job)
  const isLast = job.progress.accepted !== 0n || (attempt !== null && rest.submittedSegments === 0n)
  return {
    ...postponementOf(rest, { routeId: job.route.id, ...change }),
    ...(isLast && { carrier_id: job.carrier.id }),
    attempt_made: attempt,
  }
}

/** The attempt that a job is, for the message's timeline; null for a first one that was simply accepted. */
export function attemptOf(
  job: SubmitJob,
  outcome: SubmitAttempt['outcome'],
  commandStatus: number | null = null,
  reason: string = job.route.reason,
): SubmitAttempt | null {
  const { dispatch, isResubmission, startedAtMs } = job
  const isFirst = dispatch.attempt === 0 && dispatch.carrierId === null
  if (outcome === 'accepted' && isFirst && !isResubmission) return null
  return {
    msg_id: dispatch.msgId,
    attempted_at: new Date(startedAtMs ?? Date.now()).toISOString(),
    carrier_id: job.carrier.id,
    outcome,
    command_status: commandStatus,
    resubmission: isResubmission,
    reason,
  }
}

/** What is left of a job that another carrier is to have; the same as before when nothing of it was accepted. */
export function restOf({ dispatch, carrier, cut, progress, startedOver }: SubmitJob): Dispatch {
  const { accepted } = progress
  if (accepted === 0n) return dispatch
  return { ...dispatch, submittedSegments: accepted, cut, startedOver, carrierId: carrier.id }
}

/** Not after its validity, so that it is seen when that is over. */
export function withinValidity({ dispatch }: SubmitJob, delayMs: number, nowMs: number): number {
  return Math.ceil(Math.min(delayMs, dispatch.expiresAt.getTime() - nowMs))
}
