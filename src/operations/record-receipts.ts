import {
  type IncomingReceipt,
  isAddressedTo,
  isIntermediate,
  receiptFact,
} from '../domain/journal/incoming-receipts.ts'
import type { LaterFact } from '../domain/journal/message-facts.ts'
import type { ChangedMessage, MessageInProgress } from '../domain/journal/messages-in-progress.ts'
import { isFinal } from '../domain/messages/messages.ts'
import { isAway, isSharded } from '../store/citus.ts'
import { type Database, type Queryable, withTransaction } from '../store/database.ts'
import { lockRecords, messageOfRow } from '../store/messages-at-rest.ts'
import { type ParkedReceipt, parkReceipts, unparkReceipts } from '../store/parked-receipts.ts'
import { matchClosely, matchReceipts, type ReceiptKey, type ReceiptMatch } from '../store/receipt-matches.ts'
import { type Announcing, ChangesAtRest } from './record-facts.ts'

export interface ReceiptOptions extends Announcing {
  /** Unix milliseconds. */
  readonly atMs: number
  /** No message with a submission is newer than this. */
  readonly newestMsgId: string
  /**
   * Returns true: the caller keeps the receipt at this index until the record of its message is written. False: park it. If the
   * message is being submitted here, the receipt has been noted for a later look-up.
   */
  readonly keepOrLookUpLater: (msgId: string, index: number) => boolean
}

interface RecordedReceipts {
  /** Messages whose status changed. */
  readonly changed: readonly ChangedMessage[]
  /** By index, the receipts of messages that are here: retry those once their message is at rest. */
  readonly here: ReadonlyMap<number, string>
  /** Indexes of receipts whose plan is away, which have had no effect. */
  readonly away: ReadonlySet<number>
}

/**
 * Records receipts that `ReceiptMatcher` left to the records, in the order given. A receipt without a message, or whose
 * message another process has in progress, is parked, unless it is intermediate. A parked one is unparked when it matches. A
 * repeated call changes no message.
 *
 * On several servers (store/citus.ts), a record may show a little after its submissions, so there the receipt of a message
 * without a record is parked as well.
 *
 * @throws ServerAwayError when one of them may be of a plan that is away: each is then to be recorded alone
 */
export async function recordReceipts(
  db: Database,
  receipts: readonly IncomingReceipt[],
  options: ReceiptOptions,
): Promise<RecordedReceipts> {
  if (receipts.length === 0) return { changed: [], here: new Map(), away: new Set() }
  const changes = new ChangesAtRest(options)
  const recorded = await withTransaction(db, async (tx) => {
    const { matches, away } = await matchesOf(tx, receipts, options)
    const here = new Map<number, string>()
    const parked: ParkedReceipt[] = []
    const unparked: IncomingReceipt[] = []
    for (const [index, receipt] of receipts.entries()) {
      if (away.has(index)) continue
      const match = matches.get(index)
      // Of an intermediate one only a row of its own is written, so it does not matter where the message is.
      const isAtRest = match?.lane === null && (match.message !== null || !isSharded(db))
      if (match !== undefined && (isAtRest || isIntermediate(receipt))) {
        if (receipt.parkedId !== null) unparked.push(receipt)
        if (match.message !== null)
          changes.add(match.message, factOf(receipt, match.message, match.segments, options))
      } else if (match !== undefined && options.keepOrLookUpLater(match.msgId, index))
        here.set(index, match.msgId)
      else if (receipt.parkedId === null && !isIntermediate(receipt))
        parked.push({ ...receipt, msgId: match?.msgId ?? null })
    }
    if (parked.length > 0) await parkReceipts(tx, parked)
    if (unparked.length > 0) await unparkReceipts(tx, unparked)
    return { changed: await changes.write(tx), here, away }
  })
  changes.committed()
  return recorded
}

/** The locked message that a receipt belongs to. */
interface Matched extends ReceiptMatch {
  /** The lane that has it in progress; null: it is at rest. */
  readonly lane: number | null
  /**
   * The recorded message, without what is still to be submitted. Null when it is no longer kept. All receipts of a message
   * share one object.
   */
  readonly message: MessageInProgress | null
}

