import { BoundedMap } from '../../collections/bounded-map.ts'
import { SlotMap } from '../../collections/slot-map.ts'
import { isUnlearned, storedForms } from '../../domain/carriers/message-ids.ts'
import {
  type IncomingReceipt,
  isAddressedTo,
  isIntermediate,
  receiptFact,
} from '../../domain/journal/incoming-receipts.ts'
import type { Submitted } from '../../domain/journal/message-facts.ts'
import { isFinal } from '../../domain/messages/messages.ts'
import type { SubmissionId } from '../../store/receipt-matches.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import type { JournalItem, Waiting } from './journal-items.ts'
import { isBeingSubmitted, type OwnedMessage, type OwnedMessages } from './owned-messages.ts'

export interface ReceiptMatcherOptions extends Pick<NodeParts, 'directory' | 'clock'> {
  readonly append: (owned: OwnedMessage, fact: JournalItem['fact'], waiting?: Partial<Waiting>) => void
  readonly ownedMessages: Pick<OwnedMessages, 'get'>
  /** See `Projector.urge`. */
  readonly urge: (owned: OwnedMessage) => void
}

/**
 * `matched`: the receipt is among the facts of its message. `unknown`: no message here has its id. Otherwise the receipt is
 * matched in the records, after those of the `unrecorded` messages are written.
 */
export type MatchHere = 'matched' | 'unknown' | { readonly unrecorded: readonly string[] }

/**
 * Intermediate receipts of a message that are kept. They are answered at once, so a carrier that repeats them endlessly is not
 * slowed by a full window.
 */
const MOST_NOTED = 32

/**
 * Matches receipts with the messages in this process's memory. A receipt that is not plain is left to their records
 * (operations/record-receipts.ts).
 */
export class ReceiptMatcher {
  readonly #options: ReceiptMatcherOptions
  readonly #ids = new SubmittedIds()

  constructor(options: ReceiptMatcherOptions) {
    this.#options = options
  }

