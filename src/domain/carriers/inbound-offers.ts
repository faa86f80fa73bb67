/** Decides whether an inbound PDU is offered again, or is a second message with the same contents (ADR 17). */

/** What this node knows of an earlier PDU with the same contents. Times are of one monotonic clock. */
export interface EarlierOffer {
  readonly arrivedAtMs: number
  /** acknowledged: answered ESME_ROK; refused: the carrier was asked to keep it, or may have missed the answer; null: not answered. */
  readonly answer: 'acknowledged' | 'refused' | null
  /** When it was answered. */
  readonly answeredAtMs: number | null
  /** The session it came over. */
  readonly session: {
    /** The carrier sent its last octets no earlier than this. */
    readonly lastReceivedMs: number
    /** Why and when it ended; null while it has not. */
    readonly closed: { readonly code: string; readonly atMs: number } | null
  }
}

/**
 * No carrier waits less for an answer before it offers a message again. A person who sends the same text again may be
 * quicker, but then the first one was answered by that time.
 */
export const LEAST_TIMEOUT_MS = 5_000

/** A PDU that comes this long after an answer was written proves that its session works in both directions. */
export const CONFIRMED_AFTER_MS = 2_000

/**
 * Sessions are read one after the other, so the end of one may be read this long behind a PDU that came over another after it, and
 * before that PDU is judged.
 */
export const END_READ_WITHIN_MS = 1_000

/**
 * True when the carrier cannot have been satisfied with the answer to the earlier PDU by the time this one arrived: the
 * PDU was refused, the session ended before the answer is known to have arrived, or the answer was so late that the carrier
 * may have given up on it. An answer sent in time over a living session is read, since TCP loses nothing, so the same
 * contents are then a second message.
 */
export function isOfferedAgain(earlier: EarlierOffer, arrivedAtMs: number): boolean {
  if (isAnswerRead(earlier)) return false
  const { answer, answeredAtMs, session } = earlier
  if (session.closed !== null && session.closed.atMs <= arrivedAtMs + END_READ_WITHIN_MS) return true
  if (answer === 'refused' && answeredAtMs! <= arrivedAtMs) return true
  return Math.min(answeredAtMs ?? arrivedAtMs, arrivedAtMs) - earlier.arrivedAtMs >= LEAST_TIMEOUT_MS
}

/** It was acknowledged in time, and its session was heard from long enough afterwards, or was ended by our unbind. */
export function isAnswerRead(earlier: EarlierOffer): boolean {
  const { answer, answeredAtMs, session } = earlier
  if (answer !== 'acknowledged' || isAnsweredLate(earlier)) return false
  return session.lastReceivedMs - answeredAtMs! >= CONFIRMED_AFTER_MS || session.closed?.code === 'unbound'
}

/** The carrier may have given up on the answer, so later PDUs over its session do not prove that it was read. */
export function isAnsweredLate({ arrivedAtMs, answeredAtMs }: EarlierOffer): boolean {
  return answeredAtMs !== null && answeredAtMs - arrivedAtMs >= LEAST_TIMEOUT_MS
}
