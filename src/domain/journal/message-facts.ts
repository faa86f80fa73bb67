import type { KeptReceipt } from '../carriers/receipts.ts'
import { MESSAGE_STATUSES } from '../messages/messages.ts'
import { all, bits, type Field, flag, oneOf, optional, text, type Values, whole } from './octets.ts'

/**
 * Facts: everything that can happen to an MT message, as its owner learns it and the journal keeps it. `messages-in-progress.ts`
 * adds a fact to its message; `message-states.ts` decides what it does to the state.
 *
 * The journal has the fields in the order given here. When one is added or changes, entries get a new format (`entries.ts`).
 */

const charge = all({ price: text, ptf: text, currency: text })
/** When it happened, by the clock of the node that learned of it, Unix ms. */
const atMs = whole

const ACCEPTED = {
  planId: whole,
  sender: text,
  recipient: text,
  body: text,
  segments: whole,
  country: optional(text),
  /** Sealed where it carries credentials. */
  callbackUrl: optional(text),
  /** The recipient has opted out of this sender: the message is never submitted. */
  optedOut: flag,
  /** Its text is kept only until it has ended. */
  discardsText: flag,
  /** It is submitted at once, so a crash from now on leaves it in doubt. */
  begun: flag,
  /** The route it is to take; 0: not known yet. */
  routeId: whole,
  expiresAtMs: whole,
}

const SUBMITTED_SO_FAR = {
  /** Attempts that were refused or not answered. Throttled ones and those that blame the session do not count. */
  failedAttempts: whole,
  /** Carrier of the last attempt: the one that has the accepted segments. */
  carrierId: optional(whole),
  /** Bit n: PDU n is accepted. */
  acceptedPduBits: bits,
  /** How the text of these is divided; null when there are none. */
  segmentation: optional(text),
  /** Segments of it were sent again, divided differently. */
  startedOver: flag,
  /** It may have reached a carrier in an earlier attempt. */
  ambiguous: flag,
}

const DISPATCH = {
  ...SUBMITTED_SO_FAR,
  /** An attempt is in flight: a crash from now on leaves it in doubt. */
  begun: flag,
  dueAtMs: whole,
  /** The route that it waits for; 0: not known yet. */
  routeId: whole,
  /** The carrier whose node is to take it up; 0: any. */
  chosenCarrierId: whole,
}
/** The dispatch of a message: how far submitting it has got. */
export type DispatchState = Values<typeof DISPATCH>

const STATE = {
  status: oneOf(...MESSAGE_STATUSES),
  /** Of the last announcement; 0: none was made. */
  sequence: whole,
  /** When the status changed, Unix ms. */
  changedAtMs: whole,
  sentAtMs: optional(whole),
  errorCode: text,
  /** What the carrier said last: command_status, or the word and code of a receipt. */
  carrierCode: optional(text),
  carrierId: optional(whole),
  routeId: optional(whole),
  routeReason: optional(text),
  segments: whole,
  /** How the text of the segments that count is divided, if the message has started over; null: as at first. */
  segmentation: optional(text),
  /** Bit n: segment n. */
  deliveredBits: bits,
  unknownBits: bits,
  mccmnc: optional(text),
  /** Of all segments. */
  charge: optional(charge),
  /** What is still to be submitted; null: nothing is. */
  dispatch: optional(all(DISPATCH)),
}
/** What facts change about a message. Its text and its numbers never change. */
export type MessageState = Values<typeof STATE>

const keptReceipt: Field<KeptReceipt> = {
  write(to, value) {
    to.text(value.text)
    const tlvs = Object.entries(value.tlvs)
    to.whole(tlvs.length)
    for (const part of tlvs.flat()) to.text(part)
  },
  read(from) {
    const kept = from.text()
    const tlvs: Record<string, string> = {}
    for (let left = from.whole(); left > 0; left -= 1) tlvs[from.text()] = from.text()
    return { text: kept, tlvs }
  },
}
/** A receipt that was parked is never journaled, because only messages at rest are matched with it. */
const notJournaled: Field<number | null> = { write: () => undefined, read: () => null }

const EVIDENCE = {
  carrierId: whole,
  carrierMessageId: text,
  /** ISO 8601 with microseconds, which tell the receipts of a message apart. */
  receivedAt: text,
  errorCode: text,
  outcome: oneOf('DELIVERED', 'FAILED', 'UNKNOWN', 'SENT'),
  kept: optional(keptReceipt),
  /** When its message was found, if it had been parked until then. */
  matchedAtMs: notJournaled,
}
/** A receipt as it came. */
export type Evidence = Values<typeof EVIDENCE>
const evidence = all(EVIDENCE)

