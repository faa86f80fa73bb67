/** A receipt as a fact of its message. */
import type { Directory } from '../domain/directory.ts'
import type { Evidence, JournalReceipt } from '../domain/message-facts.ts'
import type { MessageInProgress } from '../domain/messages-in-progress.ts'
import { type Charge, chargeFor } from '../domain/rates.ts'
import type { IncomingReceipt, NotedReceipt } from '../store/receipts.ts'

/** Of which segments of a message a receipt is. */
export interface ReceiptOf {
  readonly message: MessageInProgress
  /** Bits of the segments. */
  readonly segments: bigint
  /** How the text of these is divided. */
  readonly segmentation: string | null
}

export function receiptFact(
  row: IncomingReceipt,
  { message, segments, segmentation }: ReceiptOf,
  { directory, atMs }: { readonly directory: Directory; readonly atMs: number },
): JournalReceipt {
  const { outcome, errorCode, carrierCode, mccmnc } = row
  return {
    kind: 'receipt',
    atMs,
    outcome,
    segments,
    segmentation,
    errorCode,
    carrierCode,
    mccmnc,
    segmentCharge: segmentCharge(message, mccmnc, directory),
    evidence: evidenceOf(row),
  }
}

export function evidenceOf(row: NotedReceipt): Evidence {
  const { carrierId, carrierMessageId, receivedAt, outcome, errorCode, receipt: kept } = row
  return { carrierId, carrierMessageId, receivedAt, outcome, errorCode, kept }
}

/**
 * What a segment of the message costs where its receipt names another network than the message has (a ported number, or
 * one of no known range). Null where no rate fits, or the same as for the network before: the message keeps what it was
 * charged, even if that rate was changed since.
 */
function segmentCharge(
  { accepted, state }: MessageInProgress,
  mccmnc: string | null,
  directory: Directory,
): Charge | null {
  if (mccmnc === null || !directory.hasNetworkRates) return null
  const { planId, recipient, country } = accepted
  const before = { planId, recipient, country, mccmnc: state.mccmnc ?? directory.mccmncOf(recipient) }
  if (before.mccmnc === mccmnc) return null
  const rate = directory.rateFor({ ...before, mccmnc })
  if (rate === null || (state.charge !== null && rate === directory.rateFor(before))) return null
  return chargeFor(rate, 1)
}
