import type { Status } from './message-states.ts'
import type { MessageInProgress } from './messages-in-progress.ts'

/** A message to be submitted, with everything the submitter needs. */
export interface Dispatch {
  readonly planId: number
  readonly msgId: string
  readonly sender: string
  readonly recipient: string
  readonly body: string
  readonly segments: number
  /** Submit attempts so far that count against a limit. */
  readonly attempt: number
  /** Bit n: the carrier has accepted segment n. */
  readonly submittedSegments: bigint
  /** How these were cut; null where there are none. */
  readonly cut: string | null
  /** Parts of it were sent again, cut otherwise. */
  readonly startedOver: boolean
  /** Bit n: segment n is delivered. */
  readonly deliveredSegments: bigint
  /** QUEUED, unless a receipt was quicker than the answer. */
  readonly status: Status
  /** It may have reached the carrier in an earlier attempt. */
  readonly ambiguous: boolean
  /** Carrier of the last attempt: the one that has the submitted segments. */
  readonly carrierId: number | null
  /** The recipient wants nothing more from this sender: never to be submitted. */
  readonly optedOut: boolean
  /** Unix milliseconds. */
  readonly expiresAtMs: number
}

/** What is left to be submitted of a message; null: its submission has ended. */
export function dispatchOf({ msgId, accepted, state }: MessageInProgress): Dispatch | null {
  const { submission } = state
  if (submission === null) return null
  return {
    planId: accepted.planId,
    msgId,
    sender: accepted.sender,
    recipient: accepted.recipient,
    body: accepted.body,
    segments: state.segments,
    attempt: submission.attempt,
    submittedSegments: submission.acceptedParts,
    cut: submission.cut,
    startedOver: submission.startedOver,
    deliveredSegments: state.deliveredSegments,
    status: state.status,
    ambiguous: submission.ambiguous,
    carrierId: submission.carrierId,
    optedOut: accepted.optedOut,
    expiresAtMs: accepted.expiresAtMs,
  }
}
