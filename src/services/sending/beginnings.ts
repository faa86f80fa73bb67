import type { MessagesInProgress } from '../messages/messages-in-progress.ts'
import type { CarrierQueue } from './carrier-queue.ts'
import type { HeldMessages } from './held-messages.ts'
import type { SubmitJob } from './submit-job.ts'

export interface BeginningsOptions {
  readonly inProgress: Pick<MessagesInProgress, 'begin'>
  readonly held: HeldMessages
  readonly pump: (carrierId: number) => void
}

interface Begun {
  readonly job: SubmitJob
  readonly queue: CarrierQueue
}

/**
 * Before a message is sent to a carrier the journal knows that it will be. So only what was begun is in doubt when its
 * node dies: as many messages as the windows have room for.
 */
export class Beginnings {
  readonly #options: BeginningsOptions
  #begun: Begun[] = []

  constructor(options: BeginningsOptions) {
    this.#options = options
  }

  /** Whether the head of the queue may be sent now. If not, it leaves the queue until the journal knows that it is. */
  begin(job: SubmitJob, queue: CarrierQueue): boolean {
    const { held, inProgress } = this.#options
    const { msgId } = job.dispatch
    if (held.isBegun(msgId)) return true
    queue.begin(job)
    // One whose lane is lost is another node's, and not sent from here.
    inProgress.begin(msgId, (begun) => begun && this.#done({ job, queue }))
    return false
  }

  #done(begun: Begun): void {
    const { held } = this.#options
    if (held.jobOf(begun.job.dispatch.msgId) !== begun.job) return
    held.begin(begun.job.dispatch.msgId)
    // Those of one COMMIT go back together, so that they keep their order.
    if (this.#begun.length === 0) queueMicrotask(() => this.#resume())
    this.#begun.push(begun)
  }

  #resume(): void {
    const begun = Map.groupBy(this.#begun, ({ queue }) => queue)
    this.#begun = []
    for (const [queue, jobs] of begun) {
      queue.begun(jobs.map(({ job }) => job))
      this.#options.pump(jobs[0]!.job.carrier.id)
    }
  }
}
