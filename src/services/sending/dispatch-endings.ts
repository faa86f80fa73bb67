import type { Refusal } from '../../domain/carriers/submission-progress.ts'
import { formatCommandStatus, type ServicePlan } from '../../domain/configuration/configuration.ts'
import type { Directory } from '../../domain/configuration/directory.ts'
import type { Attempted, Settled } from '../../domain/journal/message-facts.ts'
import type { Dispatch } from '../../domain/journal/messages-in-progress.ts'
import { chargeFor } from '../../domain/routing/rates.ts'
import type { OutcomeFacts } from '../messages/journal-items.ts'
import { attemptOf } from './submit-facts.ts'
import type { SubmitJob } from './submit-job.ts'

/** How a dispatch ended. */
export interface Ending {
  readonly status: 'SENT' | 'FAILED' | 'UNKNOWN'
  readonly errorCode?: string
  readonly commandStatus?: number
  readonly attempt?: Attempted | null
}

/** It is not known whether the message arrived, and it is not submitted again. */
const IN_DOUBT = { status: 'UNKNOWN', errorCode: '103' } as const

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
export function endAfterRefusal(job: SubmitJob, nowMs: number, errorCode: string, refusal: Refusal): Ending {
  const end = job.dispatch.ambiguous ? IN_DOUBT : ({ status: 'FAILED', errorCode } as const)
  const { commandStatus } = refusal
  return { ...end, commandStatus, attempt: attemptOf(job, nowMs, 'refused', { refusal }) }
}

/** How a message ended, with its cost when it is SENT. `job` null: it ended before a carrier was chosen. */
export function endingFacts(
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
