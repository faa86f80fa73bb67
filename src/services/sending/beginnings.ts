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
 * Before a message is sent to a carrier the journal knows that it will be. So only what was begun is in doubt when its
 * node dies: as many messages as the windows have room for.
 *
 * Returns what says whether the head of a queue may be sent now. If not, it leaves the queue until the journal knows that
 * it is.
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
    // Those of one COMMIT go back together, so that they keep their order.
    if (begun.length === 0) queueMicrotask(resume)
    begun.push({ job, queue })
  }
  return (job, queue) => {
    const { msgId } = job.dispatch
    if (held.isBegun(msgId)) return true
    queue.begin(job)
    // One whose lane is lost is another node's, and not sent from here.
    inProgress.begin(msgId, (isBegun) => isBegun && done(job, queue))
    return false
  }
}
