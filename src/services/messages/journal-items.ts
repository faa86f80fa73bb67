import { isDeepStrictEqual } from 'node:util'
import { type EventHolder, NO_HOLDER } from '../../domain/events.ts'
import type {
  EventTaken,
  JournalFact,
  LaterFact,
  MessageState,
  Submitted,
} from '../../domain/journal/message-facts.ts'
import {
  type ChangedMessage,
  enteredBy,
  type MessageInProgress,
} from '../../domain/journal/messages-in-progress.ts'
import { isFinal } from '../../domain/messages/messages.ts'
import type { StateChange } from '../../domain/statistics/tallies.ts'
import type { Acceptance, KeptMessage } from '../../operations/sends/accept-messages.ts'
import type { DeliveryOutcome } from '../../outbound/webhook-post.ts'
import type { WebhookEvent } from '../../store/event-deliveries.ts'
import type { LoadedMessage, MessageKey } from '../../store/messages-at-rest.ts'
import type { SubmissionId } from '../../store/receipt-matches.ts'
import type { OwnedMessage } from './owned-messages.ts'

/** What is appended to the journal, who waits for it, and who is notified of its changes. */

/** What became of a message at its carrier, in the order of its facts. */
export interface OutcomeFacts extends MessageKey {
  readonly facts: readonly LaterFact[]
}

/** A fact on its way into the journal, and who waits for it. */
export interface JournalItem extends JournalFact {
  /** Null while the message is being accepted or loaded. */
  readonly owned: OwnedMessage | null
  /** The node that accepted or loaded the message. */
  readonly ownerNodeId: number
  readonly onAccepted: ((acceptance: Acceptance) => void) | null
  /** True when the fact is committed. False when its lane was lost before, or when the carrier must keep the receipt. */
  readonly onCommitted: ((committed: boolean) => void) | null
  /** Written into the message's record if the fact does not get into the journal. */
  readonly outcome: OutcomeFacts | null
  /** Called just before the fact is written. Returns false if it must not be. */
  readonly mayStore: (() => boolean) | null
}

/** Who waits for a fact, and what is written if it is not committed. */
export type Waiting = Pick<JournalItem, 'onAccepted' | 'onCommitted' | 'outcome' | 'mayStore'>

/** Those who act on the changes that facts of messages in progress make. */
export interface MessagesListeners {
  /** Returns who delivers the events of the next batch. */
  readonly eventHolder: () => EventHolder
  /** `holder`: the node that delivers their events from memory, by its id when they were written; null: none. */
  readonly onChanged: (messages: readonly ChangedMessage[], holder: number | null) => void
  /** A committed fact has changed a state, whether or not that is announced. */
  readonly onState: (change: StateChange) => void
  /** The rows of these segments are written: receipts that came before are looked up. */
  readonly onProjected: (submissions: readonly SubmissionId[]) => void
  /** The outcome is not in the journal, because its lane was lost. */
  readonly onOutcomeLost: (outcome: OutcomeFacts) => void
  /** These messages have left memory: they are in their records, or in a lane that was lost. */
  readonly onLeft: (msgIds: readonly string[]) => void
}

export const NOBODY: MessagesListeners = {
  eventHolder: () => NO_HOLDER,
  onChanged: () => undefined,
  onState: () => undefined,
  onProjected: () => undefined,
  onOutcomeLost: () => undefined,
  onLeft: () => undefined,
}

/** `owned`: null while the message is being accepted or loaded. */
export function journalItem(
  msgId: string,
  fact: JournalFact['fact'],
  { owned, ownerNodeId }: Pick<JournalItem, 'owned' | 'ownerNodeId'>,
  { onAccepted = null, onCommitted = null, outcome = null, mayStore = null }: Partial<Waiting> = {},
): JournalItem {
  return { msgId, fact, ownerNodeId, owned, onAccepted, onCommitted, outcome, mayStore }
}

