import { BoundedMap } from '../../collections/bounded-map.ts'
import { SlotMap } from '../../collections/slot-map.ts'
import { isUnlearned, storedForms } from '../../domain/carriers/message-ids.ts'
import type { Submitted } from '../../domain/journal/message-facts.ts'
import { isFinal } from '../../domain/messages/messages.ts'
import { isAddressedTo, receiptFact } from '../../operations/receipt-facts.ts'
import type { IncomingReceipt, SubmissionId } from '../../store/receipt-matches.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import type { JournalItem, Waiting } from './journal-items.ts'
import { isBeingSubmitted, type Live, type Lives } from './lives.ts'

export interface ReceiptMatcherOptions extends Pick<NodeParts, 'directory' | 'nowMs'> {
  readonly append: (live: Live, fact: JournalItem['fact'], waiting?: Partial<Waiting>) => void
  readonly lives: Pick<Lives, 'get'>
  /** Has the message's record written as soon as possible. */
  readonly urge: (live: Live) => void
}

/**
 * `matched`: the receipt is among the facts of its message. Otherwise the messages whose records must be written before it can
 * be matched there, usually none.
 */
export type MatchedOrUnrecorded = 'matched' | readonly string[]

/** Matches receipts with the messages in this process's memory. A receipt that is not plain is left to their records. */
export class ReceiptMatcher {
  readonly #options: ReceiptMatcherOptions
  readonly #ids = new SubmittedIds()

  constructor(options: ReceiptMatcherOptions) {
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
   * Adds a receipt of a segment that is known here to its message. A receipt that is not plain is left to the records; if its
   * message is still being submitted, it is parked there, and looked up once the message has left memory.
   */
  match(row: IncomingReceipt, onCommitted: JournalItem['onCommitted']): MatchedOrUnrecorded {
    if (row.untranslated) return this.#project(this.#spelledLike(row))
    const known = row.parkedId === null ? this.#ids.findOrRemember(row) : this.#ids.of(row)
    if (known === undefined) return []
    if (!isPlainReceipt(row, known)) return this.#project(known.map(({ live }) => live))
    const { append, directory, nowMs } = this.#options
    const [{ live, segmentBits, segmentation }] = known
    const of = { message: live.message, segmentBits, segmentation }
    append(live, receiptFact(row, of, { directory: directory(), atMs: nowMs() }), { onCommitted })
    return 'matched'
  }

  isKnown(id: SubmissionId): boolean {
    return this.#ids.of(id) !== undefined
  }

  /**
   * A message that is not here got the same id from the carrier. Returns the messages whose records must be written, as
   * `match` does.
   */
  namesakes(id: SubmissionId): readonly string[] {
    return this.#project((this.#ids.of(id) ?? []).map(({ live }) => live))
  }

  /** A receipt is parked. If its message is here, the message's record is written, so that the two are matched. */
  receiptParked(id: SubmissionId): void {
    for (const { live } of this.#ids.findOrRemember(id) ?? []) this.#options.urge(live)
  }

  /**
   * Has a parked receipt looked up once its message has left memory, and urges the message to. Returns false, and does nothing,
   * if the message is not being submitted here.
   */
  lookUpOnceLeft(msgId: string, { carrierId, carrierMessageId }: SubmissionId): boolean {
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

  /** Urges the projection of these messages. Returns those that need not be submitted first. */
  #project(lives: readonly Live[]): string[] {
    for (const live of lives) this.#options.urge(live)
    return lives.filter((live) => !isBeingSubmitted(live)).map(({ message }) => message.msgId)
  }
}

/**
 * Whether the receipt is for exactly one message and, if it is not intermediate, can still change it here. Its addresses
 * must name the recipient: only messages of this process are seen here, and the carrier may have given the id to another's
 * too. Among the records a receipt without addresses is matched as well, because there the newest submission of the id is known.
 */
function isPlainReceipt(row: IncomingReceipt, [{ live }, ...others]: readonly [OfId, ...OfId[]]): boolean {
  const { accepted, state } = live.message
  return (
    row.parkedId === null &&
    others.length === 0 &&
    !live.leaving &&
    (row.outcome === 'SENT' || (isAddressedTo(row, accepted.recipient) && !isFinal(state.status)))
  )
}

/** The segments of a message that were accepted under one id. */
interface OfId {
  readonly live: Live
  readonly segmentation: string | null
  segmentBits: bigint
}

/** How long a receipt without a message is remembered, because the carrier's answer may be on its way. */
const EARLY_MS = 60_000
const MOST_EARLY = 10_000

/** Finds the messages of this process by the ids that carriers gave their segments. */
class SubmittedIds {
  /** Most carriers give each message its own id. If several messages share one, the records tell them apart. */
  readonly #ofId = new SlotMap<string, [OfId, ...OfId[]]>()
  readonly #early = new BoundedMap<string, number>(MOST_EARLY)

  /** Returns the messages to record at once: all that share an id, or one whose receipt came before the answer. */
  add(live: Live, { carrierId, carrierMessageId, segment, segmentation }: Submitted): Live[] {
    const key = keyOf({ carrierId, carrierMessageId })
    const bit = 1n << BigInt(segment)
    const known = this.#ofId.get(key)
    const own = known?.find((each) => each.live === live)
    if (own !== undefined && own.segmentation === segmentation) own.segmentBits |= bit
    else if (known !== undefined) known.push({ live, segmentation, segmentBits: bit })
    else this.#ofId.set(key, [{ live, segmentation, segmentBits: bit }])
    live.submissionKeys.push(key)
    const isEarly = (this.#early.get(key) ?? 0) > performance.now()
    return known !== undefined && known.length > 1 ? known.map((each) => each.live) : isEarly ? [live] : []
  }

  of(id: SubmissionId): readonly [OfId, ...OfId[]] | undefined {
    return this.#ofId.get(keyOf(id))
  }

  /** Returns undefined, and remembers the id, if no message has it. */
  findOrRemember(id: SubmissionId): readonly [OfId, ...OfId[]] | undefined {
    const key = keyOf(id)
    const known = this.#ofId.get(key)
    if (known !== undefined) return known
    this.#early.set(key, performance.now() + EARLY_MS)
    return undefined
  }

  remove(live: Live): void {
    for (const key of live.submissionKeys) {
      const others = this.#ofId.get(key)?.filter((each) => each.live !== live) ?? []
      const [first, ...rest] = others
      if (first === undefined) this.#ofId.delete(key)
      else this.#ofId.set(key, [first, ...rest])
    }
  }

  clear(): void {
    this.#ofId.clear()
  }
}

function keyOf({ carrierId, carrierMessageId }: SubmissionId): string {
  return `${carrierId} ${carrierMessageId}`
}
