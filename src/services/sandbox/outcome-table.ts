import { RECEIPT_STATES } from '../../domain/carriers/receipt-states.ts'
import type { SandboxOutcome } from '../../domain/sandbox.ts'
import {
  DELIVERED,
  LATE_RECEIPT_DELAY_MS,
  OUTCOMES,
  type Outcome,
  RECEIPT_DELAY_MS,
} from '../../simulator/outcomes.ts'
import { statusName } from '../../smpp/statuses.ts'

/** The outcomes of the simulator as data, by the last digits of a destination; the one of all others is the last. */
export const OUTCOME_TABLE: readonly SandboxOutcome[] = [
  ...[...OUTCOMES].map(([lastDigits, outcome]) => describe(lastDigits, outcome)),
  describe(null, DELIVERED),
]

function describe(lastDigits: string | null, outcome: Outcome): SandboxOutcome {
  const { summary, refusal, receipts } = outcome
  return {
    lastDigits,
    summary,
    status: finalStatus(outcome),
    refusal: refusal && {
      commandStatus: statusName(refusal.status),
      attempts: Number.isFinite(refusal.attempts) ? refusal.attempts : null,
    },
    receipts: receipts.map(({ state, err }) => ({ state, error: err })),
    receiptDelayMs: receipts.length === 0 ? null : delayOf(outcome),
  }
}

/** The first receipt that is final decides; later ones change nothing. */
function finalStatus({ refusal, receipts }: Outcome): SandboxOutcome['status'] {
  if (refusal?.attempts === Number.POSITIVE_INFINITY) return 'FAILED'
  return (
    receipts.map(({ state }) => RECEIPT_STATES[state].outcome).find((status) => status !== 'SENT') ?? 'SENT'
  )
}

function delayOf({ pace }: Outcome): { least: number; most: number } {
  if (pace === 'early') return { least: 0, most: 0 }
  if (pace === 'late') return { least: LATE_RECEIPT_DELAY_MS, most: LATE_RECEIPT_DELAY_MS }
  const [least, most] = RECEIPT_DELAY_MS
  return { least, most }
}
