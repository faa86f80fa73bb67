import type { Dispatch } from '../../domain/dispatches.ts'
import type { SubmitJob } from './submit-job.ts'

interface Lane {
  /** When its next message may go. */
  nextMs: number
  readonly waiting: SubmitJob[]
  /** The job is back in the carrier's queue, to be sent now. */
  released: SubmitJob | null
  /** Messages are put off into the database until this time. */
  putOffUntilMs: number
  timer: NodeJS.Timeout | null
}

export type Admission =
  | { readonly kind: 'go' }
  /** The job waits here, and returns to the queue in its turn. */
  | { readonly kind: 'waits' }
  /** Too many wait here already, so the message must wait in the database. */
  | { readonly kind: 'put-off'; readonly delayMs: number }

const GO: Admission = { kind: 'go' }
const WAITS: Admission = { kind: 'waits' }
/** How much lost time a lane may make up for. */
const CATCH_UP_MS = 100
/** Messages that wait here are sent within this time. The rest wait in the database. */
const WAITING_S = 2
/** Messages that were put off are read again up to this late. */
const READ_LATE_MS = 1_000
/** With this many lanes, idle ones are looked for. */
const SWEEP_AT = 10_000

/**
 * Holds each sender to its messages per second towards one carrier, in order and without holding up other senders. A lane is
 * one plan and sender, so two plans that use the same name do not slow each other.
 */
export class SenderLanes {
  readonly #intervalMs: number
  readonly #mostWaiting: number
  readonly #release: (job: SubmitJob) => void
  readonly #lanes = new Map<string, Lane>()
  #sweepAt = SWEEP_AT

  /** `release` puts a job back into the carrier's queue, before those behind it. */
  constructor(messagesPerSecond: number, release: (job: SubmitJob) => void) {
    this.#intervalMs = 1_000 / messagesPerSecond
    this.#mostWaiting = Math.ceil(messagesPerSecond * WAITING_S)
    this.#release = release
  }

  /**
   * Returns the delay of a new message if others of its sender wait in the database, because it must not overtake them;
   * otherwise null.
   */
  delayMs(dispatch: Dispatch, nowMs: number): number | null {
    const lane = this.#lanes.get(keyOf(dispatch))
    if (lane === undefined || lane.putOffUntilMs + READ_LATE_MS <= nowMs) return null
    return this.#putOff(lane, dispatch.segments, nowMs)
  }

  /** Whether the job at the head of the carrier's queue may go. */
  admit(job: SubmitJob, nowMs: number): Admission {
    const lane = this.#laneOf(job, nowMs)
    if (lane.released === job) return GO
    if (lane.released === null && lane.waiting.length === 0 && lane.nextMs <= nowMs) return GO
    if (lane.waiting.length >= this.#mostWaiting)
      return { kind: 'put-off', delayMs: this.#putOff(lane, job.text.pdus.length, nowMs) }
    lane.waiting.push(job)
    this.#arm(lane, nowMs)
    return WAITS
  }

  /** A job that was admitted is on its way. */
  sent(job: SubmitJob, nowMs: number): void {
    const lane = this.#laneOf(job, nowMs)
    lane.nextMs = Math.max(lane.nextMs, nowMs - CATCH_UP_MS) + this.#intervalMs * job.text.pdus.length
    this.left(job, nowMs)
  }

  /** A job has left the carrier's queue, sent or not. */
  left(job: SubmitJob, nowMs: number): void {
    const lane = this.#lanes.get(keyOf(job.dispatch))
    if (lane === undefined) return
    if (lane.released === job) lane.released = null
    this.#arm(lane, nowMs)
  }

  /** Takes a waiting job out, if it is there. */
  remove(job: SubmitJob): void {
    const waiting = this.#lanes.get(keyOf(job.dispatch))?.waiting ?? []
    const index = waiting.indexOf(job)
    if (index >= 0) waiting.splice(index, 1)
  }

  /** Takes everything out. */
  drain(): SubmitJob[] {
    const jobs: SubmitJob[] = []
    for (const lane of this.#lanes.values()) {
      if (lane.timer !== null) clearTimeout(lane.timer)
      jobs.push(...lane.waiting)
    }
    this.#lanes.clear()
    return jobs
  }

  /** Puts messages off one after the other. Returns the delay in milliseconds. */
  #putOff(lane: Lane, segments: number, nowMs: number): number {
    const startMs = Math.max(lane.putOffUntilMs, nowMs + lane.waiting.length * this.#intervalMs)
    lane.putOffUntilMs = startMs + segments * this.#intervalMs
    return Math.ceil(startMs - nowMs)
  }

  #arm(lane: Lane, nowMs: number): void {
    if (lane.timer !== null || lane.released !== null || lane.waiting.length === 0) return
    lane.timer = setTimeout(
      () => {
        lane.timer = null
        lane.released = lane.waiting.shift() ?? null
        if (lane.released !== null) this.#release(lane.released)
      },
      Math.max(lane.nextMs - nowMs, 0),
    )
  }

  #laneOf(job: SubmitJob, nowMs: number): Lane {
    const key = keyOf(job.dispatch)
    const known = this.#lanes.get(key)
    if (known !== undefined) return known
    if (this.#lanes.size >= this.#sweepAt) this.#sweep(nowMs)
    const lane: Lane = { nextMs: 0, waiting: [], released: null, putOffUntilMs: 0, timer: null }
    this.#lanes.set(key, lane)
    return lane
  }

  #sweep(nowMs: number): void {
    for (const [key, { nextMs, waiting, released, putOffUntilMs }] of this.#lanes) {
      const isIdle = waiting.length === 0 && released === null
      if (isIdle && nextMs <= nowMs && putOffUntilMs + READ_LATE_MS <= nowMs) this.#lanes.delete(key)
    }
    this.#sweepAt = Math.max(SWEEP_AT, 2 * this.#lanes.size)
  }
}

function keyOf({ planId, sender }: Dispatch): string {
  return `${planId}:${sender}`
}
