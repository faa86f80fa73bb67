import { BackOffs } from '../../domain/back-offs.ts'
import type { HeldCause } from '../../domain/backlog.ts'
import { FairQueue } from '../../domain/fair-queue.ts'
import { Throttle } from '../../domain/throttles.ts'
import type { CarrierRates } from '../links/carrier-links.ts'
import { SenderLanes } from './sender-lanes.ts'
import type { SubmitJob } from './submit-job.ts'

/** Recipients that one carrier has no room for (ESME_RMSGQFUL). */
const MAX_BACK_OFFS = 10_000
/** What waits longer than this for a carrier that throttles goes to another. */
const LONG_WAIT_S = 5

/** What this node holds for one carrier: plans take turns, senders keep to their rate, full destinations wait. */
export class CarrierQueue {
  readonly backOffs = new BackOffs(MAX_BACK_OFFS)
  throttle = new Throttle(null, performance.now())
  readonly #jobs = new FairQueue<SubmitJob>()
  readonly #pump: () => void
  #lanes: SenderLanes | null = null
  #messagesPerSecond: number | null = null
  #senderMessagesPerSecond: number | null = null
  #timer: NodeJS.Timeout | null = null
  /** They are to be sent as soon as the database knows it. */
  readonly #beginning = new Set<SubmitJob>()
  /** Segments of the head that were sent. */
  #spent = 0

  /** `pump` sends what can be sent. */
  constructor(pump: () => void) {
    this.#pump = pump
  }

  get size(): number {
    return this.#jobs.size
  }

  /** It throttles, and what is queued takes it long. */
  get isCongested(): boolean {
    return this.throttle.isCut && this.#jobs.size > LONG_WAIT_S * this.throttle.ratePerS
  }

  /** Why the job is not sent now. */
  causeOf(job: SubmitJob): HeldCause {
    if (!job.progress.isIdle) return 'in-flight'
    if (this.#beginning.has(job)) return 'queued'
    if (!this.#jobs.has(job)) return 'sender-rate'
    return this.throttle.isCut ? 'throttled' : 'queued'
  }

  /** Until then nothing is sent. */
  get isPaused(): boolean {
    return this.#timer !== null
  }

  get lanes(): SenderLanes | null {
    return this.#lanes
  }

  /** New rates; what was learned from throttled answers under the old one is forgotten. */
  follow({ messagesPerSecond, senderMessagesPerSecond }: CarrierRates): void {
    if (messagesPerSecond !== this.#messagesPerSecond) {
      this.#messagesPerSecond = messagesPerSecond
      this.throttle = new Throttle(messagesPerSecond, performance.now())
    }
    if (senderMessagesPerSecond === this.#senderMessagesPerSecond) return
    this.#senderMessagesPerSecond = senderMessagesPerSecond
    const waiting = this.#lanes?.drain() ?? []
    const release = (job: SubmitJob) => {
      this.resume(job)
      this.#pump()
    }
    this.#lanes = senderMessagesPerSecond === null ? null : new SenderLanes(senderMessagesPerSecond, release)
    for (const job of waiting.reverse()) this.#jobs.pushFront(job.dispatch.planId, job)
  }

  push(job: SubmitJob): void {
    this.#jobs.push(job.dispatch.planId, job)
  }

  /** Back to the front of its plan's messages; one that is being sent keeps its place. */
  resume(job: SubmitJob): void {
    if (!this.#jobs.has(job)) this.#jobs.pushFront(job.dispatch.planId, job)
  }

  head(): SubmitJob | null {
    return this.#jobs.peek()
  }

  /** A segment of the head is on its way. */
  sent(job: SubmitJob, nowMs: number): void {
    this.throttle.sent(nowMs)
    this.#spent += 1
    if (job.startedAtMs === null) this.#lanes?.sent(job, nowMs)
  }

  /** All of the head was sent that is to be sent. */
  takeHead(): void {
    this.#jobs.take(this.#spent)
    this.#spent = 0
  }

  /** Takes a job out, wherever it is. */
  remove(job: SubmitJob): void {
    if (this.#jobs.peek() === job) this.takeHead()
    else this.#jobs.remove(job)
    this.#beginning.delete(job)
    this.#lanes?.remove(job)
    this.#lanes?.left(job, performance.now())
  }

  get beginning(): number {
    return this.#beginning.size
  }

  /** The head waits until the database knows that it is sent. */
  begin(job: SubmitJob): void {
    this.#jobs.remove(job)
    this.#beginning.add(job)
  }

  /** The database knows it of these, in their order. Those that were taken out meanwhile stay out. */
  begun(jobs: readonly SubmitJob[]): void {
    for (const job of jobs.toReversed()) if (this.#beginning.delete(job)) this.resume(job)
  }

  /** The head waits behind others of its sender. */
  stepAside(job: SubmitJob): void {
    this.#jobs.remove(job)
  }

  /** Takes everything out. */
  drain(): SubmitJob[] {
    const beginning = [...this.#beginning]
    this.#beginning.clear()
    return [...beginning, ...this.#jobs.drain(), ...(this.#lanes?.drain() ?? [])]
  }

  pauseFor(waitMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#pump()
    }, waitMs)
  }

  stop(): SubmitJob[] {
    if (this.#timer !== null) clearTimeout(this.#timer)
    return this.drain()
  }
}
