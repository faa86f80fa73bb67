/** The public status of an MT message (spec §3) and what may change it. Drawn in docs/message-states.md. */

import type { CarrierState } from './receipts.ts'

export type Status = 'QUEUED' | 'SENT' | 'DELIVERED' | 'FAILED' | 'UNKNOWN'

/**
 * What can happen to a message:
 * - submitted: submit_sm_resp ESME_ROK
 * - enroute: a receipt that is not final
 * - delivered: a receipt says so
 * - failed: a receipt says so, a permanent submit error, or validity over before the carrier took it
 * - unknown: a receipt says so or cannot be read, or an ambiguous submit that must not be repeated
 * - overdue: no final receipt by validity + 48 h
 */
export type MessageEvent = 'submitted' | 'enroute' | 'delivered' | 'failed' | 'unknown' | 'overdue'

export const STATUSES: readonly Status[] = ['QUEUED', 'SENT', 'DELIVERED', 'FAILED', 'UNKNOWN']

export const MESSAGE_EVENTS: readonly MessageEvent[] = [
  'submitted',
  'enroute',
  'delivered',
  'failed',
  'unknown',
  'overdue',
]

const HOUR_MS = 3_600_000

/** How long UNKNOWN gives way to a final status. */
export const UNKNOWN_REVERSIBLE_MS = 72 * HOUR_MS

/** After validity ends, how long a final receipt is waited for before the message is overdue. */
export const RECEIPT_GRACE_MS = 48 * HOUR_MS

/** Total over (status, event): a missing pair does not compile. */
export const TRANSITIONS: Readonly<Record<Status, Readonly<Record<MessageEvent, Status>>>> = {
  QUEUED: {
    submitted: 'SENT',
    enroute: 'SENT',
    delivered: 'DELIVERED',
    failed: 'FAILED',
    unknown: 'UNKNOWN',
    overdue: 'UNKNOWN',
  },
  SENT: {
    submitted: 'SENT',
    enroute: 'SENT',
    delivered: 'DELIVERED',
    failed: 'FAILED',
    unknown: 'UNKNOWN',
    overdue: 'UNKNOWN',
  },
  // Only while UNKNOWN is younger than UNKNOWN_REVERSIBLE_MS; nextStatus holds that.
  UNKNOWN: {
    submitted: 'UNKNOWN',
    enroute: 'UNKNOWN',
    delivered: 'DELIVERED',
    failed: 'FAILED',
    unknown: 'UNKNOWN',
    overdue: 'UNKNOWN',
  },
  DELIVERED: {
    submitted: 'DELIVERED',
    enroute: 'DELIVERED',
    delivered: 'DELIVERED',
    failed: 'DELIVERED',
    unknown: 'DELIVERED',
    overdue: 'DELIVERED',
  },
  FAILED: {
    submitted: 'FAILED',
    enroute: 'FAILED',
    delivered: 'FAILED',
    failed: 'FAILED',
    unknown: 'FAILED',
    overdue: 'FAILED',
  },
}

/** A change is allowed exactly when the rank grows: for SQL that compares numbers. DELIVERED and FAILED are absorbing. */
export const STATUS_RANK: Readonly<Record<Status, number>> = {
  QUEUED: 0,
  SENT: 1,
  UNKNOWN: 2,
  DELIVERED: 3,
  FAILED: 3,
}

const EVENT_OF_STATE: Readonly<Record<CarrierState, MessageEvent>> = {
  SCHEDULED: 'enroute',
  ENROUTE: 'enroute',
  ACCEPTD: 'enroute',
  DELIVRD: 'delivered',
  EXPIRED: 'failed',
  DELETED: 'failed',
  UNDELIV: 'failed',
  REJECTD: 'failed',
  SKIPPED: 'failed',
  UNKNOWN: 'unknown',
}

/**
 * The status after an event; the same status means no change and no webhook. `unknownForMs` is how long the message has
 * been UNKNOWN (0 when left out); from 72 h on it stays so.
 */
export function nextStatus(
  current: Status,
  event: MessageEvent,
  { unknownForMs = 0 }: { unknownForMs?: number } = {},
): Status {
  if (current === 'UNKNOWN' && unknownForMs >= UNKNOWN_REVERSIBLE_MS) return current
  return TRANSITIONS[current][event]
}

/** The event that a receipt with this state is. */
export function eventOf(state: CarrierState): MessageEvent {
  return EVENT_OF_STATE[state]
}

/** The public status that a receipt with this state asks for. */
export function statusOf(state: CarrierState): Exclude<Status, 'QUEUED'> {
  return STATUS_OF_EVENT[EVENT_OF_STATE[state]]
}

/** The public status that an event asks for, whatever the message's present one. */
export const STATUS_OF_EVENT: Readonly<Record<MessageEvent, Exclude<Status, 'QUEUED'>>> = {
  submitted: 'SENT',
  enroute: 'SENT',
  delivered: 'DELIVERED',
  failed: 'FAILED',
  unknown: 'UNKNOWN',
  overdue: 'UNKNOWN',
}

/**
 * Statuses from which a message may change to `target`, for a batch statement's "only if still one of". For DELIVERED
 * and FAILED the statement also checks that an UNKNOWN is younger than UNKNOWN_REVERSIBLE_MS.
 */
export function allowedFrom(target: Status): Status[] {
  return STATUSES.filter(
    (status) => status !== target && MESSAGE_EVENTS.some((event) => TRANSITIONS[status][event] === target),
  )
}

/**
 * Status of a message from those of its segments: FAILED as soon as one is, DELIVERED when all are, UNKNOWN when all have
 * ended, none failed and one is unknown; QUEUED while none has reached the carrier; SENT otherwise.
 */
export function aggregate(segments: readonly Status[]): Status {
  if (segments.includes('FAILED')) return 'FAILED'
  if (segments.every((status) => status === 'QUEUED')) return 'QUEUED'
  if (segments.every((status) => status === 'DELIVERED')) return 'DELIVERED'
  if (segments.every((status) => status === 'DELIVERED' || status === 'UNKNOWN')) return 'UNKNOWN'
  return 'SENT'
}
