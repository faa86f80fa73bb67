/**
 * A receipt as a fact of its message, once that is found: by `ReceiptMatcher` in memory, by record-receipts.ts in the records, or
 * by record-receipts-by-address.ts.
 */
import type { Directory } from '../domain/configuration/directory.ts'
import type { JournalReceipt, Noted } from '../domain/journal/message-facts.ts'
import type { MessageInProgress } from '../domain/journal/messages-in-progress.ts'
import { type Charge, chargeFor } from '../domain/routing/rates.ts'
import type { IncomingReceipt } from '../store/receipt-matches.ts'

/** The segments of a message that a receipt is for. */
export interface ReceiptOf {
  readonly message: MessageInProgress
  /** Bit n: segment n. */
  readonly segmentBits: bigint
  /** How the text is divided into these segments. */
  readonly segmentation: string | null
}

/** Whether the receipt names this recipient, in international format. */
export function isAddressedTo({ addresses }: Pick<IncomingReceipt, 'addresses'>, recipient: string): boolean {
  return addresses.includes(recipient.slice(1))
}

export function receiptFact(
  row: IncomingReceipt,
  { message, segmentBits, segmentation }: ReceiptOf,
  { directory, atMs }: { readonly directory: Directory; readonly atMs: number },
): JournalReceipt | Noted {
  const { carrierId, carrierMessageId, receivedAt, outcome, errorCode, receipt: kept } = row
  const matchedAtMs = row.parkedId === null ? null : atMs
  const evidence = { carrierId, carrierMessageId, receivedAt, matchedAtMs, outcome, errorCode, kept }
  if (outcome === 'SENT') return { kind: 'noted', evidence }
  return {
    kind: 'receipt',
    atMs,
    outcome,
    segmentBits,
    segmentation,
    errorCode,
    carrierCode: row.carrierCode,
    mccmnc: row.mccmnc,
    segmentCharge: segmentCharge(message, row.mccmnc, directory),
    evidence,
  }
}

/**
 * Returns what a segment costs when the receipt names another network than the message has: the number was ported, or is of
 * no known range. Returns null when no rate fits, or when the rate is the same as for the network before. The message then
 * keeps its charge, even if that rate has changed since.
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
