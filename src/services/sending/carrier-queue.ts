import { FairQueue } from '../../collections/fair-queue.ts'
import type { HeldCause } from '../../domain/backlog.ts'
import { BackOffs } from '../../domain/carriers/retries.ts'
import { CarrierThrottle } from '../../domain/carriers/throttle.ts'
import type { CarrierReport } from '../../domain/nodes.ts'
import type { CarrierRateLimits } from '../links/carrier-links.ts'
import { SenderRateLimit } from './sender-rate-limit.ts'
import type { SubmitJob } from './submit-job.ts'

type CarrierTraffic = Pick<CarrierReport, 'queued' | 'sentLastSecond' | 'measuredRate'>

/** At most this many recipients are backed off from, because the carrier has no room for them (ESME_RMSGQFUL). */
const MAX_BACK_OFFS = 10_000
/** A message that would wait longer than this for a throttling carrier goes to another. */
const LONG_WAIT_S = 5

/** The messages this node holds for one carrier. Plans take turns, senders keep to their rate limit, full recipients wait. */
export class CarrierQueue {
  readonly backOffs = new BackOffs(MAX_BACK_OFFS)
  throttle = new CarrierThrottle(null, performance.now())
  readonly #jobs = new FairQueue<SubmitJob>()
  readonly #pump: () => void
  #senderRateLimit: SenderRateLimit | null = null
  #messagesPerSecond: number | null = null
  #senderMessagesPerSecond: number | null = null
  #timer: NodeJS.Timeout | null = null
  /** Jobs whose `begun` is being committed. */
  readonly #beginning = new Set<SubmitJob>()
  /** Jobs that have begun, and are sent before all others: `hasEnoughBegun` keeps them few. */
  readonly #begun: SubmitJob[] = []
  #isPumpDue = false

  /** `pump` sends what can be sent. */
  constructor(pump: () => void) {
    this.#pump = pump
  }

  /** The carrier throttles, and would need long for the queued messages. */
  get isCongested(): boolean {
    return this.throttle.isReduced && this.#jobs.size > LONG_WAIT_S * this.throttle.ratePerS
  }

  /** What an operator sees of it. Messages that wait for their sender's rate limit are not among the queued. */
  report(): CarrierTraffic {
    const { throttle } = this
    return {
      queued: this.#jobs.size + this.#beginning.size + this.#begun.length,
      sentLastSecond: Math.round(throttle.sentLastSecond(performance.now())),
      measuredRate: throttle.isReduced ? Math.round(throttle.ratePerS) : null,
    }
  }

  /** Why the job is not sent now. `throttled`: the carrier throttles at all; its condition is so only when `isCongested`. */
  causeOf(job: SubmitJob): HeldCause {
    if (!job.progress.isIdle) return 'in-flight'
    if (this.#beginning.has(job)) return 'queued'
    if (!this.#jobs.has(job) && !this.#begun.includes(job)) return 'sender-rate'
    return this.throttle.isReduced ? 'throttled' : 'queued'
  }

  /** Nothing is sent until the pause ends. */
  get isPaused(): boolean {
    return this.#timer !== null
  }

  /** PDUs of new messages that would be sent at once. */
  get burst(): number {
    const isIdle = this.#jobs.size === 0 && this.#timer === null && this.#senderRateLimit === null
    return isIdle ? this.throttle.burst : 0
  }

  get senderRateLimit(): SenderRateLimit | null {
    return this.#senderRateLimit
  }

  /** Adopts new rate limits. A new one of the carrier discards what throttled answers have taught about the old one. */
  adopt({ messagesPerSecond, senderMessagesPerSecond }: CarrierRateLimits): void {
    if (messagesPerSecond !== this.#messagesPerSecond) {
      this.#messagesPerSecond = messagesPerSecond
      this.throttle = new CarrierThrottle(messagesPerSecond, performance.now())
    }
    if (senderMessagesPerSecond === this.#senderMessagesPerSecond) return
    this.#senderMessagesPerSecond = senderMessagesPerSecond
    const waiting = this.#senderRateLimit?.drain() ?? []
    const resume = (job: SubmitJob) => {
      this.#jobs.pushFront(job.dispatch.planId, job)
      this.#pump()
    }
    this.#senderRateLimit =
      senderMessagesPerSecond === null ? null : new SenderRateLimit(senderMessagesPerSecond, resume)
    for (const job of waiting.reverse()) this.#jobs.pushFront(job.dispatch.planId, job)
  }

  push(job: SubmitJob, hasBegun = false): void {
    if (hasBegun) this.#begun.push(job)
    else this.#jobs.push(job.dispatch.planId, job)
  }

  /** The job whose turn it is to begin. */
  head(): SubmitJob | null {
    return this.#jobs.peek()
  }

  /** The head waits for the COMMIT of its `begun`. Its PDUs count against its plan's turn. */
  begin(job: SubmitJob, nowMs: number): void {
    this.#jobs.take(job.text.pdus.length)
    this.#beginning.add(job)
    this.#senderRateLimit?.sent(job, nowMs)
  }

  get beginning(): number {
    return this.#beginning.size
  }

  /** Whether as many PDUs have begun as the carrier's rate limit sends at once. Any more would overtake the other plans' next messages. */
  get hasEnoughBegun(): boolean {
    const { burst } = this.throttle
    if (burst === Number.POSITIVE_INFINITY) return false
    let pdus = 0
    for (const { text } of [...this.#beginning, ...this.#begun]) pdus += text.pdus.length
    return pdus >= burst
  }

  /** The job's `begun` is committed. Jobs of one COMMIT are sent together. One that was taken out meanwhile stays out. */
  beginCommitted(job: SubmitJob): void {
    if (!this.#beginning.delete(job)) return
    this.#begun.push(job)
    if (this.#isPumpDue) return
    this.#isPumpDue = true
    queueMicrotask(() => {
      this.#isPumpDue = false
      this.#pump()
    })
  }

  /** Puts a job that has begun before the others. A job that is being sent keeps its place. */
  resume(job: SubmitJob): void {
    if (!this.#begun.includes(job)) this.#begun.unshift(job)
  }

  /** The job to be sent next, with all its segments. */
  next(): SubmitJob | null {
    return this.#begun[0] ?? null
  }

  /** Takes a job out, wherever it is. */
  remove(job: SubmitJob): void {
    const index = this.#begun.indexOf(job)
    if (index >= 0) this.#begun.splice(index, 1)
    this.#jobs.remove(job)
    this.#beginning.delete(job)
    this.#senderRateLimit?.remove(job)
    this.#senderRateLimit?.left(job, performance.now())
  }

  /** The head waits behind others of its sender. */
  stepAside(job: SubmitJob): void {
    this.#jobs.remove(job)
  }

  /** Takes everything out. */
  drain(): SubmitJob[] {
    const first = [...this.#begun.splice(0), ...this.#beginning]
    this.#beginning.clear()
    return [...first, ...this.#jobs.drain(), ...(this.#senderRateLimit?.drain() ?? [])]
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
