import type { MessagesInProgress } from '../messages/messages-in-progress.ts'
import type { Pumping } from './carrier-pump.ts'
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
 * The journal knows that a message will be sent before a carrier can have it. So when a node dies, only begun messages are in
 * doubt: as many as the windows have room for.
 *
 * Returns a function that says whether the head of a queue may be sent now. If not, the job leaves the queue until its
 * `begun` is committed.
 */
export function beginnings({ held, inProgress, pump }: BeginningsOptions): Pumping['begin'] {
  let begun: Begun[] = []
  const resume = () => {
    const byQueue = Map.groupBy(begun, ({ queue }) => queue)
    begun = []
    for (const [queue, jobs] of byQueue) {
      queue.begun(jobs.map(({ job }) => job))
      pump(jobs[0]!.job.carrier.id)
    }
  }
  const done = (job: SubmitJob, queue: CarrierQueue) => {
    const { msgId } = job.dispatch
    if (held.jobOf(msgId) !== job) return
    held.begin(msgId)
    // Jobs of one COMMIT go back together, to keep their order.
    if (begun.length === 0) queueMicrotask(resume)
    begun.push({ job, queue })
  }
  return (job, queue) => {
    const { msgId } = job.dispatch
    if (held.isBegun(msgId)) return true
    queue.begin(job)
    // If its lane was lost, the message is another node's and is not sent from here.
    inProgress.begin(msgId, (isBegun) => isBegun && done(job, queue))
    return false
  }
}
