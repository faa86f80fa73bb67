/** The places before the head are given back when they are more than this and more than half. */
const COMPACT_ABOVE = 1_024

/** A queue whose cost at either end does not depend on its length. Only `unshift` copies it. */
export class Fifo<T> {
  #items: (T | undefined)[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined
    const item = this.#items[this.#head]
    this.#items[this.#head] = undefined
    this.#head += 1
    if (this.#head > COMPACT_ABOVE && this.#head * 2 > this.#items.length) this.#compact([])
    return item
  }

  /** Puts `items` before the first, keeping their order. */
  unshift(items: readonly T[]): void {
    this.#compact(items)
  }

  #compact(before: readonly T[]): void {
    this.#items = [...before, ...this.#items.slice(this.#head)]
    this.#head = 0
  }
}