export function acceptedItem(
  { msgId, owner: ownerNodeId, accepted, mayStore }: KeptMessage,
  onAccepted: JournalItem['onAccepted'],
): JournalItem {
  return journalItem(
    msgId,
    accepted,
    { owned: null, ownerNodeId },
    { onAccepted, mayStore: mayStore ?? null },
  )
}

export function loadedItem({ msgId, ...loaded }: LoadedMessage, ownerNodeId: number): JournalItem {
  return journalItem(msgId, { kind: 'loaded', ...loaded }, { owned: null, ownerNodeId })
}

/**
 * Whether somebody waits for the item to be committed. For a receiver's answer that is the next event of the message, which may be
 * in a fact that is not committed yet.
 */
export function isAwaited({ fact, owned }: JournalItem): boolean {
  return fact.kind !== 'event-taken' || owned!.pending > 1 || owned!.message.state.sequence > fact.sequence
}

/** Whether anything of the message is missing in its record, apart from what is left to be submitted. */
export function isNews({
  message: { loaded, state, submissions, attempts, receipts, events },
}: OwnedMessage): boolean {
  const isNew = (field: string) =>
    field !== 'dispatch' && state[field as keyof MessageState] !== loaded?.state[field as keyof MessageState]
  const isUnwritten = submissions.some(({ isRecorded }) => isRecorded !== true)
  return (
    isUnwritten || attempts.length + receipts.length + events.length > 0 || Object.keys(state).some(isNew)
  )
}

/** Whether no carrier can have the message, and nothing is known of it that its first fact does not say. */
export function isAsAccepted({ message }: OwnedMessage): boolean {
  const { msgId, accepted, loaded, submissions, attempts, receipts, state } = message
  if (loaded !== null || accepted.begun || submissions.length + attempts.length + receipts.length > 0)
    return false
  return isDeepStrictEqual(state, enteredBy(msgId, { ...accepted, kind: 'accepted' }).state)
}

/** A message that stays here: as if it had just been loaded from its record, or, without one, accepted (`isAsAccepted`). */
export function renewedItem(owned: OwnedMessage, isRecorded: boolean): JournalItem {
  const { msgId, accepted, loaded, state, events } = owned.message
  const by = { ownerNodeId: owned.ownerNodeId, owned }
  if (!isRecorded) return journalItem(msgId, { ...accepted, kind: 'accepted' }, by)
  const isWaiting =
    owned.delivers && events.some(({ sequence, taken }) => taken === null && sequence > owned.unpushed)
  const hasWaitingEvents = isWaiting || (loaded?.hasWaitingEvents ?? false)
  const fact = { kind: 'loaded', accepted, state, hasWaitingEvents } as const
  return journalItem(msgId, fact, by)
}

/** These items are not in the journal. Answers those who wait, and returns the outcomes to write into records instead. */
export function loseItems(items: readonly JournalItem[], uncertain: boolean): OutcomeFacts[] {
  for (const { onAccepted, onCommitted } of items) {
    onCommitted?.(false)
    onAccepted?.(uncertain ? 'uncertain' : 'lost')
  }
  return items.flatMap(({ outcome }) => outcome ?? [])
}

/** A first attempt that was answered 2xx. */
export function eventTakenFact(
  { event, destination }: { readonly event: WebhookEvent; readonly destination: string },
  { latencyMs, status, responseHead }: DeliveryOutcome,
  attemptedAtMs: number,
): EventTaken {
  return {
    kind: 'event-taken',
    sequence: event.sequence,
    attemptedAtMs,
    latencyMs,
    responseStatus: status,
    responseHead: responseHead === '' ? null : responseHead,
    destination,
  }
}

/** The ids under which receipts of the message still count. */
export function awaitedReceipts({ state, submissions }: MessageInProgress): SubmissionId[] {
  if (isFinal(state.status)) return []
  return submissions.map(submissionId)
}

export function submissionId({
  carrierId,
  carrierMessageId,
}: Pick<Submitted, 'carrierId' | 'carrierMessageId'>): SubmissionId {
  return { carrierId, carrierMessageId }
}
