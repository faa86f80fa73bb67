import type { EventHolder } from '../../domain/events.ts'
import type { ChangedMessage } from '../../domain/messages-in-progress.ts'
import type { SubmissionId } from '../../store/receipts.ts'
import type { Outcome } from './recorded-facts.ts'

/** Who takes what follows from the facts of messages in progress. */
export interface MessagesListeners {
  /** Who delivers the events of the next batch. */
  readonly eventHolder: () => EventHolder
  readonly onChanged: (messages: readonly ChangedMessage[]) => void
  /** Segments of these have their rows now: receipts that came before are looked for. */
  readonly onProjected: (submissions: readonly SubmissionId[]) => void
  /** Not in the journal, whose lane was lost. */
  readonly onReturned: (outcome: Outcome) => void
  /** These are not here any more: they are in their records, or in a lane that was lost. */
  readonly onLeft: (msgIds: readonly string[]) => void
}

export const NOBODY: MessagesListeners = {
  eventHolder: () => ({ holder: null, buckets: [] }),
  onChanged: () => undefined,
  onProjected: () => undefined,
  onReturned: () => undefined,
  onLeft: () => undefined,
}
