import { isUnlearned, storedForms } from '../../domain/carrier-message-ids.ts'
import type { Directory } from '../../domain/directory.ts'
import type { Submitted } from '../../domain/message-facts.ts'
import { evidenceOf, receiptFact } from '../../operations/receipt-facts.ts'
import type { IncomingReceipt, NotedReceipt, SubmissionId } from '../../store/receipts.ts'
import { isPlainReceipt, type JournalItem, type Waiting } from './journal-items.ts'
import { isBeingSubmitted, type Live, type Lives } from './lives.ts'
import { SubmittedIds } from './submitted-ids.ts'

/** A receipt, and what to do when it is recorded (true) or cannot be (false): send its deliver_sm_resp. */
export interface ReceiptItem {
  readonly row: IncomingReceipt
  readonly done: ((committed: boolean) => void) | null
  /** Its message was in progress here, and the receipt has waited for its record. */
  readonly hasWaited?: true
}

/**
 * Returns as `first` the first receipt of each id and recipient (the recipient tells messages apart when a carrier reuses an
 * id). Later ones are `repeated` when they may still change something, that is after an UNKNOWN. After a final one they are
 * `dropped`, because the first final receipt wins, and are only kept.
 */
export function oneForEachId(items: readonly ReceiptItem[]): {
  first: ReceiptItem[]
  repeated: ReceiptItem[]
  dropped: ReceiptItem[]
} {
  const first = new Map<string, ReceiptItem>()
  const repeated: ReceiptItem[] = []
  const dropped: ReceiptItem[] = []
  for (const item of items) {
    const { carrierId, carrierMessageId, addresses, parkedId } = item.row
    const key = `${carrierId}:${carrierMessageId}:${addresses.join()}`
    const earlier = first.get(key)
    if (earlier === undefined) first.set(key, item)
    else if (earlier.row.outcome === 'UNKNOWN' || parkedId !== null) repeated.push(item)
    else dropped.push(item)
  }
  return { first: [...first.values()], repeated, dropped }
}

export interface ReceiptsInProgressOptions {
  readonly directory: () => Directory
  /** Of the database, Unix milliseconds. */
  readonly nowMs: () => number
  readonly append: (live: Live, fact: JournalItem['fact'], waiting?: Partial<Waiting>) => void
  readonly lives: Pick<Lives, 'get'>
  /** Makes the message leave memory as soon as it can. */
  readonly urge: (live: Live) => void
}

/** Matches receipts with the messages in this process's memory. A receipt that is not plain is left to their records. */
export class ReceiptsInProgress {
  readonly #options: ReceiptsInProgressOptions
  readonly #ids = new SubmittedIds()

  constructor(options: ReceiptsInProgressOptions) {
    this.#options = options
  }

  /** A segment was accepted, and its receipt will name this id. */
  expect(live: Live, submitted: Submitted): void {
    const { directory, urge } = this.#options
    for (const special of this.#ids.add(live, submitted)) urge(special)
    const carrier = directory().carrierById(submitted.carrierId)
    // Its receipt may use another spelling of the id, and only the records can resolve that.
    if (carrier && isUnlearned(carrier)) urge(live)
  }

  /**
   * Adds a receipt of a segment that is known here to its message. Otherwise returns the messages whose records must be
   * written before the receipt can be matched, usually none. If they are still being submitted, the receipt is parked.
   */
  receipt(
    row: IncomingReceipt,
    onReceiptCommitted: ((committed: boolean) => void) | null,
  ): 'told' | readonly string[] {
    if (row.unread) return this.#departing(this.#spelledLike(row))
    const known = row.parkedId === null ? this.#ids.find(row) : this.#ids.of(row)
    if (known === undefined) return []
    if (!isPlainReceipt(row, known)) return this.#departing(known.map(({ live }) => live))
    const { append, directory, nowMs } = this.#options
    const [{ live, bits: segments, segmentation }] = known
    const of = { message: live.message, segments, segmentation }
    append(live, receiptFact(row, of, { directory: directory(), atMs: nowMs() }), { onReceiptCommitted })
    return 'told'
  }

  /** Adds a receipt that changes nothing. Returns the same as `receipt`. */
  note(row: NotedReceipt): 'told' | readonly string[] {
    const known = this.#ids.find(row)
    if (known === undefined) return []
    const [{ live }] = known
    if (known.length > 1 || live.leaving) return this.#departing(known.map((each) => each.live))
    this.#options.append(live, { kind: 'noted', evidence: evidenceOf(row) })
    return 'told'
  }

  isKnown(id: SubmissionId): boolean {
    return this.#ids.of(id) !== undefined
  }

  /**
   * A message that is not here has the same carrier id. Returns the messages whose records must be written, as `receipt`
   * does.
   */
  namesakes(id: SubmissionId): readonly string[] {
    return this.#departing((this.#ids.of(id) ?? []).map(({ live }) => live))
  }

  /** A receipt is parked. If its message is here, the message's record is written, so that the two are matched. */
  parked(id: SubmissionId): void {
    for (const { live } of this.#ids.find(id) ?? []) this.#options.urge(live)
  }

  /** Whether the message is being submitted here. If so, its parked receipt is looked up when the message has left. */
  waitsFor(msgId: string, { carrierId, carrierMessageId }: SubmissionId): boolean {
    const live = this.#options.lives.get(msgId)
    if (live === undefined || !isBeingSubmitted(live)) return false
    const isNoted = live.parked.some(
      (id) => id.carrierId === carrierId && id.carrierMessageId === carrierMessageId,
    )
    if (!isNoted) live.parked.push({ carrierId, carrierMessageId })
    this.#options.urge(live)
    return true
  }

  /** The message has left memory. */
  left(live: Live): void {
    this.#ids.remove(live)
  }

  clear(): void {
    this.#ids.clear()
  }

  /** Returns the messages that the receipt may be for, while nobody knows how its carrier spells ids in receipts. */
  #spelledLike({ carrierId, carrierMessageId, receiptedId, idRule }: IncomingReceipt): Live[] {
    const forms = storedForms(receiptedId ?? carrierMessageId, idRule)
    const known = forms.flatMap((form) => this.#ids.of({ carrierId, carrierMessageId: form }) ?? [])
    return known.map(({ live }) => live)
  }

  /** Returns the messages that can leave now, and do so as soon as possible. The others leave when they are submitted. */
  #departing(lives: readonly Live[]): string[] {
    for (const live of lives) this.#options.urge(live)
    return lives.filter((live) => !isBeingSubmitted(live)).map(({ message }) => message.msgId)
  }
}
