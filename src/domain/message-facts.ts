/**
 * The rule for what each fact does to an MT message, in memory and at rest; pure and total over (status, fact). Every
 * other part learns facts, and announces what `applyFact` changed. The table is printed in docs/message-states.md.
 */

import { type Status, UNKNOWN_REVERSIBLE_MS } from './messages.ts'
import { type Charge, formatAmount, parseAmount } from './rates.ts'

/** What facts change about a message. Its text and its numbers never change. */
export interface MessageState {
  readonly status: Status
  /** Of the last announcement; 0: none was made. */
  readonly sequence: number
  /** When the status changed, Unix ms. */
  readonly changedAtMs: number
  readonly sentAtMs: number | null
  readonly errorCode: string
  /** What the carrier said last: command_status, or the word and code of a receipt. */
  readonly carrierCode: string | null
  readonly carrierId: number | null
  readonly routeId: number | null
  readonly routeReason: string | null
  readonly segments: number
  /** How the text of the segments that count is divided, if the message has started over; null: as at first. */
  readonly segmentation: string | null
  /** Bit n: segment n. */
  readonly deliveredSegments: bigint
  readonly unknownSegments: bigint
  readonly mccmnc: string | null
  /** Of all segments. */
  readonly charge: Charge | null
  /** What is still to be submitted; null: nothing is. */
  readonly dispatch: DispatchState | null
}

