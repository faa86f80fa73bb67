import { canonicalId, idRuleOf } from '../../domain/carriers/message-ids.ts'
import type { Attempted, LaterFact, Postponed } from '../../domain/journal/message-facts.ts'
import type { Dispatch } from '../../domain/journal/messages-in-progress.ts'
import type { ResponsePdu } from '../../smpp/pdu.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import type { MessagesInProgress } from '../messages/messages-in-progress.ts'
import type { Recorder } from '../messages/recorder.ts'
import type { CarrierConditions } from './carrier-conditions.ts'
import type { HeldMessages } from './held-messages.ts'
import {
  type DispatchChange,
  type Ending,
  postponementOf,
  postponementOfJob,
  settlementOf,
  submittedWith,
} from './submit-facts.ts'
import type { SubmitJob, SubmitToken } from './submit-job.ts'

export interface SubmitRecorderOptions extends Pick<NodeParts, 'directory' | 'nowMs'> {
  readonly conditions: Pick<CarrierConditions, 'isAlone'>
  readonly inProgress: Pick<MessagesInProgress, 'addFacts' | 'whenAppended'>
  readonly recorder: Pick<Recorder, 'addOutcome'>
  readonly held: HeldMessages
}

/**
 * Records what became of messages that were to be submitted. They leave the submitter when they are settled, or requeued to be
 * loaded again when they are due. Their places in the windows are free when that is in the journal, so that the next
 * message to begin is behind it.
 */
export class SubmitRecorder {
  readonly #options: SubmitRecorderOptions

  constructor(options: SubmitRecorderOptions) {
    this.#options = options
  }

  /** The carrier accepted one PDU of the job. */
  accepted(token: SubmitToken, pdu: ResponsePdu, latencyMs: number): void {
    const id = pdu.command === 'submit_sm_resp' ? pdu.message_id : ''
    if (id === '') return
    const { job } = token
    const { directory, nowMs } = this.#options
    const rule = idRuleOf(directory().carrierById(job.carrier.id) ?? job.carrier)
    const carrierMessageId = canonicalId(id, rule, 'submit')
    const answer = { carrierMessageId, atMs: nowMs(), latencyMs: Math.round(latencyMs) }
    this.record(job.dispatch, submittedWith(token, answer))
  }

  record({ planId, msgId }: Dispatch, facts: readonly LaterFact[]): void {
    this.#options.recorder.addOutcome({ planId, msgId, facts })
  }

  settle(dispatch: Dispatch, job: SubmitJob | null, ending: Ending): void {
    const { directory, held, inProgress, nowMs } = this.#options
    const settled = settlementOf(dispatch, job, ending, { directory: directory(), nowMs: nowMs() })
    this.record(dispatch, ending.attempt ? [ending.attempt, settled] : [settled])
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
    if (!inProgress.addFacts(msgId, facts)) held.delete(msgId)
    else inProgress.whenAppended(msgId, () => held.leave(msgId))
  }
}
