/** Receipts of messages in doubt, whose carrier never answered with an id. */
import type { Directory } from '../domain/configuration/directory.ts'
import { type IncomingReceipt, receiptFact } from '../domain/journal/incoming-receipts.ts'
import type { Attempted, Settled } from '../domain/journal/message-facts.ts'
import { segmentsInDoubt } from '../domain/journal/messages-in-doubt.ts'
import type { ChangedMessage, MessageInProgress } from '../domain/journal/messages-in-progress.ts'
import { dialledDigits } from '../domain/messages/addresses.ts'
import { chargeFor } from '../domain/routing/rates.ts'
import { type Database, withTransaction } from '../store/database.ts'
import { lockMessages } from '../store/messages-at-rest.ts'
import { unparkReceipts } from '../store/parked-receipts.ts'
import { deleteAnsweredSubmits, type ReceiptByAddress } from '../store/unanswered-submits.ts'
import { type Announcing, ChangesAtRest } from './record-facts.ts'

/** A receipt, and the segments of its message that it is about; bit n: segment n. */
interface MatchedReceipt {
  readonly message: MessageInProgress
  readonly receipt: IncomingReceipt
  readonly segmentBits: bigint
}

/** Why the attempt counts as accepted, as its timeline has it. */
const REASON = 'not answered; matched with a receipt by its addresses'

/**
 * Applies these receipts to their messages, if those are still in doubt: a receipt stands for the answer to the submit, and
 * has the id. The others stay parked. Returns the messages whose status changed.
 *
 * @param atMs Unix milliseconds
 */
export async function recordReceiptsByAddress(
  db: Database,
  found: readonly ReceiptByAddress[],
  { atMs, ...announcing }: Announcing & { readonly atMs: number },
): Promise<readonly ChangedMessage[]> {
  const { directory } = announcing
  const changes = new ChangesAtRest(announcing)
  const changed = await withTransaction(db, async (tx) => {
    const { messages } = await lockMessages(tx, found)
    // Only the first receipt of a message. Another one may be of another copy.
    const matched = new Map<string, MatchedReceipt>()
    for (const one of found) {
      const message = messages.get(one.msgId)
      const segmentBits = message === undefined ? 0n : segmentsOf(one, message, directory)
      if (segmentBits !== 0n && !matched.has(one.msgId))
        matched.set(one.msgId, { message: message!, receipt: one.receipt, segmentBits })
    }
    if (matched.size === 0) return []
    const unparked = await unparkReceipts(
      tx,
      Array.from(matched.values(), ({ receipt }) => receipt),
    )
    const own = [...matched.values()].filter(({ receipt }) => unparked.has(receipt.parkedId!))
    for (const one of own) apply(changes, one, { directory, atMs })
    await deleteAnsweredSubmits(
      tx,
      own.map(({ message: { msgId, accepted } }) => ({
        msgId,
        recipient: dialledDigits(accepted.recipient),
      })),
    )
    return await changes.write(tx)
  })
  changes.committed()
  return changed
}

/** Of a message that was sent several times, a carrier may reject one copy because it has another. */
function segmentsOf(
  { receipt: { carrierId, outcome }, copies }: ReceiptByAddress,
  { state }: MessageInProgress,
  directory: Directory,
): bigint {
  if (copies > 1 && outcome !== 'DELIVERED') return 0n
  return segmentsInDoubt(state, directory.carrierById(carrierId)?.longMessages === 'payload')
}

/** The message is accepted with these segments, because no others were left. */
function apply(
  changes: ChangesAtRest,
  { message, receipt, segmentBits }: MatchedReceipt,
  now: { readonly directory: Directory; readonly atMs: number },
): void {
  const { carrierId, carrierMessageId } = receipt
  const { segmentation, segments } = message.state
  for (let segment = 0; segment < segments; segment += 1) {
    const isInDoubt = (segmentBits & (1n << BigInt(segment))) !== 0n
    const submitted = { carrierId, carrierMessageId, segment, segmentation }
    if (isInDoubt) message.submissions.push({ ...submitted, atMs: null, latencyMs: null, receipt: null })
  }
  for (const fact of acceptance(message, receipt, now.directory)) changes.add(message, fact)
  changes.add(message, receiptFact(receipt, { message, segmentBits, segmentation }, now))
}

/** The facts of the answer that its submit did not get, with the latest time at which it can have come. */
function acceptance(
  { accepted, state }: MessageInProgress,
  { carrierId, receivedAt }: IncomingReceipt,
  directory: Directory,
): [Attempted, Settled] {
  const { planId, recipient } = accepted
  const mccmnc = directory.mccmncOf(recipient)
  const rate = directory.rateOf(planId, recipient, mccmnc)
  const accepting = { atMs: Date.parse(receivedAt), carrierId }
  const attempted = { outcome: 'accepted', commandStatus: null, segment: null, resubmission: false } as const
  return [
    { kind: 'attempted', ...accepting, tookMs: 0, ...attempted, reason: REASON },
    {
      kind: 'settled',
      ...accepting,
      status: 'SENT',
      errorCode: '000',
      carrierCode: null,
      routeId: state.dispatch?.routeId || state.routeId,
      routeReason: state.routeReason,
      segments: null,
      segmentation: null,
      mccmnc,
      charge: rate === null ? null : chargeFor(rate, state.segments),
    },
  ]
}
