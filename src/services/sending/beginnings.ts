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
 * Returns a function that lets the head of a queue begin: the job is sent when its `begun` is committed.
 *
 * So the journal knows that a message will be sent before a carrier can have it. A place in a window is free again when the
 * message's outcome is appended to the journal, and the next `begun` is appended behind it. A crash leaves the beginning of
 * the lane, and what has begun there without an outcome never exceeds the windows, however slow the COMMITs are.
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
    held.committed(msgId)
    // Jobs of one COMMIT go back together, to keep their order.
    if (begun.length === 0) queueMicrotask(resume)
    begun.push({ job, queue })
  }
  return (job, queue) => {
    const { msgId } = job.dispatch
    queue.begin(job, performance.now())
    held.begin(msgId, job.carrier.id, job.text.pdus.length)
    // If its lane was lost, the message is another node's and is not sent from here.
    inProgress.begin(msgId, (isBegun) => isBegun && done(job, queue))
  }
}
