import type { Accepted } from './journal-entries.ts'
import type { MessageState, OpenSubmission } from './message-facts.ts'
import type { MessageInProgress } from './messages-in-progress.ts'

/** A message to be submitted, with everything the submitter needs. */
export interface Dispatch
  extends Pick<Accepted, 'planId' | 'sender' | 'recipient' | 'body' | 'optedOut' | 'expiresAtMs'>,
    Pick<MessageState, 'status' | 'segments' | 'deliveredSegments'>,
    Omit<OpenSubmission, 'begun' | 'dueAtMs' | 'routeId' | 'chosenCarrierId'> {
  readonly msgId: string
}

/** What is left to be submitted of a message; null when its submission has ended. */
export function dispatchOf({ msgId, accepted, state }: MessageInProgress): Dispatch | null {
  const { planId, sender, recipient, body, optedOut, expiresAtMs } = accepted
  const { status, segments, deliveredSegments, submission } = state
  if (submission === null) return null
  const { attempt, carrierId, acceptedParts, cut, startedOver, ambiguous } = submission
  // Written out, because this runs for every message and composing it from other objects takes 0.4 µs more.
  return {
    msgId,
    planId,
    sender,
    recipient,
    body,
    optedOut,
    expiresAtMs,
    status,
    segments,
    deliveredSegments,
    attempt,
    carrierId,
    acceptedParts,
    cut,
    startedOver,
    ambiguous,
  }
}
