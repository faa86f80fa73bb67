import { Throttle } from '../domain/throttles.ts'
import type { SubmitJob } from './submit-job.ts'

/** The queue of one carrier: what this node holds for it. */
export class CarrierQueue {
  readonly jobs: SubmitJob[] = []
  throttle = new Throttle(null, performance.now())
  timer: NodeJS.Timeout | null = null
  #messagesPerSecond: number | null = null

  /** A new rate; what was learned from throttled answers under the old one is forgotten. */
  limitTo(messagesPerSecond: number | null): void {
    if (messagesPerSecond === this.#messagesPerSecond) return
    this.#messagesPerSecond = messagesPerSecond
    this.throttle = new Throttle(messagesPerSecond, performance.now())
  }

  /** Takes a job out, if it is there. */
  remove(job: SubmitJob): void {
    const index = this.jobs.indexOf(job)
    if (index >= 0) this.jobs.splice(index, 1)
  }
}
