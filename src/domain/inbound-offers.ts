/** Whether an inbound PDU is one that its carrier offers again, or a second message with the same contents (ADR 17). */

/** What this node knows of a PDU with the same contents that came before. Times are of one monotonic clock. */
export interface EarlierOffer {
  readonly arrivedAtMs: number
  /** taken: answered ESME_ROK; refused: the carrier was asked to keep it; null: not answered yet. */
  readonly answer: 'taken' | 'refused' | null
  /** When it was answered. */
  readonly answeredAtMs: number | null
  /** The session it came over is not over. */
  readonly linkLives: boolean
}

/** No carrier gives up on an answer sooner; one that a person sends again comes sooner only while the answer is quick. */
export const LEAST_TIMEOUT_MS = 5_000

/** A PDU that comes this long after an answer was written proves that its link works in both directions. */
export const CONFIRMED_AFTER_MS = 2_000

/**
 * True when the carrier cannot have been satisfied with the answer to the earlier PDU: it was refused, the link ended before
 * the answer is known to have arrived, or the answer came so late that the carrier may have given up on it. An answer in
 * time over a link that lives is read, since TCP loses nothing: the same contents are then a second message.
 */
export function isOfferedAgain(earlier: EarlierOffer, arrivedAtMs: number): boolean {
  if (earlier.answer === 'refused' || !earlier.linkLives) return true
  const answeredAtMs = earlier.answeredAtMs ?? arrivedAtMs
  return answeredAtMs - earlier.arrivedAtMs >= LEAST_TIMEOUT_MS
}
