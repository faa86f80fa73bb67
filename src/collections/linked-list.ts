/** An entry of at most one `LinkedList`; only the list writes these fields. */
export interface Linked<Entry> {
  next: Entry | null
  previous: Entry | null
}

/** A list whose entries hold its links: an entry is added or removed anywhere in O(1), and nothing is allocated for it. */
export class LinkedList<Entry extends Linked<Entry>> {
  #first: Entry | null = null
  #last: Entry | null = null

  get first(): Entry | null {
    return this.#first
  }

  push(entry: Entry): void {
    entry.previous = this.#last
    if (this.#last === null) this.#first = entry
    else this.#last.next = entry
    this.#last = entry
  }

  unshift(entry: Entry): void {
    entry.next = this.#first
    if (this.#first === null) this.#last = entry
    else this.#first.previous = entry
    this.#first = entry
  }

  /** Removes an entry of this list. */
  remove(entry: Entry): void {
    const { next, previous } = entry
    if (previous === null) this.#first = next
    else previous.next = next
    if (next === null) this.#last = previous
    else next.previous = previous
    // Once in the old generation of the garbage collector, a removed entry would keep every entry behind it alive.
    entry.next = null
    entry.previous = null
  }

  *[Symbol.iterator](): Generator<Entry> {
    for (let entry = this.#first; entry !== null; entry = entry.next) yield entry
  }
}
