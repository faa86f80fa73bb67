import type { Accepted } from '../../domain/journal/message-facts.ts'
import { type MessageInProgress, MessagesByPlan } from '../../domain/journal/messages-in-progress.ts'
import type { SubmissionId } from '../../store/receipt-matches.ts'

/** A message in this process's memory. */
export interface OwnedMessage {
  message: MessageInProgress
  /** The node that accepted or loaded it: this process, possibly under a node id whose lease it has lost since. */
  readonly ownerNodeId: number
  /** The entry with which it begins in the journal. */
  entry: number
  /** When that entry was committed, by the monotonic clock. */
  sinceMs: number
  /** How many of its facts are not committed yet. */
  pending: number
  /** Its record is being written, and is what counts from now on. */
  leaving: boolean
  /** It is submitted later, by whoever loads it from its record. */
  postponed: boolean
  /** Facts to append once its record is written, if it stays in memory. Null when facts are appended directly. */
  deferred: (() => void)[] | null
  /** Its events are pushed to a URL. */
  delivers: boolean
  /** Sequence of the last event that was not pushed, because there was no URL; 0: none. */
  unpushed: number
  /**
   * Null: every event that is not taken yet is held in memory. Otherwise events of the message wait in the records, and its
   * next events will wait there behind them. The set has their sequences, without those from before it was loaded; it is
   * empty if all are.
   */
  inRecords: Set<number> | null
  /** The keys under which its segments are found by the carrier's message ids. */
  readonly submissionKeys: string[]
  /** How many receipts that change nothing have come for it. */
  noted: number
  /** The carrier's message ids of receipts that are parked until the message has left memory. */
  readonly parked: SubmissionId[]
  /** Set while somebody waits for its record. Resolved when that is written or refused, or the lane is lost. */
  awaitedRecord: PromiseWithResolvers<void> | null
}

/** A message that was just accepted, or loaded from its record, by this entry. */
export function newlyOwned(
  message: MessageInProgress,
  by: Pick<OwnedMessage, 'ownerNodeId' | 'entry'>,
): OwnedMessage {
  return {
    ...by,
    message,
    sinceMs: performance.now(),
    pending: 0,
    leaving: false,
    postponed: false,
    deferred: null,
    delivers: false,
    unpushed: 0,
    // If events wait in the records, new events wait there behind them.
    inRecords: message.loaded?.hasWaitingEvents === true ? new Set() : null,
    submissionKeys: [],
    noted: 0,
    parked: [],
    awaitedRecord: null,
  }
}

/** Its record was written, and it continues from its state in this entry. */
export function reenter(owned: OwnedMessage, message: MessageInProgress, entry: number): OwnedMessage {
  const submissions = owned.message.submissions.map((one) => ({ ...one, isRecorded: true as const }))
  owned.message = { ...message, submissions }
  owned.entry = entry
  owned.sinceMs = performance.now()
  if (message.loaded?.hasWaitingEvents) owned.inRecords ??= new Set()
  return owned
}

/** It is being submitted here, or is about to be, so nobody else may take it. */
export function isBeingSubmitted({ message, postponed }: OwnedMessage): boolean {
  return message.state.dispatch !== null && !postponed
}

/** About 31,000 messages of one segment. When messages in memory take more, new ones go straight into the records. */
const MOST_BYTES = 192 * 1_048_576
/** Above this share of MOST_BYTES, messages leave memory early. */
const CROWDED_SHARE = 0.5
/** Above this share, few messages are loaded from the records. */
const LOADED_SHARE = 0.625

/**
 * Bytes that a message takes here, estimated high: the message, the answers of carriers and receivers, and its events. A
 * message of one segment was measured at 5 kB while its webhooks waited.
 */
export function bytesOf({ body, segments }: Pick<Accepted, 'body' | 'segments'>): number {
  return 4_500 + 1_500 * segments + 2 * body.length
}

/**
 * Every message in progress here, also those that are only waiting for a receipt. They leave when their records are written,
 * except messages that are renewed.
 */
export class OwnedMessages {
  readonly #mostBytes: number
  readonly #messages = new MessagesByPlan<OwnedMessage>(({ message }) => message)
  #bytes = 0

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes
  }

  /** New messages find no room. */
  get isFull(): boolean {
    return this.#bytes >= this.#mostBytes
  }

  /** Whether many more messages may be loaded from the records. */
  get hasRoom(): boolean {
    return this.#bytes < LOADED_SHARE * this.#mostBytes
  }

  /** Bytes of messages that should leave memory early. None should if this is not positive. */
  get excessBytes(): number {
    return this.#bytes - CROWDED_SHARE * this.#mostBytes
  }

  get size(): number {
    return this.#messages.size
  }

  get(msgId: string): OwnedMessage | undefined {
    return this.#messages.get(msgId)
  }

  /** Null if the message takes no more facts here. */
  usable(msgId: string): OwnedMessage | null {
    const owned = this.#messages.get(msgId)
    return owned === undefined || owned.leaving ? null : owned
  }

  /** In the order of the entries with which they begin. */
  values(): IteratorObject<OwnedMessage> {
    return this.#messages.of(null)
  }

  msgIds(): string[] {
    return Array.from(this.values(), ({ message }) => message.msgId)
  }

  of(planId: number | null): Iterable<MessageInProgress> {
    return this.#messages.of(planId).map(({ message }) => message)
  }

  /** Adds it behind all others, because it begins with the newest entry. */
  add(owned: OwnedMessage): void {
    if (!this.#messages.add(owned)) this.#bytes += bytesOf(owned.message.accepted)
  }

  drop({ message }: OwnedMessage): void {
    if (this.#messages.delete(message.msgId)) this.#bytes -= bytesOf(message.accepted)
  }

  /** How many facts wait until their messages have begun anew in the journal. */
  get deferred(): number {
    return this.values().reduce((sum, { deferred }) => sum + (deferred?.length ?? 0), 0)
  }

  clear(): void {
    this.#messages.clear()
    this.#bytes = 0
  }
}