/** The dispatch of a message: how far submitting it has got. */
export interface DispatchState {
  /** Attempts so far that count against a limit. */
  readonly attempt: number
  /** Carrier of the last attempt: the one that has the accepted segments. */
  readonly carrierId: number | null
  /** Bit n: PDU n is accepted. */
  readonly acceptedPdus: bigint
  /** How the text of these is divided; null when there are none. */
  readonly segmentation: string | null
  /** Segments of it were sent again, divided differently. */
  readonly startedOver: boolean
  /** It may have reached a carrier in an earlier attempt. */
  readonly ambiguous: boolean
  /** An attempt is in flight: a crash from now on leaves it in doubt. */
  readonly begun: boolean
  readonly dueAtMs: number
  /** The route that it waits for; 0: not known yet. */
  readonly routeId: number
  /** The carrier whose node is to take it up; 0: any. */
  readonly chosenCarrierId: number
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
interface SegmentAccepted extends At {
  readonly kind: 'segment-accepted'
  /** Bit n: PDU n. */
  readonly pdus: bigint
  readonly segmentation: string
}

/** A carrier took a segment that is divided differently from those before: only segments of this segmentation count from now on. */
interface StartedOver extends At {
  readonly kind: 'started-over'
  readonly segmentation: string
}

/** An attempt ended without ending the dispatch, or none could be made. `carrierId`, `routeId` null: unchanged. */
export interface Postponed extends At, Omit<DispatchState, 'begun' | 'routeId'> {
  readonly kind: 'postponed'
  readonly routeId: number | null
}

/** The node that had the message is gone. */
interface Orphaned extends At {
  readonly kind: 'orphaned'
  /** How long a message whose attempt was in flight waits for news of it. */
  readonly ambiguityWaitMs: number
}

/** The dispatch ended: a carrier has all of it or refused it for good, or it is not retried any more. */
export interface Settled extends At {
  readonly kind: 'settled'
  readonly status: 'SENT' | 'FAILED' | 'UNKNOWN'
  readonly errorCode: string
  readonly carrierCode: string | null
  readonly carrierId: number | null
  readonly routeId: number | null
  readonly routeReason: string | null
  /** As sent; null: as counted when the message was accepted. */
  readonly segments: number | null
  /** How the text of it is divided, if it started over. Counts only when `segments` are given. */
  readonly segmentation: string | null
  readonly mccmnc: string | null
  readonly charge: Charge | null
}

/** A final receipt, or one that says nothing reliable. Intermediate ones change nothing: they are `noted`. */
export interface ReceiptFact extends At {
  readonly kind: 'receipt'
  readonly outcome: 'DELIVERED' | 'FAILED' | 'UNKNOWN'
  /** Bits of the segments that it is about. */
  readonly segments: bigint
  /** How the text of these is divided. */
  readonly segmentation: string | null
  readonly errorCode: string
  readonly carrierCode: string | null
  readonly mccmnc: string | null
  /** What a segment costs in the network that the receipt names, if that is not what was charged. */
  readonly segmentCharge: Charge | null
}

/** No final receipt came in time. */
interface Overdue extends At {
  readonly kind: 'overdue'
  readonly errorCode: string
}

export type Fact =
  | Begun
  | SegmentAccepted
  | StartedOver
  | Postponed
  | Orphaned
  | Settled
  | ReceiptFact
  | Overdue

/** The state of a message when it is accepted. */
export function acceptedMessage(
  segments: number,
  atMs: number,
  {
    begun = false,
    routeId = 0,
    chosenCarrierId = 0,
  }: Partial<Pick<DispatchState, 'begun' | 'routeId' | 'chosenCarrierId'>> = {},
): MessageState {
  return {
    status: 'QUEUED',
    sequence: 0,
    changedAtMs: atMs,
    sentAtMs: null,
    errorCode: '000',
    carrierCode: null,
    carrierId: null,
    routeId: null,
    routeReason: null,
    segments,
    segmentation: null,
    deliveredSegments: 0n,
    unknownSegments: 0n,
    mccmnc: null,
    charge: null,
    dispatch: {
      attempt: 0,
      carrierId: null,
      acceptedPdus: 0n,
      segmentation: null,
      startedOver: false,
      ambiguous: false,
      begun,
      dueAtMs: atMs,
      routeId,
      chosenCarrierId,
    },
  }
}

/**
 * The message after a fact; the same object when nothing changes. A greater `sequence` means a change of status, to be
 * announced. A repeated receipt, or a fact that a recovery reads again, changes nothing.
 */
export function applyFact(message: MessageState, fact: Fact): MessageState {
  const rule = RULES[fact.kind] as Readonly<Record<Status, Rule<Fact>>>
  return rule[message.status](message, fact)
}

type Rule<F extends Fact> = (message: MessageState, fact: F) => MessageState

/** Total over (status, fact): a missing cell does not compile. */
const RULES: { readonly [K in Fact['kind']]: Readonly<Record<Status, Rule<Extract<Fact, { kind: K }>>>> } = {
  begun: inEveryStatus(begin),
  'segment-accepted': inEveryStatus(acceptSegment),
  'started-over': {
    QUEUED: startOver,
    // A receipt overtook the answer of the last segment: the segments it was about are not those that count now.
    UNKNOWN: startOver,
    SENT: keep,
    DELIVERED: keep,
    FAILED: keep,
  },
  postponed: inEveryStatus(postpone),
  orphaned: inEveryStatus(orphan),
  settled: {
    QUEUED: settle,
    // A receipt overtook the answer: the status stays.
    SENT: complete,
    UNKNOWN: complete,
    DELIVERED: complete,
    FAILED: complete,
  },
  receipt: {
    QUEUED: receive,
    SENT: receive,
    UNKNOWN: receiveInTime,
    DELIVERED: keep,
    FAILED: keep,
  },
  overdue: {
    // A message that was not sent ends with its validity instead.
    QUEUED: keep,
    SENT: giveUp,
    UNKNOWN: keep,
    DELIVERED: keep,
    FAILED: keep,
  },
}

function inEveryStatus<F extends Fact>(rule: Rule<F>): Readonly<Record<Status, Rule<F>>> {
  return { QUEUED: rule, SENT: rule, UNKNOWN: rule, DELIVERED: rule, FAILED: rule }
}

function keep(message: MessageState): MessageState {
  return message
}

// The dispatch.

function begin(message: MessageState): MessageState {
  return withDispatch(message, (dispatch) => ({ ...dispatch, begun: true }))
}

/** If segments of another segmentation are on record, the dispatch still continues after those. */
function acceptSegment(message: MessageState, { pdus, segmentation }: SegmentAccepted): MessageState {
  return withDispatch(message, (dispatch) =>
    dispatch.acceptedPdus === 0n || dispatch.segmentation === segmentation
      ? { ...dispatch, acceptedPdus: dispatch.acceptedPdus | pdus, segmentation }
      : dispatch,
  )
}

function postpone(
  message: MessageState,
  { kind: _, atMs: __, carrierId, routeId, ...change }: Postponed,
): MessageState {
  return withDispatch(message, (dispatch) => ({
    ...change,
    carrierId: carrierId ?? dispatch.carrierId,
    routeId: routeId ?? dispatch.routeId,
    begun: false,
  }))
}

function orphan(message: MessageState, { atMs, ambiguityWaitMs }: Orphaned): MessageState {
  return withDispatch(message, (dispatch) => ({
    ...dispatch,
    begun: false,
    ambiguous: dispatch.ambiguous || dispatch.begun,
    dueAtMs: dispatch.begun ? atMs + ambiguityWaitMs : Math.min(dispatch.dueAtMs, atMs),
  }))
}

function withDispatch(
  message: MessageState,
  change: (dispatch: DispatchState) => DispatchState,
): MessageState {
  if (message.dispatch === null) return message
  const dispatch = change(message.dispatch)
  return dispatch === message.dispatch ? message : { ...message, dispatch }
}

// The record.

function startOver(message: MessageState, { segmentation }: StartedOver): MessageState {
  return message.segmentation === segmentation
    ? message
    : { ...message, segmentation, deliveredSegments: 0n, unknownSegments: 0n }
}

/** SENT, FAILED or UNKNOWN; DELIVERED at once when receipts of all segments came before the last answer. */
function settle(message: MessageState, fact: Settled): MessageState {
  const whole = allOf(fact.segments ?? message.segments)
  const isDelivered =
    fact.status !== 'FAILED' &&
    isOfPresentSegmentation(message, fact) &&
    (message.deliveredSegments & whole) === whole
  const status = isDelivered ? 'DELIVERED' : fact.status
  return {
    ...fillIn(message, fact),
    status,
    sequence: message.sequence + 1,
    changedAtMs: fact.atMs,
    errorCode: isDelivered ? '000' : fact.errorCode,
    carrierCode: fact.carrierCode ?? message.carrierCode,
    // If the message fails after all, a price that a receipt brought is dropped.
    ...(fact.status === 'FAILED' && { charge: fact.charge }),
  }
}

/** The message has moved on already: it gets, once, what only its settlement knows. */
function complete(message: MessageState, fact: Settled): MessageState {
  const isKnown = message.carrierId !== null || (fact.carrierId === null && fact.status !== 'SENT')
  return isKnown ? withoutDispatch(message) : fillIn(message, fact)
}

function withoutDispatch(message: MessageState): MessageState {
  return message.dispatch === null ? message : { ...message, dispatch: null }
}

function fillIn(message: MessageState, fact: Settled): MessageState {
  const segments = fact.segments ?? message.segments
  return {
    ...message,
    ...(!isOfPresentSegmentation(message, fact) && {
      segmentation: fact.segmentation,
      deliveredSegments: 0n,
      unknownSegments: 0n,
    }),
    dispatch: null,
    sentAtMs: fact.status === 'SENT' ? fact.atMs : null,
    carrierId: fact.carrierId ?? message.carrierId,
    routeId: fact.routeId,
    routeReason: fact.routeReason,
    segments,
    mccmnc: message.mccmnc ?? fact.mccmnc,
    charge: message.charge === null ? fact.charge : rescaled(message.charge, message.segments, segments),
  }
}

/** Whether the receipts so far are about the segments that count from now on. */
function isOfPresentSegmentation(message: MessageState, fact: Settled): boolean {
  return fact.segments === null || fact.segmentation === message.segmentation
}

function receiveInTime(message: MessageState, fact: ReceiptFact): MessageState {
  return fact.atMs - message.changedAtMs < UNKNOWN_REVERSIBLE_MS ? receive(message, fact) : message
}

function receive(message: MessageState, fact: ReceiptFact): MessageState {
  if (fact.segmentation !== message.segmentation || fact.segments === 0n) return message
  const { outcome, segments } = fact
  const deliveredSegments = message.deliveredSegments | (outcome === 'DELIVERED' ? segments : 0n)
  const unknownSegments =
    (message.unknownSegments | (outcome === 'UNKNOWN' ? segments : 0n)) & ~deliveredSegments
  const hasFailed = outcome === 'FAILED' && (segments & ~message.deliveredSegments) !== 0n
  const status = hasFailed ? 'FAILED' : statusOfSegments(message, deliveredSegments, unknownSegments)
  const changes = status !== message.status
  return {
    ...message,
    status,
    sequence: message.sequence + (changes ? 1 : 0),
    changedAtMs: changes ? fact.atMs : message.changedAtMs,
    errorCode: !changes ? message.errorCode : status === 'DELIVERED' ? '000' : fact.errorCode,
    carrierCode: fact.carrierCode ?? message.carrierCode,
    deliveredSegments,
    unknownSegments,
    mccmnc: fact.mccmnc ?? message.mccmnc,
    charge: fact.segmentCharge === null ? message.charge : rescaled(fact.segmentCharge, 1, message.segments),
  }
}

/** A QUEUED message's number of segments is settled when its dispatch ends: until then, several are not all delivered. */
function statusOfSegments({ status, segments }: MessageState, delivered: bigint, unknown: bigint): Status {
  const whole = allOf(segments)
  if ((delivered & whole) === whole) return status === 'QUEUED' && segments > 1 ? status : 'DELIVERED'
  return ((delivered | unknown) & whole) === whole ? 'UNKNOWN' : status
}

function giveUp(message: MessageState, { atMs, errorCode }: Overdue): MessageState {
  return { ...message, status: 'UNKNOWN', sequence: message.sequence + 1, changedAtMs: atMs, errorCode }
}

function allOf(segments: number): bigint {
  return (1n << BigInt(segments)) - 1n
}

/** The charge for `before` segments, converted to `now` segments and rounded as numeric(14, 6) is. */
function rescaled({ price, ptf, currency }: Charge, before: number, now: number): Charge {
  const scale = (amount: string) => {
    const doubled = 2n * (parseAmount(amount) ?? 0n) * BigInt(now)
    return formatAmount((doubled + BigInt(before)) / (2n * BigInt(before)))
  }
  return { price: scale(price), ptf: scale(ptf), currency }
}
