import type { ReceiptState } from '../domain/carriers/statuses.ts'
import { STATUSES } from '../smpp/statuses.ts'

/** What becomes of a message, chosen by the last four digits of its recipient. Shown in docs/simulator.md, and by GET /v1/sandbox. */

export interface ReceiptStep {
  readonly state: ReceiptState
  /** `err:` of the text; other than 000 also network_error_code, a MAP error (3GPP TS 29.002 §17.6.6). */
  readonly err: string
  /** Behind the delay that all receipts of a message share. */
  readonly afterMs: number
}

export interface Outcome {
  readonly summary: string
  /** The first `attempts` submits of a message are answered with this status and not accepted. */
  readonly refusal: { readonly status: number; readonly attempts: number } | null
  /** In the order of sending; none for a message without a receipt. */
  readonly receipts: readonly ReceiptStep[]
  /** random: the usual delay; early: before the submit response; late: see LATE_RECEIPT_DELAY_MS. */
  readonly pace: 'random' | 'early' | 'late'
}

/** What the simulator does unless told otherwise, in milliseconds. */
export const RECEIPT_DELAY_MS = [50, 300] as const
export const EARLY_RECEIPT_LEAD_MS = 50
export const LATE_RECEIPT_DELAY_MS = 30_000

const once = (state: ReceiptState, err: string): readonly ReceiptStep[] => [{ state, err, afterMs: 0 }]
const outcome = (
  summary: string,
  receipts: readonly ReceiptStep[],
  more: Partial<Outcome> = {},
): Outcome => ({
  summary,
  refusal: null,
  receipts,
  pace: 'random',
  ...more,
})

/** Of a recipient that the table does not name. */
export const DELIVERED = outcome('delivered', once('DELIVRD', '000'))

export const OUTCOMES: ReadonlyMap<string, Outcome> = new Map([
  ['1001', outcome('undeliverable: absent subscriber', once('UNDELIV', '027'))],
  ['1002', outcome('expired', once('EXPIRED', '027'))],
  ['1003', outcome('rejected: barred', once('REJECTD', '013'))],
  ['1004', outcome('state unknown', once('UNKNOWN', '000'))],
  ['1005', outcome('accepted, no receipt ever', [])],
  [
    '1006',
    outcome('submit refused as an invalid recipient', [], {
      refusal: { status: STATUSES.ESME_RINVDSTADR, attempts: Number.POSITIVE_INFINITY },
    }),
  ],
  [
    '1007',
    outcome('submit throttled twice, then delivered', once('DELIVRD', '000'), {
      refusal: { status: STATUSES.ESME_RTHROTTLED, attempts: 2 },
    }),
  ],
  [
    '1008',
    outcome('delivered, receipt before the submit response', once('DELIVRD', '000'), { pace: 'early' }),
  ],
  [
    '1009',
    outcome('delivered, receipts repeated and out of order', [
      { state: 'DELIVRD', err: '000', afterMs: 0 },
      { state: 'ENROUTE', err: '000', afterMs: 0 },
      { state: 'DELIVRD', err: '000', afterMs: 25 },
    ]),
  ],
  ['1010', outcome('delivered, receipt after 30 s', once('DELIVRD', '000'), { pace: 'late' })],
])

/** The outcome for a recipient; any that the table does not name is delivered. */
export function outcomeOf(recipient: string): Outcome {
  return OUTCOMES.get(recipient.slice(-4)) ?? DELIVERED
}
