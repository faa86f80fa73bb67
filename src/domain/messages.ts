import type { CarrierState } from './receipts.ts'

/** The public status of an MT message, and what carriers' words mean for it. What changes it: message-facts.ts. */

export type Status = 'QUEUED' | 'SENT' | 'DELIVERED' | 'FAILED' | 'UNKNOWN'

export const MESSAGE_STATUSES: readonly Status[] = ['QUEUED', 'SENT', 'DELIVERED', 'FAILED', 'UNKNOWN']

const HOUR_MS = 3_600_000

/** How long an UNKNOWN message may still get a final status. */
export const UNKNOWN_REVERSIBLE_MS = 72 * HOUR_MS

/** How long after the longest validity (24 h) a message waits for a final receipt before it is overdue. */
export const RECEIPT_GRACE_MS = 48 * HOUR_MS

/** What a receipt says of its segment. SENT: it is still on its way. */
export type ReceiptOutcome = Exclude<Status, 'QUEUED'>

const OUTCOMES: Readonly<Record<CarrierState, ReceiptOutcome>> = {
  SCHEDULED: 'SENT',
  ENROUTE: 'SENT',
  ACCEPTD: 'SENT',
  DELIVRD: 'DELIVERED',
  EXPIRED: 'FAILED',
  DELETED: 'FAILED',
  UNDELIV: 'FAILED',
  REJECTD: 'FAILED',
  SKIPPED: 'FAILED',
  UNKNOWN: 'UNKNOWN',
}

/** The public status for a receipt with this state. */
export function statusOf(state: CarrierState): ReceiptOutcome {
  return OUTCOMES[state]
}

/** An outbound (MT) message as stored. Times are Dates; createdAt is the millisecond inside msgId. */
export interface Message {
  readonly planId: number
  readonly msgId: string
  readonly status: Status
  readonly sender: string
  readonly recipient: string
  readonly body: string
  readonly segments: number
  readonly callbackUrl: string | null
  readonly country: string | null
  readonly mccmnc: string | null
  readonly errorCode: string
  readonly price: string | null
  readonly ptf: string | null
  readonly currency: string | null
  readonly sentAt: Date | null
  readonly updatedAt: Date
}

/** What a caller asks to send, after validation and authorisation. */
export interface Draft {
  readonly sender: string
  readonly recipient: string
  readonly body: string
  readonly callbackUrl: string | null
}
