import type { Directory } from '../../domain/directory.ts'
import type { Attempted, Postponed } from '../../domain/message-facts.ts'
import type { Dispatch } from '../../domain/messages-in-progress.ts'
import type { MessagesInProgress } from '../messages/messages-in-progress.ts'
import type { Recorder } from '../messages/recorder.ts'
import type { CarrierConditions } from './carrier-conditions.ts'
import type { HeldMessages } from './held-messages.ts'
import type { SubmitJob } from './submit-job.ts'
import {
  type DispatchChange,
  type Ending,
  outcomeOf,
  postponementOf,
  postponementOfJob,
  withinValidity,
} from './submit-results.ts'

export interface DeparturesOptions {
  readonly directory: () => Directory
  readonly conditions: Pick<CarrierConditions, 'isAlone'>
  readonly inProgress: Pick<MessagesInProgress, 'tell' | 'whenAppended'>
  readonly recorder: Pick<Recorder, 'outcome'>
  readonly held: HeldMessages
  /** Of the database, Unix milliseconds. */
  readonly nowMs: () => number
}

/**
 * How messages leave the submitter: nothing is left to submit, or they are loaded again when they are due. Their places in
 * the windows are free when that is in the journal, so that whatever begins next is behind it.
 */
export class Departures {
  readonly #options: DeparturesOptions

  constructor(options: DeparturesOptions) {
    this.#options = options
  }

  settle(dispatch: Dispatch, job: SubmitJob | null, ending: Ending): void {
    const { directory, held, inProgress, nowMs, recorder } = this.#options
    recorder.outcome(outcomeOf(dispatch, job, ending, { directory: directory(), nowMs: nowMs() }))
    inProgress.whenAppended(dispatch.msgId, () => held.delete(dispatch.msgId))
  }

  /** Jobs with a segment in flight follow when it is answered or lost. */
  giveBackIdle(jobs: readonly SubmitJob[]): void {
    for (const job of jobs) if (job.progress.isIdle) this.giveBack(job)
  }

  giveBack(job: SubmitJob): void {
    this.postponeJob(job, { delayMs: 0 })
  }

  putOff(job: SubmitJob, delayMs: number): void {
    this.postponeJob(job, { delayMs: withinValidity(job, delayMs, this.#options.nowMs()) })
  }

  /** Another node may own the message's bucket. With its carrier named, it comes back to a node that has that carrier. */
  postponeJob(job: SubmitJob, change: DispatchChange, attempt: Attempted | null = null): void {
    const { conditions, nowMs } = this.#options
    const chosenCarrierId = conditions.isAlone ? 0 : job.carrier.id
    const how = { wasTried: attempt !== null, nowMs: nowMs() }
    this.#leave(job.dispatch.msgId, postponementOfJob(job, { chosenCarrierId, ...change }, how), attempt)
  }

  postpone(dispatch: Dispatch, change: DispatchChange): void {
    this.#leave(dispatch.msgId, postponementOf(dispatch, change, this.#options.nowMs()), null)
  }

  #leave(msgId: string, postponed: Postponed, attempt: Attempted | null): void {
    const { held, inProgress } = this.#options
    const facts = attempt === null ? [postponed] : [attempt, postponed]
    // If its lane was lost, the message is in doubt or due at its new owner.
    if (!inProgress.tell(msgId, facts)) held.delete(msgId)
    else inProgress.whenAppended(msgId, () => held.leave(msgId))
  }
}
