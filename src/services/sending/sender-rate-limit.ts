import type { Dispatch } from '../../domain/journal/messages-in-progress.ts'
import type { SubmitJob } from './submit-job.ts'

interface Sender {
  /** When its next message may go. */
  nextMs: number
  readonly waiting: SubmitJob[]
  /** The job is back in the carrier's queue, to be sent now. */
  resumed: SubmitJob | null
  /** Messages are requeued with due times up to this one. */
  requeuedUntilMs: number
  timer: NodeJS.Timeout | null
}

export type Admission =
  | { readonly kind: 'go' }
  /** The job waits here, and returns to the queue in its turn. */
  | { readonly kind: 'waits' }
  /** Too many wait here already, so the message must wait in the database. */
  | { readonly kind: 'requeue'; readonly delayMs: number }

const GO: Admission = { kind: 'go' }
const WAITS: Admission = { kind: 'waits' }
/** How much lost time a sender may make up for. */
const CATCH_UP_MS = 100
/** Messages that wait here are sent within this time. The rest wait in the database. */
const WAITING_S = 2
/** Requeued messages are read again up to this late. */
const READ_LATE_MS = 1_000
/** With this many senders, idle ones are looked for. */
const SWEEP_AT = 10_000

/**
 * Holds each sender to its messages per second towards one carrier, in order and without holding up other senders. A sender is
 * one plan and sender, so two plans that use the same name do not slow each other.
 */
export class SenderRateLimit {
  readonly #intervalMs: number
  readonly #mostWaiting: number
  readonly #resume: (job: SubmitJob) => void
  readonly #senders = new Map<string, Sender>()
  #sweepAt = SWEEP_AT

  /** `resume` puts a job back into the carrier's queue, before those behind it. */
  constructor(messagesPerSecond: number, resume: (job: SubmitJob) => void) {
    this.#intervalMs = 1_000 / messagesPerSecond
    this.#mostWaiting = Math.ceil(messagesPerSecond * WAITING_S)
    this.#resume = resume
  }

  /**
   * Returns the delay of a new message if others of its sender wait in the database, because it must not overtake them;
   * otherwise null.
   */
  delayMs(dispatch: Dispatch, nowMs: number): number | null {
    const sender = this.#senders.get(keyOf(dispatch))
    if (sender === undefined || sender.requeuedUntilMs + READ_LATE_MS <= nowMs) return null
    return this.#requeueDelayMs(sender, dispatch.segments, nowMs)
  }

  /** Whether the job at the head of the carrier's queue may go. */
  admit(job: SubmitJob, nowMs: number): Admission {
    const sender = this.#senderOf(job, nowMs)
    if (sender.resumed === job) return GO
    if (sender.resumed === null && sender.waiting.length === 0 && sender.nextMs <= nowMs) return GO
    if (sender.waiting.length >= this.#mostWaiting)
      return { kind: 'requeue', delayMs: this.#requeueDelayMs(sender, job.text.pdus.length, nowMs) }
    sender.waiting.push(job)
    this.#arm(sender, nowMs)
    return WAITS
  }

  /** A job that was admitted is on its way. */
  sent(job: SubmitJob, nowMs: number): void {
    const sender = this.#senderOf(job, nowMs)
    sender.nextMs = Math.max(sender.nextMs, nowMs - CATCH_UP_MS) + this.#intervalMs * job.text.pdus.length
    this.left(job, nowMs)
  }

  /** A job has left the carrier's queue, sent or not. */
  left(job: SubmitJob, nowMs: number): void {
    const sender = this.#senders.get(keyOf(job.dispatch))
    if (sender === undefined) return
    if (sender.resumed === job) sender.resumed = null
    this.#arm(sender, nowMs)
  }

  /** Takes a waiting job out, if it is there. */
  remove(job: SubmitJob): void {
    const waiting = this.#senders.get(keyOf(job.dispatch))?.waiting ?? []
    const index = waiting.indexOf(job)
    if (index >= 0) waiting.splice(index, 1)
  }

  /** Takes everything out. */
  drain(): SubmitJob[] {
    const jobs: SubmitJob[] = []
    for (const sender of this.#senders.values()) {
      if (sender.timer !== null) clearTimeout(sender.timer)
      jobs.push(...sender.waiting)
    }
    this.#senders.clear()
    return jobs
  }

  /** Lets requeued messages become due one after the other. Returns the delay in milliseconds. */
  #requeueDelayMs(sender: Sender, segments: number, nowMs: number): number {
    const startMs = Math.max(sender.requeuedUntilMs, nowMs + sender.waiting.length * this.#intervalMs)
    sender.requeuedUntilMs = startMs + segments * this.#intervalMs
    return Math.ceil(startMs - nowMs)
  }

  #arm(sender: Sender, nowMs: number): void {
    if (sender.timer !== null || sender.resumed !== null || sender.waiting.length === 0) return
    sender.timer = setTimeout(
      () => {
        sender.timer = null
        sender.resumed = sender.waiting.shift() ?? null
        if (sender.resumed !== null) this.#resume(sender.resumed)
      },
      Math.max(sender.nextMs - nowMs, 0),
    )
  }

  #senderOf(job: SubmitJob, nowMs: number): Sender {
    const key = keyOf(job.dispatch)
    const known = this.#senders.get(key)
    if (known !== undefined) return known
    if (this.#senders.size >= this.#sweepAt) this.#sweep(nowMs)
    const sender: Sender = { nextMs: 0, waiting: [], resumed: null, requeuedUntilMs: 0, timer: null }
    this.#senders.set(key, sender)
    return sender
  }

  #sweep(nowMs: number): void {
    for (const [key, { nextMs, waiting, resumed, requeuedUntilMs }] of this.#senders) {
      const isIdle = waiting.length === 0 && resumed === null
      if (isIdle && nextMs <= nowMs && requeuedUntilMs + READ_LATE_MS <= nowMs) this.#senders.delete(key)
    }
    this.#sweepAt = Math.max(SWEEP_AT, 2 * this.#senders.size)
  }
}

function keyOf({ planId, sender }: Dispatch): string {
  return `${planId}:${sender}`
}
