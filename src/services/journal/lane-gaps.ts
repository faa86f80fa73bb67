import type { Database } from '../../store/database.ts'
import { EMPTY_GROUP, fillGaps, findGaps, type Lane, MOST_APPENDS } from '../../store/journal.ts'
import type { Entry } from './journal-transactions.ts'

/** What is kept to be written again: about a second of a busy node, or more. */
const KEPT_OCTETS = 4 * 2 ** 20

type Written = Pick<Entry<unknown>, 'n' | 'items' | 'data'>

/**
 * A standby that is promoted may lack the last entries of a lane, if no COMMIT waited for it. Nobody reads past such a gap, so
 * the writer fills it before it reports an entry behind it. It looks for gaps whenever connections were made, because a
 * primary that is lost takes its connections with it.
 */
export class LaneGaps {
  readonly #pools: ReadonlySet<Database>
  /** Connections made so far, and how many there were when every entry was last known to be there. */
  #made = 0
  #looked = 0
  /** The newest entries by number. */
  readonly #kept = new Map<number, Buffer>()
  #octets = 0
  readonly #count = () => {
    this.#made += 1
  }

  /** `pools`: those whose connections write entries. */
  constructor(...pools: readonly Database[]) {
    this.#pools = new Set(pools)
    for (const pool of this.#pools) pool.on('connect', this.#count)
  }

  /** Connections were made since every entry was found. */
  get areSuspected(): boolean {
    return this.#made !== this.#looked
  }

  keep(entry: Written): void {
    const data = dataOf(entry)
    this.#kept.set(entry.n, data)
    this.#octets += data.length
    for (const [n, { length }] of this.#kept) {
      if (this.#octets <= KEPT_OCTETS || this.#kept.size <= MOST_APPENDS) return
      this.#kept.delete(n)
      this.#octets -= length
    }
  }

  /**
   * Writes what is missing up to `committed`, and of the entries behind it those that were answered. An entry that is not kept
   * is replaced by one without facts. Returns how many were written; null: the lane was taken over.
   */
  async fill(
    db: Database,
    lane: Lane,
    committed: number,
    answered: readonly Written[],
  ): Promise<number | null> {
    const made = this.#made
    const ahead = new Map(answered.map((entry) => [entry.n, dataOf(entry)]))
    const gaps = await findGaps(db, lane, Math.max(committed, ...ahead.keys()))
    if (gaps === null) return null
    const missing = gaps.flatMap((n) => {
      const data = ahead.get(n) ?? (n <= committed ? (this.#kept.get(n) ?? EMPTY_GROUP) : null)
      return data === null ? [] : [{ n, data }]
    })
    if (missing.length === 0 || (await fillGaps(db, lane, missing))) this.#looked = made
    return missing.length
  }

  /** A new lane has been opened, which has no entries yet. */
  laneOpened(): void {
    this.#kept.clear()
    this.#octets = 0
    this.#looked = this.#made
  }

  end(): void {
    for (const pool of this.#pools) pool.off('connect', this.#count)
  }
}

/** The facts of a transaction that was not committed are not in its entry. */
function dataOf({ items, data }: Written): Buffer {
  return items.length === 0 || data === null ? EMPTY_GROUP : data
}
