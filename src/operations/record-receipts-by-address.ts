/** Receipts of messages in doubt, whose ids nobody knows. */
import type { Directory } from '../domain/configuration/directory.ts'
import type { Attempted, Settled } from '../domain/journal/message-facts.ts'
import { segmentsInDoubt } from '../domain/journal/messages-in-doubt.ts'
import type { ChangedMessage, MessageInProgress } from '../domain/journal/messages-in-progress.ts'
import { dialledDigits } from '../domain/messages/addresses.ts'
import { chargeFor } from '../domain/routing/rates.ts'
import { type Database, withTransaction } from '../store/database.ts'
import { lockMessages } from '../store/messages-at-rest.ts'
import { unparkReceipts } from '../store/parked-receipts.ts'
import type { IncomingReceipt } from '../store/receipt-matches.ts'
import { deleteAnsweredSubmits, type ReceiptByAddress } from '../store/unanswered-submits.ts'
import { receiptFact } from './receipt-facts.ts'
import { type Announcing, ChangesAtRest } from './record-facts.ts'

/** A receipt, and the segments of its message that it is about; bit n: segment n. */
interface Told {
  readonly message: MessageInProgress
  readonly receipt: IncomingReceipt
  readonly segmentBits: bigint
}

/** Why the attempt counts as accepted, as its timeline has it. */
const REASON = 'not answered; matched with a receipt by its addresses'

/**
 * Applies these receipts to their messages, if those are still in doubt: a receipt stands for the answer to the submit, and
 * tells the id. The others stay parked. Returns the messages whose status changed.
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
    // The first receipt settles its message. Another one may be of another copy.
    const told = new Map<string, Told>()
    for (const one of found) {
      const message = messages.get(one.msgId)
      const segmentBits = message === undefined ? 0n : segmentsOf(one, message, directory)
      if (segmentBits !== 0n && !told.has(one.msgId))
        told.set(one.msgId, { message: message!, receipt: one.receipt, segmentBits })
    }
    if (told.size === 0) return []
    const unparked = await unparkReceipts(
      tx,
      Array.from(told.values(), ({ receipt }) => receipt),
    )
    const own = [...told.values()].filter(({ receipt }) => unparked.has(receipt.parkedId!))
    for (const one of own) tell(changes, one, { directory, atMs })
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
function tell(
  changes: ChangesAtRest,
  { message, receipt, segmentBits }: Told,
  now: { readonly directory: Directory; readonly atMs: number },
): void {
  const { carrierId, carrierMessageId } = receipt
  const { segmentation, segments } = message.state
  for (let segment = 0; segment < segments; segment += 1) {
    const isToldOf = (segmentBits & (1n << BigInt(segment))) !== 0n
    const submitted = { carrierId, carrierMessageId, segment, segmentation }
    if (isToldOf) message.submissions.push({ ...submitted, atMs: null, latencyMs: null, receipt: null })
  }
  for (const fact of acceptance(message, receipt, now.directory)) changes.add(message, fact)
  changes.add(message, receiptFact(receipt, { message, segmentBits, segmentation }, now))
}

/** What the answer to its submit would have told, at the latest when the receipt came. */
function acceptance(
  { accepted, state }: MessageInProgress,
  { carrierId, receivedAt }: IncomingReceipt,
  directory: Directory,
): [Attempted, Settled] {
  const { planId, recipient } = accepted
  const mccmnc = directory.mccmncOf(recipient)
  const rate = directory.rateOf(planId, recipient, mccmnc)
  const told = { atMs: Date.parse(receivedAt), carrierId }
  const attempted = { outcome: 'accepted', commandStatus: null, segment: null, resubmission: false } as const
  return [
    { kind: 'attempted', ...told, tookMs: 0, ...attempted, reason: REASON },
    {
      kind: 'settled',
      ...told,
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
