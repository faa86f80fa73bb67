import type { SessionSettings } from './session-options.ts'

/** The times that the timers of a session keep. */
export type TimerLimits = Pick<
  SessionSettings,
  | 'bindTimeoutMs'
  | 'enquireLinkIntervalMs'
  | 'enquireLinkTimeoutMs'
  | 'confirmAnswersMs'
  | 'pduReadTimeoutMs'
  | 'stallTimeoutMs'
  | 'unbindTimeoutMs'
>

type TimerEvent =
  | 'bind_timeout'
  | 'enquire_link'
  | 'confirm_answers'
  | 'enquire_link_timeout'
  | 'pdu_read_timeout'
  | 'write_timeout'
  | 'inbound_stalled'
  | 'send_unbind'
  | 'unbind_timeout'

/**
 * The session's timers as a value: times are noted as things happen, and `due` says what is due at a given time. Null
 * means not running. Reads no clock; all times are in milliseconds of one monotonic clock.
 */
export class SessionTimers {
  readonly #limits: TimerLimits
  #bindSinceMs: number | null = null
  #lastReceivedMs: number | null = null
  #enquiredMs: number | null = null
  /** When we last answered; null when the peer was heard from long enough after it. */
  #answeredMs: number | null = null
  #isConfirming = false
  #partialSinceMs: number | null = null
  #pausedSinceMs: number | null = null
  #pausedByOutput = false
  #unbindDueMs: number | null = null
  #unbindSentMs: number | null = null

  constructor(limits: TimerLimits) {
    this.#limits = limits
  }

  opened(nowMs: number): void {
    this.#bindSinceMs = nowMs
    this.#lastReceivedMs = nowMs
  }

  bound(): void {
    this.#bindSinceMs = null
  }

  /**
   * Call after each chunk. `partial`: an incomplete PDU is left over; `completed`: at least one PDU ended in the chunk.
   * The peer sent it no earlier than `sentMs`.
   */
  received(nowMs: number, partial: boolean, completed: boolean, sentMs: number = nowMs): void {
    this.#lastReceivedMs = nowMs
    if (sentMs - (this.#answeredMs ?? sentMs) >= this.#limits.confirmAnswersMs) this.#answeredMs = null
    if (!partial) this.#partialSinceMs = null
    else if (completed || this.#partialSinceMs === null) this.#partialSinceMs = nowMs
  }

  enquired(nowMs: number): void {
    this.#enquiredMs = nowMs
  }

  /** A request of the peer was answered. */
  answered(nowMs: number): void {
    this.#answeredMs = nowMs
  }

  /** Sent an enquire_link without a time limit: a peer that leaves it unanswered may still send. */
  confirmationSent(): void {
    this.#answeredMs = null
    this.#isConfirming = true
  }

  enquiryAnswered(): void {
    this.#enquiredMs = null
    this.#isConfirming = false
  }

  /** While we do not read, silence says nothing about the peer: only the stall is timed. */
  readingPaused(nowMs: number, byOutput: boolean): void {
    this.#pausedSinceMs ??= nowMs
    this.#pausedByOutput = byOutput
  }

  /** The peer's time limits start over. */
  readingResumed(nowMs: number): void {
    this.#pausedSinceMs = null
    this.#lastReceivedMs = nowMs
    if (this.#enquiredMs !== null) this.#enquiredMs = nowMs
    if (this.#partialSinceMs !== null) this.#partialSinceMs = nowMs
  }

  /** Requests in flight have until `dueMs`, or until the time of an earlier call if that is sooner. */
  unbindRequested(dueMs: number): void {
    this.#unbindDueMs = Math.min(dueMs, this.#unbindDueMs ?? dueMs)
  }

  unbindSent(nowMs: number): void {
    this.#unbindSentMs = nowMs
  }

  /** The most urgent event due at `nowMs`; null when none is. */
  due(nowMs: number): TimerEvent | null {
    const limits = this.#limits
    const over = (sinceMs: number | null, limitMs: number) => sinceMs !== null && nowMs - sinceMs >= limitMs
    if (over(this.#unbindSentMs, limits.unbindTimeoutMs)) return 'unbind_timeout'
    if (this.#unbindSentMs === null && over(this.#unbindDueMs, 0)) return 'send_unbind'
    if (this.#pausedSinceMs !== null) {
      if (!over(this.#pausedSinceMs, limits.stallTimeoutMs)) return null
      return this.#pausedByOutput ? 'write_timeout' : 'inbound_stalled'
    }
    if (over(this.#bindSinceMs, limits.bindTimeoutMs)) return 'bind_timeout'
    if (over(this.#partialSinceMs, limits.pduReadTimeoutMs)) return 'pdu_read_timeout'
    if (over(this.#enquiredMs, limits.enquireLinkTimeoutMs)) return 'enquire_link_timeout'
    if (this.#bindSinceMs !== null || this.#enquiredMs !== null || this.#unbindSentMs !== null) return null
    if (over(this.#lastReceivedMs, limits.enquireLinkIntervalMs)) return 'enquire_link'
    return !this.#isConfirming && over(this.#answeredMs, limits.confirmAnswersMs) ? 'confirm_answers' : null
  }
}
