import { BoundedMap } from '../../collections/bounded-map.ts'
import { SlotMap } from '../../collections/slot-map.ts'
import type { Submitted } from '../../domain/message-facts.ts'
import type { SubmissionId } from '../../store/receipts.ts'
import type { Live } from './lives.ts'

/** The segments of a message that were accepted under one id. */
export interface OfId {
  readonly live: Live
  readonly segmentation: string | null
  bits: bigint
}

/** How long a receipt without a message is remembered, because the carrier's answer may be on its way. */
const EARLY_MS = 60_000
const MOST_EARLY = 10_000

/** Finds the messages of this process by the ids that carriers gave their segments. */
export class SubmittedIds {
  /** Most carriers give each message its own id. If several messages share one, the records tell them apart. */
  readonly #ofId = new SlotMap<string, [OfId, ...OfId[]]>()
  readonly #early = new BoundedMap<string, number>(MOST_EARLY)

  /** Returns the messages to record at once: all that share an id, or one whose receipt came before the answer. */
  add(live: Live, { carrierId, carrierMessageId, segment, segmentation }: Submitted): Live[] {
    const key = keyOf({ carrierId, carrierMessageId })
    const bit = 1n << BigInt(segment)
    const known = this.#ofId.get(key)
    const own = known?.find((each) => each.live === live)
    if (own !== undefined && own.segmentation === segmentation) own.bits |= bit
    else if (known !== undefined) known.push({ live, segmentation, bits: bit })
    else this.#ofId.set(key, [{ live, segmentation, bits: bit }])
    live.ids.push(key)
    const isEarly = (this.#early.get(key) ?? 0) > performance.now()
    return known !== undefined && known.length > 1 ? known.map((each) => each.live) : isEarly ? [live] : []
  }

  of(id: SubmissionId): readonly [OfId, ...OfId[]] | undefined {
    return this.#ofId.get(keyOf(id))
  }

  /** Returns undefined, and remembers the id, if no message has it. */
  find(id: SubmissionId): readonly [OfId, ...OfId[]] | undefined {
    const key = keyOf(id)
    const known = this.#ofId.get(key)
    if (known !== undefined) return known
    this.#early.set(key, performance.now() + EARLY_MS)
    return undefined
  }

  remove(live: Live): void {
    for (const key of live.ids) {
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
