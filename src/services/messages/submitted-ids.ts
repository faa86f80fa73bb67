import type { Submitted } from '../../domain/journal-entries.ts'
import { SlotMap } from '../../slot-map.ts'
import type { SubmissionId } from '../../store/receipts.ts'
import type { Live } from './lives.ts'

/** The segments of a message that were accepted under one id. */
export interface OfId {
  readonly live: Live
  readonly cut: string | null
  bits: bigint
}

/** Receipts that no message was found for are remembered so long: their answer may be on its way. */
const EARLY_MS = 60_000
const MOST_EARLY = 10_000

/** Under what ids of carriers the messages of this process were accepted. */
export class SubmittedIds {
  /** Most carriers give an id to one message; more than one are told apart by the records. */
  readonly #ofId = new SlotMap<string, [OfId, ...OfId[]]>()
  readonly #early = new Map<string, number>()
  /** By carrier: messages that it accepted while its id rule is not learned. */
  readonly #unlearned = new Map<number, Set<Live>>()

  /** Gives those that are to be recorded at once: all of an id that several have, and one whose receipt was quicker. */
  add(live: Live, { carrierId, carrierMessageId, segment, cut }: Submitted): Live[] {
    const key = keyOf({ carrier_id: carrierId, carrier_message_id: carrierMessageId })
    const bit = 1n << BigInt(segment)
    const known = this.#ofId.get(key)
    const own = known?.find((each) => each.live === live)
    if (own !== undefined && own.cut === cut) own.bits |= bit
    else if (known !== undefined) known.push({ live, cut, bits: bit })
    else this.#ofId.set(key, [{ live, cut, bits: bit }])
    live.ids.push(key)
    const isEarly = (this.#early.get(key) ?? 0) > performance.now()
    return known !== undefined && known.length > 1 ? known.map((each) => each.live) : isEarly ? [live] : []
  }

  /** The carrier may name any of these by an id that looks otherwise. */
  addUnlearned(live: Live, carrierId: number): void {
    const known = this.#unlearned.get(carrierId)
    if (known === undefined) this.#unlearned.set(carrierId, new Set([live]))
    else known.add(live)
  }

  unlearned(carrierId: number): Iterable<Live> {
    return this.#unlearned.get(carrierId) ?? []
  }

  of(id: SubmissionId): readonly [OfId, ...OfId[]] | undefined {
    return this.#ofId.get(keyOf(id))
  }

  /** Undefined, and remembered, where no message has that id. */
  find(id: SubmissionId): readonly [OfId, ...OfId[]] | undefined {
    const key = keyOf(id)
    const known = this.#ofId.get(key)
    if (known !== undefined) return known
    if (this.#early.size >= MOST_EARLY) this.#early.delete(this.#early.keys().next().value!)
    this.#early.delete(key)
    this.#early.set(key, performance.now() + EARLY_MS)
    return undefined
  }

  remove(live: Live): void {
    for (const messages of this.#unlearned.values()) messages.delete(live)
    for (const key of live.ids) {
      const others = this.#ofId.get(key)?.filter((each) => each.live !== live) ?? []
      const [first, ...rest] = others
      if (first === undefined) this.#ofId.delete(key)
      else this.#ofId.set(key, [first, ...rest])
    }
  }

  clear(): void {
    this.#ofId.clear()
    this.#unlearned.clear()
  }
}

function keyOf({ carrier_id, carrier_message_id }: SubmissionId): string {
  return `${carrier_id} ${carrier_message_id}`
}