function keysOf(receipts: readonly IncomingReceipt[]): ReceiptKey[] {
  return receipts.flatMap((receipt, index) => {
    const { untranslated, carrierId, carrierMessageId } = receipt
    const addresses = isIntermediate(receipt) ? null : receipt.addresses
    const key = { index, carrierId, carrierMessageId, addresses, isIntermediate: isIntermediate(receipt) }
    return untranslated ? [] : [key]
  })
}

/** By index, the plan of the newest message that got the receipt's id. Nearly always `recordReceipts` finds the same message. */
export async function plansOfReceipts(
  db: Queryable,
  receipts: readonly IncomingReceipt[],
  newestMsgId: string,
): Promise<ReadonlyMap<number, number>> {
  const found = await matchReceipts(db, keysOf(receipts), newestMsgId)
  return new Map(found.map(({ index, planId }) => [index, planId]))
}

/**
 * The messages of receipts, by index. Nearly all are obvious; only the others need a closer look (docs/adr/0011). Nothing is
 * asked of servers that are away.
 */
async function matchesOf(
  tx: Queryable,
  receipts: readonly IncomingReceipt[],
  { newestMsgId }: ReceiptOptions,
): Promise<{ readonly matches: ReadonlyMap<number, Matched>; readonly away: ReadonlySet<number> }> {
  const keys = keysOf(receipts)
  const away = new Set<number>()
  if (keys.length === 0) return { matches: new Map(), away }
  const locked = new LockedMessages()
  const found = await matchReceipts(tx, keys, newestMsgId)
  for (const { index, planId } of found) if (isAway(tx, planId)) away.add(index)
  const newest = await locked.lock(
    tx,
    found.filter(({ index }) => !away.has(index)),
  )
  const obvious = newest.filter((match) => isObvious(match, receipts[match.index]!))
  const matches = new Map(obvious.map((match) => [match.index, match]))
  const rest = new Set(newest.flatMap(({ index }) => (matches.has(index) ? [] : [index])))
  if (rest.size === 0) return { matches, away }
  const others = keys.filter(({ index }) => rest.has(index))
  for (const match of await locked.lock(tx, await matchClosely(tx, others, newestMsgId)))
    matches.set(match.index, match)
  return { matches, away }
}

/** Whether the message has one segment, is undecided, and went to one of the addresses. */
function isObvious({ message }: Matched, receipt: IncomingReceipt): boolean {
  if (message === null) return false
  const { accepted, state } = message
  const fits = receipt.addresses.length === 0 || isAddressedTo(receipt, accepted.recipient)
  return !isFinal(state.status) && state.segments === 1 && state.segmentation === null && fits
}

/** Messages that a transaction has locked, each one once. */
class LockedMessages {
  readonly #locked = new Map<string, Pick<Matched, 'lane' | 'message'>>()

  async lock(tx: Queryable, matches: readonly ReceiptMatch[]): Promise<Matched[]> {
    const keys = new Map(
      matches.flatMap(({ planId, msgId }) => (this.#locked.has(msgId) ? [] : [[msgId, { planId, msgId }]])),
    )
    for (const row of keys.size === 0 ? [] : await lockRecords(tx, [...keys.values()]))
      this.#locked.set(row.msgId, { lane: row.lane, message: messageOfRow(row) })
    return matches.map((match) => ({
      ...match,
      ...(this.#locked.get(match.msgId) ?? { lane: null, message: null }),
    }))
  }
}

/** A segment whose row is written. */
const RECORDED = { atMs: null, latencyMs: null, receipt: null, isRecorded: true } as const

/** Counts only segments that are divided as the message is now. */
function factOf(
  receipt: IncomingReceipt,
  message: MessageInProgress,
  segments: ReceiptMatch['segments'],
  { directory, atMs }: ReceiptOptions,
): LaterFact {
  const { carrierId, carrierMessageId } = receipt
  const { segmentation } = message.state
  let segmentBits = 0n
  for (const one of segments) {
    if (one.segmentation === segmentation) segmentBits |= 1n << BigInt(one.segment)
    const isThere = message.submissions.some(
      (known) => known.segment === one.segment && known.carrierMessageId === carrierMessageId,
    )
    if (!isThere) message.submissions.push({ ...RECORDED, carrierId, carrierMessageId, ...one })
  }
  return receiptFact(receipt, { message, segmentBits, segmentation }, { directory, atMs })
}
