import type { LaterFact } from '../domain/journal-entries.ts'
import type { ChangedMessage, MessageInProgress } from '../domain/messages-in-progress.ts'
import { type Database, type Queryable, withTransaction } from '../store/database.ts'
import { type ParkedReceipt, parkReceipts, unparkReceipts } from '../store/parked-receipts.ts'
import {
  matchClosely,
  matchReceipts,
  type NotedReceipt,
  type ReceiptMatch,
  type ReceiptRow,
} from '../store/receipts.ts'
import { evidenceOf, receiptFact } from './receipt-facts.ts'
import { type Announcing, ChangesAtRest } from './record-facts.ts'

export interface ReceiptOptions extends Announcing {
  /** Unix milliseconds. */
  readonly atMs: number
  /** No submission is newer. */
  readonly newestMsgId: string
  /** Whether the message is in this process's memory and can be waited for. `place`: of the receipt. */
  readonly isHere: (msgId: string, place: number) => boolean
}

/**
 * Records receipts, at most one per (carrier, id, addresses). One without a message, or whose message another process has
 * in progress, is parked; out of parked_receipts it goes where it matches. Gives the messages whose status changed, and by
 * its place each receipt of a message that is here: it is to be tried again once that is at rest. Repeated, it changes
 * nothing.
 */
export async function recordReceipts(
  db: Database,
  receipts: readonly ReceiptRow[],
  options: ReceiptOptions,
): Promise<{ readonly changed: readonly ChangedMessage[]; readonly here: ReadonlyMap<number, string> }> {
  if (receipts.length === 0) return { changed: [], here: new Map() }
  return withTransaction(db, async (tx) => {
    const matches = await matchesOf(tx, receipts, options.newestMsgId)
    const changes = new ChangesAtRest(options)
    const here = new Map<number, string>()
    const parked: ParkedReceipt[] = []
    const unparked: ReceiptRow[] = []
    for (const [place, receipt] of receipts.entries()) {
      const match = matches.get(place)
      if (match !== undefined && match.lane === null) {
        if (receipt.parked_id !== null) unparked.push(receipt)
        if (match.message !== null)
          changes.add(match.message, factOf(receipt, match.message, match.segments, options))
      } else if (match !== undefined && options.isHere(match.msgId, place)) here.set(place, match.msgId)
      else if (receipt.parked_id === null) parked.push({ ...receipt, msg_id: match?.msgId ?? null })
    }
    if (parked.length > 0) await parkReceipts(tx, parked)
    if (unparked.length > 0) await unparkReceipts(tx, unparked)
    return { changed: await changes.write(tx), here }
  })
}

/** Nearly all of them are plain; only the rest pays for a closer look, by a statement of its own (docs/adr/0011). */
async function matchesOf(
  tx: Queryable,
  receipts: readonly ReceiptRow[],
  newestMsgId: string,
): Promise<ReadonlyMap<number, ReceiptMatch>> {
  const keys = receipts.flatMap(({ unread, addresses, ...receipt }, place) =>
    unread ? [] : [{ ...keyOf(receipt, place), addresses, noted: false }],
  )
  if (keys.length === 0) return new Map()
  const { matches, rest } = await matchReceipts(tx, keys, newestMsgId)
  if (rest.size === 0) return matches
  const others = keys.filter(({ place }) => rest.has(place))
  const messages = new Map(Array.from(matches.values(), ({ msgId, message }) => [msgId, message]))
  for (const [place, match] of await matchClosely(tx, others, newestMsgId))
    matches.set(place, { ...match, message: messages.get(match.msgId) ?? match.message })
  return matches
}

function keyOf(
  { carrier_id, carrier_message_id }: Pick<ReceiptRow, 'carrier_id' | 'carrier_message_id'>,
  place: number,
) {
  return { place, carrier_id, carrier_message_id }
}

/** Of the segments, those that are cut as the message is now. */
function factOf(
  receipt: ReceiptRow,
  message: MessageInProgress,
  segments: ReceiptMatch['segments'],
  { directory, atMs }: ReceiptOptions,
): LaterFact {
  const { carrier_id: carrierId, carrier_message_id: carrierMessageId } = receipt
  const { cut } = message.state
  let bits = 0n
  for (const one of segments) {
    if (one.cut === cut) bits |= 1n << BigInt(one.segment)
    const isThere = message.submissions.some(
      (known) => known.segment === one.segment && known.carrierMessageId === carrierMessageId,
    )
    if (!isThere)
      message.submissions.push({ carrierId, carrierMessageId, ...one, receipt: null, isRecorded: true })
  }
  return receiptFact(receipt, { message, segments: bits, cut }, { directory, atMs })
}

/** Keeps receipts that change nothing, for the story of their messages; those of messages that are not known are not kept. */
export async function noteReceipts(
  db: Database,
  receipts: readonly NotedReceipt[],
  options: Announcing & { readonly newestMsgId: string },
): Promise<void> {
  if (receipts.length === 0) return
  await withTransaction(db, async (tx) => {
    const keys = receipts.map((receipt, place) => ({
      ...keyOf(receipt, place),
      addresses: null,
      noted: true,
    }))
    const matches = await matchClosely(tx, keys, options.newestMsgId)
    const changes = new ChangesAtRest(options)
    // Nothing but rows of their own is written, so it does not matter where the message is.
    for (const [place, receipt] of receipts.entries()) {
      const message = matches.get(place)?.message
      if (message) changes.add(message, { kind: 'noted', evidence: evidenceOf(receipt) })
    }
    await changes.write(tx)
  })
}