  /** A segment was accepted, and its receipt will name this id. */
  expect(owned: OwnedMessage, submitted: Submitted): void {
    const { directory, urge } = this.#options
    for (const special of this.#ids.add(owned, submitted)) urge(special)
    const carrier = directory().carrierById(submitted.carrierId)
    // Its receipt may use another spelling of the id, and only the records can resolve that.
    if (carrier && isUnlearned(carrier)) urge(owned)
  }

  /**
   * Adds a receipt of a segment that is known here to its message. A receipt that is not plain is left to the records. A message
   * that is still being submitted is not among the `unrecorded`: its receipt is parked until it has left memory.
   */
  match(receipt: IncomingReceipt, onCommitted: JournalItem['onCommitted']): MatchHere {
    if (receipt.untranslated) {
      const alike = this.#spelledLike(receipt)
      return alike.length === 0 ? 'unknown' : { unrecorded: this.#urge(alike) }
    }
    const known = receipt.parkedId === null ? this.#ids.findOrRemember(receipt) : this.#ids.of(receipt)
    if (known === undefined) return 'unknown'
    if (!isPlainReceipt(receipt, known)) return { unrecorded: this.#urge(known.map(({ owned }) => owned)) }
    const { append, directory, clock } = this.#options
    const [{ owned, segmentBits, segmentation }] = known
    if (isIntermediate(receipt)) owned.noted += 1
    if (owned.noted > MOST_NOTED && isIntermediate(receipt)) {
      onCommitted?.(true)
      return 'matched'
    }
    const of = { message: owned.message, segmentBits, segmentation }
    append(owned, receiptFact(receipt, of, { directory: directory(), atMs: clock() }), { onCommitted })
    return 'matched'
  }

  isKnown(id: SubmissionId): boolean {
    return this.#ids.of(id) !== undefined
  }

  /**
   * A message that is not here got this id from the carrier. Urges the messages here that have it too, and returns those whose
   * records must be written, as `match` does.
   */
  urgeNamesakes(id: SubmissionId): readonly string[] {
    return this.#urge((this.#ids.of(id) ?? []).map(({ owned }) => owned))
  }

  /** A receipt is parked. A message here that has its id is urged, because the two are matched once it has its record. */
  receiptParked(id: SubmissionId): void {
    for (const { owned } of this.#ids.findOrRemember(id) ?? []) this.#options.urge(owned)
  }

  /**
   * Has a parked receipt looked up once its message has left memory, and urges the message to. Returns false, and does nothing,
   * if the message is not being submitted here.
   */
  lookUpOnceLeft(msgId: string, { carrierId, carrierMessageId }: SubmissionId): boolean {
    const owned = this.#options.ownedMessages.get(msgId)
    if (owned === undefined || !isBeingSubmitted(owned)) return false
    const isNoted = owned.parked.some(
      (id) => id.carrierId === carrierId && id.carrierMessageId === carrierMessageId,
    )
    if (!isNoted) owned.parked.push({ carrierId, carrierMessageId })
    this.#options.urge(owned)
    return true
  }

  /** The message has left memory. */
  left(owned: OwnedMessage): void {
    this.#ids.drop(owned)
  }

  clear(): void {
    this.#ids.clear()
  }

  /** Returns the messages that the receipt may be for, while nobody knows how its carrier spells ids in receipts. */
  #spelledLike({ carrierId, carrierMessageId, receiptedId, idRule }: IncomingReceipt): OwnedMessage[] {
    const forms = storedForms(receiptedId ?? carrierMessageId, idRule)
    const known = forms.flatMap((form) => this.#ids.of({ carrierId, carrierMessageId: form }) ?? [])
    return known.map(({ owned }) => owned)
  }

  /** Urges these messages. Returns those that are not being submitted. */
  #urge(ownedMessages: readonly OwnedMessage[]): string[] {
    for (const owned of ownedMessages) this.#options.urge(owned)
    return ownedMessages.filter((owned) => !isBeingSubmitted(owned)).map(({ message }) => message.msgId)
  }
}

/**
 * Whether the receipt is for exactly one message and, if it is not intermediate, can still change it here. Its addresses
 * must name the recipient: only messages of this process are seen here, and the carrier may have given the id to another's
 * too. Among the records a receipt without addresses is matched as well, because there the newest submission of the id is known.
 */
function isPlainReceipt(
  receipt: IncomingReceipt,
  [{ owned }, ...others]: readonly [OfId, ...OfId[]],
): boolean {
  const { accepted, state } = owned.message
  return (
    receipt.parkedId === null &&
    others.length === 0 &&
    !owned.leaving &&
    (isIntermediate(receipt) || (isAddressedTo(receipt, accepted.recipient) && !isFinal(state.status)))
  )
}

/** The segments of a message that were accepted under one id. */
interface OfId {
  readonly owned: OwnedMessage
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
  add(
    owned: OwnedMessage,
    { carrierId, carrierMessageId, segment, segmentation }: Submitted,
  ): OwnedMessage[] {
    const key = keyOf({ carrierId, carrierMessageId })
    const bit = 1n << BigInt(segment)
    const known = this.#ofId.get(key)
    const own = known?.find((each) => each.owned === owned)
    if (own !== undefined && own.segmentation === segmentation) own.segmentBits |= bit
    else if (known !== undefined) known.push({ owned, segmentation, segmentBits: bit })
    else this.#ofId.set(key, [{ owned, segmentation, segmentBits: bit }])
    owned.submissionKeys.push(key)
    const isEarly = (this.#early.get(key) ?? 0) > performance.now()
    return known !== undefined && known.length > 1 ? known.map((each) => each.owned) : isEarly ? [owned] : []
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

  drop(owned: OwnedMessage): void {
    for (const key of owned.submissionKeys) {
      const others = this.#ofId.get(key)?.filter((each) => each.owned !== owned) ?? []
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
