/**
 * A Map for what comes and goes all the time, such as messages in progress. Its values stand in an array, in the slot that
 * an inner Map has for each key.
 *
 * A Map to which entries are added and deleted replaces its table again and again, and V8 lets each old table point to the
 * next one. As soon as one of them is in the old generation, everything that was ever in a later one survives until the
 * next full collection. That was half of what collections of young objects copied.
 */
export class SlotMap<Key extends string | number, Value> {
  readonly #slots = new Map<Key, number>()
  #values: (Value | undefined)[] = []
  #free: number[] = []

  get size(): number {
    return this.#slots.size
  }

  has(key: Key): boolean {
    return this.#slots.has(key)
  }

  get(key: Key): Value | undefined {
    const slot = this.#slots.get(key)
    return slot === undefined ? undefined : this.#values[slot]
  }

  set(key: Key, value: Value): void {
    let slot = this.#slots.get(key)
    if (slot === undefined) {
      slot = this.#free.pop() ?? this.#values.length
      this.#slots.set(key, slot)
    }
    this.#values[slot] = value
  }

  /** Whether it was there. */
  delete(key: Key): boolean {
    const slot = this.#slots.get(key)
    if (slot === undefined) return false
    this.#slots.delete(key)
    this.#values[slot] = undefined
    this.#free.push(slot)
    return true
  }

  clear(): void {
    this.#slots.clear()
    this.#values = []
    this.#free = []
  }

  /** In the order in which the keys were set first, as of a Map; so are the values. */
  keys(): IteratorObject<Key, undefined> {
    return this.#slots.keys()
  }

  values(): IteratorObject<Value, undefined> {
    return this.#slots.values().map((slot) => this.#values[slot] as Value)
  }
}
