import type { RuleInForce } from '../carriers/message-ids.ts'
import type { KeptReceipt } from '../carriers/receipts.ts'
import type { ReceiptOutcome } from '../carriers/statuses.ts'
import type { Directory } from '../configuration/directory.ts'
import { type Charge, chargeFor } from '../routing/rates.ts'
import type { JournalReceipt, Noted } from './message-facts.ts'
import type { MessageInProgress } from './messages-in-progress.ts'

/**
 * A receipt from when it was read until it is a fact of its message. Its message is found by `ReceiptMatcher` in memory, by
 * record-receipts.ts in the records, or by record-receipts-by-address.ts.
 */

/** What one receipt says. */
export interface IncomingReceipt {
  readonly carrierId: number
  /** Canonical form under the carrier's id rule. */
  readonly carrierMessageId: string
  /** Digits of source_addr and destination_addr, if any: the recipient is one of them (some carriers swap them). */
  readonly addresses: readonly string[]
  /** That one of its two addresses that is an alphanumeric sender; null: neither is. */
  readonly senderName: string | null
  /** SENT: it is intermediate (`isIntermediate`), and changes nothing. */
  readonly outcome: ReceiptOutcome
  readonly errorCode: string
  readonly carrierCode: string | null
  readonly mccmnc: string | null
  /** ISO 8601. */
  readonly receivedAt: string
  /** Set when the receipt comes out of parked_receipts, from which it is removed if it matches. */
  readonly parkedId: number | null
  /** The carrier's id rule is not learned yet: the id is only normalised, and the receipt is parked as it is. */
  readonly untranslated: boolean
  /** Its id as the receipt has it, when `carrierMessageId` differs. */
  readonly receiptedId: string | null
  /** The rule under which the id was translated into `carrierMessageId`. */
  readonly idRule: RuleInForce
  /** As it came; null when it was parked before receipts were kept. */
  readonly receipt: KeptReceipt | null
}

/** The segments of a message that a receipt is for. */
export interface ReceiptOf {
  readonly message: MessageInProgress
  /** Bit n: segment n. */
  readonly segmentBits: bigint
  /** How the text is divided into these segments. */
  readonly segmentation: string | null
}

/** Whether the message is still on its way: the receipt changes nothing, and is only noted. */
export function isIntermediate({ outcome }: Pick<IncomingReceipt, 'outcome'>): boolean {
  return outcome === 'SENT'
}

/** Whether the receipt names this recipient, in international format. */
export function isAddressedTo({ addresses }: Pick<IncomingReceipt, 'addresses'>, recipient: string): boolean {
  return addresses.includes(recipient.slice(1))
}

export function receiptFact(
  receipt: IncomingReceipt,
  { message, segmentBits, segmentation }: ReceiptOf,
  { directory, atMs }: { readonly directory: Directory; readonly atMs: number },
): JournalReceipt | Noted {
  const {
    carrierId,
    carrierMessageId,
    receivedAt,
    outcome,
    errorCode,
    mccmnc,
    carrierCode,
    receipt: kept,
  } = receipt
  const matchedAtMs = receipt.parkedId === null ? null : atMs
  const evidence = { carrierId, carrierMessageId, receivedAt, matchedAtMs, outcome, errorCode, kept }
  if (outcome === 'SENT') return { kind: 'noted', evidence }
  return {
    kind: 'receipt',
    atMs,
    outcome,
    segmentBits,
    segmentation,
    errorCode,
    carrierCode,
    mccmnc,
    segmentCharge: segmentCharge(message, mccmnc, directory),
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
