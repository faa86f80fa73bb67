import type { ReceiptOutcome } from '../carriers/receipt-states.ts'
import type { KeptReceipt } from '../carriers/receipts.ts'
import type { DispatchState, MessageState } from '../messages/messages.ts'
import type { Charge } from '../routing/rates.ts'

/**
 * Facts: everything that can happen to an MT message, as its owner learns it and the journal keeps it. `messages-in-progress.ts`
 * adds a fact to its message; `message-states.ts` decides what it does to the state.
 */

/** A message was accepted. Holds everything that is needed to go on with it. Created at the millisecond of its id. */
export interface Accepted {
  readonly kind: 'accepted'
  readonly planId: number
  readonly sender: string
  readonly recipient: string
  readonly body: string
  readonly segments: number
  readonly country: string | null
  /** Sealed where it carries credentials. */
  readonly callbackUrl: string | null
  /** The recipient has opted out of this sender: the message is never submitted. */
  readonly optedOut: boolean
  /** Its text is kept only until it has ended. */
  readonly discardsText: boolean
  /** It is submitted at once, so a crash from now on leaves it in doubt. */
  readonly begun: boolean
  /** The route it is to take; 0: not known yet. */
  readonly routeId: number
  readonly expiresAtMs: number
}

/** A message was taken out of its record, in the state it had there. From now on its facts are in the journal. */
export interface Loaded {
  readonly kind: 'loaded'
  readonly accepted: Omit<Accepted, 'kind'>
  readonly state: MessageState
  /** Earlier events of it wait for delivery in the records; later ones wait behind them. */
  readonly hasWaitingEvents: boolean
}

interface At {
  /** When it happened, by the clock of the node that learned of it, Unix ms. */
  readonly atMs: number
}

/** The first PDU of an attempt is about to go out. */
interface Begun extends At {
  readonly kind: 'begun'
}

/** A PDU was accepted late, while the message is still to be submitted: the next attempt leaves it out. `submitted` has its id. */
export interface PdusAccepted extends At {
  readonly kind: 'pdus-accepted'
  /** Bit n: PDU n. */
  readonly pduBits: bigint
  readonly segmentation: string
}

/** A carrier took a segment that is divided differently from those before: only segments of this segmentation count from now on. */
export interface StartedOver extends At {
  readonly kind: 'started-over'
  readonly segmentation: string
}

/** An attempt ended without ending the dispatch, or none could be made. `carrierId`, `routeId` null: unchanged. */
export interface Postponed extends At, Omit<DispatchState, 'begun' | 'routeId'> {
  readonly kind: 'postponed'
  readonly routeId: number | null
}

/** The node that had the message is gone. */
export interface Orphaned extends At {
  readonly kind: 'orphaned'
  /** How long a message whose attempt was in flight waits for news of it. */
  readonly ambiguityWaitMs: number
}

/**
 * The dispatch ended: a carrier has all of it or refused it for good, or it is not retried any more. `segmentation` counts
 * only when `segments` are given.
 */
export interface Settled
  extends At,
    Pick<
      MessageState,
      | 'errorCode'
      | 'carrierCode'
      | 'carrierId'
      | 'routeId'
      | 'routeReason'
      | 'segmentation'
      | 'mccmnc'
      | 'charge'
    > {
  readonly kind: 'settled'
  readonly status: 'SENT' | 'FAILED' | 'UNKNOWN'
  /** As sent; null: as counted when the message was accepted. */
  readonly segments: number | null
}

/** A final receipt, or one that says nothing reliable. Intermediate ones change nothing: they are `noted`. */
export interface ReceiptFact extends At {
  readonly kind: 'receipt'
  readonly outcome: 'DELIVERED' | 'FAILED' | 'UNKNOWN'
  /** Bit n: it is about segment n. */
  readonly segmentBits: bigint
  /** How the text of these is divided. */
  readonly segmentation: string | null
  readonly errorCode: string
  readonly carrierCode: string | null
  readonly mccmnc: string | null
  /** What a segment costs in the network that the receipt names, if that is not what was charged. */
  readonly segmentCharge: Charge | null
}

/** No final receipt came in time. */
export interface Overdue extends At {
  readonly kind: 'overdue'
  readonly errorCode: string
}

/** A fact that may change the state of its message (`applyFact`). */
export type Fact = Begun | PdusAccepted | StartedOver | Postponed | Orphaned | Settled | ReceiptFact | Overdue

/** A segment that a carrier accepted, under the id its receipt will name. `atMs`: when its answer came. */
export interface Submitted extends At {
  readonly kind: 'submitted'
  /** How long the answer took. */
  readonly latencyMs: number
  readonly carrierId: number
  readonly carrierMessageId: string
  readonly segment: number
  /** How the text of its message was divided, if it had started over. */
  readonly segmentation: string | null
}

/** An attempt to submit, for the timeline. `atMs`: when its first PDU was sent. */
export interface Attempted extends At {
  readonly kind: 'attempted'
  /** Until its last answer came, or was no longer awaited. */
  readonly tookMs: number
  /** Null: its node is gone, and nobody else knows the carrier. */
  readonly carrierId: number | null
  readonly outcome: 'accepted' | 'refused' | 'retry' | 'no-answer'
  readonly commandStatus: number | null
  /** The segment that the carrier did not take; null: it took them all, did not answer, or answers for all at once. */
  readonly segment: number | null
  /** An earlier attempt may have reached the carrier. */
  readonly resubmission: boolean
  readonly reason: string | null
}

/** A receipt as it came. */
export interface Evidence {
  readonly carrierId: number
  readonly carrierMessageId: string
  /** ISO 8601 with microseconds, which tell the receipts of a message apart. */
  readonly receivedAt: string
  /** When its message was found, if it had been parked until then. */
  readonly matchedAtMs: number | null
  readonly outcome: ReceiptOutcome
  readonly errorCode: string
  readonly kept: KeptReceipt | null
}

/** A receipt that changes nothing, kept for the timeline. */
interface Noted {
  readonly kind: 'noted'
  readonly evidence: Evidence
}

/** Its receiver has taken an event, at the first attempt. */
export interface EventTaken {
  readonly kind: 'event-taken'
  /** Of the event. */
  readonly sequence: number
  readonly attemptedAtMs: number
  readonly latencyMs: number
  readonly responseStatus: number | null
  readonly responseHead: string | null
  readonly destination: string | null
}

/** A receipt as the journal has it: what changes the message's state, and the evidence. */
export type JournalReceipt = ReceiptFact & { readonly evidence: Evidence }

/** A fact and the message it is about. */
export interface JournalFact {
  readonly msgId: string
  readonly fact:
    | Accepted
    | Loaded
    | Submitted
    | Attempted
    | Noted
    | EventTaken
    | JournalReceipt
    | Exclude<Fact, ReceiptFact>
}

/** The fact with which a message begins in its lane. */
export type FirstFact = Accepted | Loaded
export type LaterFact = Exclude<JournalFact['fact'], FirstFact>

export function isFirst(fact: JournalFact['fact']): fact is FirstFact {
  return fact.kind === 'accepted' || fact.kind === 'loaded'
}
