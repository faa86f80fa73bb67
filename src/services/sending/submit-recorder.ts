import { canonicalId, idRuleOf } from '../../domain/carriers/message-ids.ts'
import type { Attempted, LaterFact } from '../../domain/journal/message-facts.ts'
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
  restOf,
  settlementOf,
  submittedWith,
} from './submit-facts.ts'
import type { SubmitJob, SubmitToken } from './submit-job.ts'

export interface SubmitRecorderOptions extends Pick<NodeParts, 'directory' | 'clock'> {
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
    const { directory, clock } = this.#options
    const rule = idRuleOf(directory().carrierById(job.carrier.id) ?? job.carrier)
    const carrierMessageId = canonicalId(id, rule, 'submit')
    const answer = { carrierMessageId, atMs: clock(), latencyMs: Math.round(latencyMs) }
    this.record(job.dispatch, submittedWith(token, answer))
  }

  record({ planId, msgId }: Dispatch, facts: readonly LaterFact[]): void {
    this.#options.recorder.addOutcome({ planId, msgId, facts })
  }

  settle(dispatch: Dispatch, job: SubmitJob | null, ending: Ending): void {
    const { directory, held, inProgress, clock } = this.#options
    const settled = settlementOf(dispatch, job, ending, { directory: directory(), nowMs: clock() })
    // The timeline has the first of those with the same time.
    const attempts = [ending.attempt, ending.unanswered].filter((attempt) => attempt != null)
    this.record(dispatch, [...attempts, settled])
    inProgress.whenAppended(dispatch.msgId, () => held.drop(dispatch.msgId))
  }

  /** The message waits in the database. `attempt`: the one that was made, if any. */
  requeue(dispatch: Dispatch, change: DispatchChange, attempt: Attempted | null = null): void {
    const { held, inProgress, clock } = this.#options
    const { msgId } = dispatch
    const postponed = postponementOf(dispatch, change, clock())
    // If its lane was lost, the message is in doubt or due at its new owner.
    if (!inProgress.addFacts(msgId, attempt === null ? [postponed] : [attempt, postponed])) held.drop(msgId)
    else inProgress.whenAppended(msgId, () => held.leave(msgId))
  }

  /**
   * Requeues a job, no longer than its validity. Another node may own the message's bucket. With its carrier named, it comes
   * back to a node that has that carrier.
   */
  requeueJob(job: SubmitJob, change: DispatchChange, attempt: Attempted | null = null): void {
    const { conditions, clock } = this.#options
    const chosenCarrierId = conditions.isAlone ? 0 : job.carrier.id
    const delayMs = Math.max(0, Math.min(change.delayMs, job.dispatch.expiresAtMs - clock()))
    const waiting = { routeId: job.route.id, chosenCarrierId, ...change, delayMs }
    this.requeue(restOf(job, attempt !== null), waiting, attempt)
  }

  /** Requeues jobs at once. Those with a PDU in flight follow when it is answered or lost. */
  requeueIdle(jobs: readonly SubmitJob[]): void {
    for (const job of jobs) if (job.progress.isIdle) this.requeueJob(job, { delayMs: 0 })
  }
}
