import { lowBits } from '../../collections/bits.ts'
import { type Status, UNKNOWN_REVERSIBLE_MS } from '../messages/messages.ts'
import { type Charge, formatAmount, parseAmount } from '../routing/rates.ts'
import type {
  DispatchState,
  MessageState,
  Orphaned,
  Overdue,
  PdusAccepted,
  Postponed,
  ReceiptFact,
  Settled,
  StartedOver,
  StateFact,
} from './message-facts.ts'

/**
 * The rule for what each fact does to an MT message, in memory and at rest; pure and total over (status, fact). Every
 * other part learns facts, and announces what `applyFact` changed. docs/ARCHITECTURE.md has its table.
 */

/** The state of a message when it is accepted. */
export function acceptedState(
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
    deliveredBits: 0n,
    unknownBits: 0n,
    mccmnc: null,
    charge: null,
    dispatch: {
      failedAttempts: 0,
      carrierId: null,
      acceptedPduBits: 0n,
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
export function applyFact(state: MessageState, fact: StateFact): MessageState {
  const rule = RULES[fact.kind] as Readonly<Record<Status, Rule<StateFact>>>
  return rule[state.status](state, fact)
}

type Rule<F extends StateFact> = (state: MessageState, fact: F) => MessageState

/** Total over (status, fact): a missing cell does not compile. */
const RULES: {
  readonly [K in StateFact['kind']]: Readonly<Record<Status, Rule<Extract<StateFact, { kind: K }>>>>
} = {
  begun: inEveryStatus(begin),
  'pdus-accepted': inEveryStatus(acceptPdus),
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

function inEveryStatus<F extends StateFact>(rule: Rule<F>): Readonly<Record<Status, Rule<F>>> {
  return { QUEUED: rule, SENT: rule, UNKNOWN: rule, DELIVERED: rule, FAILED: rule }
}

function keep(state: MessageState): MessageState {
  return state
}

// The dispatch.

function begin(state: MessageState): MessageState {
  return withDispatch(state, (dispatch) => ({ ...dispatch, begun: true }))
}

/** If segments of another segmentation are on record, the dispatch still continues after those. */
function acceptPdus(state: MessageState, { pduBits, segmentation }: PdusAccepted): MessageState {
  return withDispatch(state, (dispatch) =>
    dispatch.acceptedPduBits === 0n || dispatch.segmentation === segmentation
      ? { ...dispatch, acceptedPduBits: dispatch.acceptedPduBits | pduBits, segmentation }
      : dispatch,
  )
}

function postpone(
  state: MessageState,
  { kind: _, atMs: __, carrierId, routeId, ...change }: Postponed,
): MessageState {
  return withDispatch(state, (dispatch) => ({
    ...change,
    carrierId: carrierId ?? dispatch.carrierId,
    routeId: routeId ?? dispatch.routeId,
    begun: false,
  }))
}

function orphan(state: MessageState, { atMs, ambiguityWaitMs }: Orphaned): MessageState {
  return withDispatch(state, (dispatch) => ({
    ...dispatch,
    begun: false,
    ambiguous: dispatch.ambiguous || dispatch.begun,
    dueAtMs: dispatch.begun ? atMs + ambiguityWaitMs : Math.min(dispatch.dueAtMs, atMs),
  }))
}

function withDispatch(state: MessageState, change: (dispatch: DispatchState) => DispatchState): MessageState {
  if (state.dispatch === null) return state
  const dispatch = change(state.dispatch)
  return dispatch === state.dispatch ? state : { ...state, dispatch }
}

// Status, segments and charge.

function startOver(state: MessageState, { segmentation }: StartedOver): MessageState {
  return state.segmentation === segmentation
    ? state
    : { ...state, segmentation, deliveredBits: 0n, unknownBits: 0n }
}

/** SENT, FAILED or UNKNOWN; DELIVERED at once when receipts of all segments came before the last answer. */
function settle(state: MessageState, fact: Settled): MessageState {
  const whole = lowBits(fact.segments ?? state.segments)
  const isDelivered =
    fact.status !== 'FAILED' &&
    isOfPresentSegmentation(state, fact) &&
    (state.deliveredBits & whole) === whole
  const filledIn = fillIn(state, fact)
  return {
    ...filledIn,
    status: isDelivered ? 'DELIVERED' : fact.status,
    sequence: state.sequence + 1,
    changedAtMs: fact.atMs,
    errorCode: isDelivered ? '000' : fact.errorCode,
    carrierCode: fact.carrierCode ?? state.carrierCode,
    // If the message fails after all, a price that a receipt brought is dropped.
    charge: fact.status === 'FAILED' ? fact.charge : filledIn.charge,
  }
}

/** The message has moved on already: it gets, once, what only its settlement knows. */
function complete(state: MessageState, fact: Settled): MessageState {
  const isKnown = state.carrierId !== null || (fact.carrierId === null && fact.status !== 'SENT')
  return isKnown ? withoutDispatch(state) : fillIn(state, fact)
}

function withoutDispatch(state: MessageState): MessageState {
  return state.dispatch === null ? state : { ...state, dispatch: null }
}

function fillIn(state: MessageState, fact: Settled): MessageState {
  const segments = fact.segments ?? state.segments
  const isPresent = isOfPresentSegmentation(state, fact)
  return {
    ...state,
    segmentation: isPresent ? state.segmentation : fact.segmentation,
    deliveredBits: isPresent ? state.deliveredBits : 0n,
    unknownBits: isPresent ? state.unknownBits : 0n,
    dispatch: null,
    sentAtMs: fact.status === 'SENT' ? fact.atMs : null,
    carrierId: fact.carrierId ?? state.carrierId,
    routeId: fact.routeId,
    routeReason: fact.routeReason,
    segments,
    mccmnc: state.mccmnc ?? fact.mccmnc,
    charge: state.charge === null ? fact.charge : rescaled(state.charge, state.segments, segments),
  }
}

/** Whether the receipts so far are about the segments that count from now on. */
function isOfPresentSegmentation(state: MessageState, fact: Settled): boolean {
  return fact.segments === null || fact.segmentation === state.segmentation
}

function receiveInTime(state: MessageState, fact: ReceiptFact): MessageState {
  return fact.atMs - state.changedAtMs < UNKNOWN_REVERSIBLE_MS ? receive(state, fact) : state
}

function receive(state: MessageState, fact: ReceiptFact): MessageState {
  if (fact.segmentation !== state.segmentation || fact.segmentBits === 0n) return state
  const { outcome, segmentBits } = fact
  const deliveredBits = state.deliveredBits | (outcome === 'DELIVERED' ? segmentBits : 0n)
  const unknownBits = (state.unknownBits | (outcome === 'UNKNOWN' ? segmentBits : 0n)) & ~deliveredBits
  const hasFailed = outcome === 'FAILED' && (segmentBits & ~state.deliveredBits) !== 0n
  const status = hasFailed ? 'FAILED' : statusOfSegments(state, deliveredBits, unknownBits)
  const changes = status !== state.status
  return {
    ...state,
    status,
    sequence: state.sequence + (changes ? 1 : 0),
    changedAtMs: changes ? fact.atMs : state.changedAtMs,
    errorCode: !changes ? state.errorCode : status === 'DELIVERED' ? '000' : fact.errorCode,
    carrierCode: fact.carrierCode ?? state.carrierCode,
    deliveredBits,
    unknownBits,
    mccmnc: fact.mccmnc ?? state.mccmnc,
    charge: fact.segmentCharge === null ? state.charge : rescaled(fact.segmentCharge, 1, state.segments),
  }
}

/** Until its dispatch is settled, a QUEUED message may get more segments, so several are not all delivered. */
function statusOfSegments(
  { status, segments }: MessageState,
  deliveredBits: bigint,
  unknownBits: bigint,
): Status {
  const whole = lowBits(segments)
  if ((deliveredBits & whole) === whole) return status === 'QUEUED' && segments > 1 ? status : 'DELIVERED'
  return ((deliveredBits | unknownBits) & whole) === whole ? 'UNKNOWN' : status
}

function giveUp(state: MessageState, { atMs, errorCode }: Overdue): MessageState {
  return { ...state, status: 'UNKNOWN', sequence: state.sequence + 1, changedAtMs: atMs, errorCode }
}

/** The charge for `before` segments, converted to `now` segments and rounded as numeric(14, 6) is. */
function rescaled({ price, ptf, currency }: Charge, before: number, now: number): Charge {
  const scale = (amount: string) => {
    const doubled = 2n * (parseAmount(amount) ?? 0n) * BigInt(now)
    return formatAmount((doubled + BigInt(before)) / (2n * BigInt(before)))
  }
  return { price: scale(price), ptf: scale(ptf), currency }
}
