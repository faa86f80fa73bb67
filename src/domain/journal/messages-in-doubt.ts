/**
 * Messages in doubt: a submit of theirs was not answered, so a carrier may have the message under an id that nobody knows. Only
 * its addresses can tell whose receipt with such an id is.
 */
import { lowBits } from '../../collections/bits.ts'
import { createdAtMs } from '../identifiers.ts'
import { dialledDigits, senderInReceipt } from '../messages/addresses.ts'
import type { MessageState } from './message-facts.ts'
import type { MessageInProgress } from './messages-in-progress.ts'

/** errorCode of a message that ended in doubt. */
export const IN_DOUBT_CODE = '103'

/** An attempt that was not answered, with the addresses as a receipt of it has them. */
export interface UnansweredSubmit {
  readonly planId: number
  readonly msgId: string
  readonly recipient: string
  readonly sender: string
  /** Null: its node died, and nobody else knows the carrier. */
  readonly carrierId: number | null
  /** It was not sent before. */
  readonly sentAtMs: number
}

/** Those among the attempts since the message was accepted or taken out of its record. */
export function unansweredSubmits({ msgId, accepted, attempts }: MessageInProgress): UnansweredSubmit[] {
  return attempts
    .filter(({ outcome }) => outcome === 'no-answer')
    .map(({ carrierId, atMs }) => ({
      planId: accepted.planId,
      msgId,
      recipient: dialledDigits(accepted.recipient),
      sender: senderInReceipt(accepted.sender),
      carrierId,
      // The attempt of a node that died has the time at which that was found out.
      sentAtMs: carrierId === null ? createdAtMs(msgId) : atMs,
    }))
}

/**
 * The segments of a message at rest that a receipt with an unknown id can only be about; bit n: segment n. None if the
 * message is not in doubt, or several of its PDUs may be at the carrier. `isWhole`: the carrier takes all segments in one PDU.
 */
export function segmentsInDoubt(state: MessageState, isWhole: boolean): bigint {
  const { status, errorCode, sentAtMs, segments, dispatch } = state
  const all = lowBits(segments)
  const isOne = segments === 1 || isWhole
  if (dispatch === null) {
    const hasEndedSo = status === 'UNKNOWN' && errorCode === IN_DOUBT_CODE && sentAtMs === null
    return hasEndedSo && isOne ? all : 0n
  }
  // The segments of a message that has started over may be fewer or more than its state says.
  if (status !== 'QUEUED' || !dispatch.ambiguous || dispatch.startedOver) return 0n
  if (isOne) return dispatch.acceptedPduBits === 0n ? all : 0n
  const left = all & ~dispatch.acceptedPduBits
  return (left & (left - 1n)) === 0n ? left : 0n
}
