import type { EventHolder } from '../../domain/events.ts'
import type { ChangedMessage } from '../../domain/messages-in-progress.ts'
import type { SubmissionId } from '../../store/receipts.ts'
import type { Outcome } from './journal-items.ts'

/** Those who act on what the facts of messages in progress change. */
export interface MessagesListeners {
  /** Returns who delivers the events of the next batch. */
  readonly eventHolder: () => EventHolder
  /** `holder`: the node that delivers their events from memory, by its id when they were written; null: none. */
  readonly onChanged: (messages: readonly ChangedMessage[], holder: number | null) => void
  /** The rows of these segments are written: receipts that came before are looked up. */
  readonly onProjected: (submissions: readonly SubmissionId[]) => void
  /** The outcome is not in the journal, because its lane was lost. */
  readonly onOutcomeLost: (outcome: Outcome) => void
  /** These messages have left memory: they are in their records, or in a lane that was lost. */
  readonly onLeft: (msgIds: readonly string[]) => void
}

export const NOBODY: MessagesListeners = {
  eventHolder: () => ({ holder: null, buckets: [] }),
  onChanged: () => undefined,
  onProjected: () => undefined,
  onOutcomeLost: () => undefined,
  onLeft: () => undefined,
}
