/** An entry that waits in at most one `LevelQueue`; only the queue writes these fields. */
export interface Queued<Self extends Queued<Self>> {
  queue: LevelQueue<Self> | null
  level: number
  next: Self | null
  previous: Self | null
}

export const NOT_QUEUED: Readonly<{ queue: null; level: 0; next: null; previous: null }> = {
  queue: null,
  level: 0,
  next: null,
  previous: null,
}

interface Ends<Entry> {
  first: Entry
  last: Entry
}

/**
 * A queue with levels (small whole numbers, from 0): the lowest level goes first, and each level is first in, first out.
 * The links are in the entries themselves, so each step is O(1); finding the lowest level is O(levels).
 */
export class LevelQueue<Entry extends Queued<Entry>> {
  readonly #levels: (Ends<Entry> | null)[] = []
  /** No level below this one has entries. */
  #lowest = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  has(entry: Entry): boolean {
    return entry.queue === this
  }

  first(): Entry | null {
    if (this.#size === 0) return null
    while (this.#levels[this.#lowest] == null) this.#lowest += 1
    return this.#levels[this.#lowest]?.first ?? null
  }

  /** Adds an entry behind those of its level. An entry that is in this or another queue leaves its place. */
  add(entry: Entry, level: number): void {
    entry.queue?.remove(entry)
    const ends = this.#levels[level]
    if (ends == null) {
      // No holes: a level that was never used is an empty one.
      while (this.#levels.length < level) this.#levels.push(null)
      this.#levels[level] = { first: entry, last: entry }
    } else {
      entry.previous = ends.last
      ends.last.next = entry
      ends.last = entry
    }
    entry.queue = this
    entry.level = level
    this.#size += 1
    this.#lowest = this.#size === 1 ? level : Math.min(this.#lowest, level)
  }

  /** Does nothing for an entry that is in another queue or in none. */
  remove(entry: Entry): void {
    if (entry.queue !== this) return
    const { level, next, previous } = entry
    const ends = this.#levels[level] as Ends<Entry>
    if (previous !== null) previous.next = next
    else if (next !== null) ends.first = next
    else this.#levels[level] = null
    if (next !== null) next.previous = previous
    else if (previous !== null) ends.last = previous
    entry.queue = null
    entry.next = null
    entry.previous = null
    this.#size -= 1
  }
}