/** The fields of each kind. The journal numbers the kinds by their order here. */
export const FACTS = {
  /** A message was accepted. Holds everything that is needed to go on with it. Created at the millisecond of its id. */
  accepted: ACCEPTED,
  /** A message was taken out of its record, in the state it had there. From now on its facts are in the journal. */
  loaded: {
    accepted: all(ACCEPTED),
    state: all(STATE),
    /** Earlier events of it wait for delivery in the records; later ones wait behind them. */
    hasWaitingEvents: flag,
  },
  /** The first PDU of an attempt is about to go out. */
  begun: { atMs },
  /** A PDU was accepted late, while the message is still to be submitted: the next attempt leaves it out. `submitted` has its id. */
  'pdus-accepted': {
    atMs,
    /** Bit n: PDU n. */
    pduBits: bits,
    segmentation: text,
  },
  /** A carrier took a segment that is divided differently from those before: only segments of this segmentation count from now on. */
  'started-over': { atMs, segmentation: text },
  /** An attempt ended without ending the dispatch, or none could be made. `carrierId`, `routeId` null: unchanged. */
  postponed: {
    atMs,
    dueAtMs: whole,
    ...SUBMITTED_SO_FAR,
    routeId: optional(whole),
    chosenCarrierId: whole,
  },
  /** The node that had the message is gone. */
  orphaned: {
    atMs,
    /** How long a message whose attempt was in flight waits for news of it. */
    ambiguityWaitMs: whole,
  },
  /**
   * The dispatch ended: a carrier has all of it or refused it for good, or it is not retried any more. `segmentation` counts
   * only when `segments` are given.
   */
  settled: {
    atMs,
    status: oneOf('SENT', 'FAILED', 'UNKNOWN'),
    errorCode: text,
    carrierCode: optional(text),
    carrierId: optional(whole),
    routeId: optional(whole),
    routeReason: optional(text),
    /** As sent; null: as counted when the message was accepted. */
    segments: optional(whole),
    segmentation: optional(text),
    mccmnc: optional(text),
    charge: optional(charge),
  },
  /** A final receipt, or one that says nothing reliable. Intermediate ones change nothing: they are `noted`. */
  receipt: {
    atMs,
    outcome: oneOf('DELIVERED', 'FAILED', 'UNKNOWN'),
    /** Bit n: it is about segment n. */
    segmentBits: bits,
    /** How the text of these is divided. */
    segmentation: optional(text),
    errorCode: text,
    carrierCode: optional(text),
    mccmnc: optional(text),
    /** What a segment costs in the network that the receipt names, if that is not what was charged. */
    segmentCharge: optional(charge),
    evidence,
  },
  /** No final receipt came in time. */
  overdue: { atMs, errorCode: text },
  /** A segment that a carrier accepted, under the id its receipt will name. `atMs`: when its answer came. */
  submitted: {
    atMs,
    /** How long the answer took. */
    latencyMs: whole,
    carrierId: whole,
    carrierMessageId: text,
    segment: whole,
    /** How the text of its message was divided, if it had started over. */
    segmentation: optional(text),
  },
  /** An attempt to submit, for the timeline. `atMs`: when its first PDU was sent. */
  attempted: {
    atMs,
    /** Until its last answer came, or was no longer awaited. */
    tookMs: whole,
    /** Null: its node is gone, and nobody else knows the carrier. */
    carrierId: optional(whole),
    outcome: oneOf('accepted', 'refused', 'retry', 'no-answer'),
    commandStatus: optional(whole),
    /** The segment that the carrier did not take; null: it took them all, did not answer, or answers for all at once. */
    segment: optional(whole),
    /** An earlier attempt may have reached the carrier. */
    resubmission: flag,
    reason: optional(text),
  },
  /** A receipt that changes nothing, kept for the timeline. */
  noted: { evidence },
  /** Its receiver has taken an event, at the first attempt. */
  'event-taken': {
    /** Of the event. */
    sequence: whole,
    attemptedAtMs: whole,
    latencyMs: whole,
    responseStatus: optional(whole),
    responseHead: optional(text),
    destination: optional(text),
  },
}

type Kind = keyof typeof FACTS
type Facts = { readonly [K in Kind]: { readonly kind: K } & Values<(typeof FACTS)[K]> }

export type Accepted = Facts['accepted']
export type Loaded = Facts['loaded']
export type PdusAccepted = Facts['pdus-accepted']
export type StartedOver = Facts['started-over']
export type Postponed = Facts['postponed']
export type Orphaned = Facts['orphaned']
export type Settled = Facts['settled']
export type Overdue = Facts['overdue']
export type Submitted = Facts['submitted']
export type Attempted = Facts['attempted']
export type Noted = Facts['noted']
export type EventTaken = Facts['event-taken']
/** A receipt as the journal has it: what changes the message's state, and the evidence. */
export type JournalReceipt = Facts['receipt']
export type ReceiptFact = Omit<JournalReceipt, 'evidence'>

/** A fact that may change the state of its message (`applyFact`). */
export type StateFact =
  | Facts['begun']
  | PdusAccepted
  | StartedOver
  | Postponed
  | Orphaned
  | Settled
  | ReceiptFact
  | Overdue

/** A fact and the message it is about. */
export interface JournalFact {
  readonly msgId: string
  readonly fact: Facts[Kind]
}

/** The fact with which a message begins in its lane. */
export type FirstFact = Accepted | Loaded
export type LaterFact = Exclude<JournalFact['fact'], FirstFact>

export function isFirst(fact: JournalFact['fact']): fact is FirstFact {
  return fact.kind === 'accepted' || fact.kind === 'loaded'
}
