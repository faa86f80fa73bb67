/**
 * A Map of at most `most` entries. The entry that was set longest ago makes room. A cache, where using an entry keeps it, is
 * an LRUCache.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number

  constructor(most: number) {
    super()
    this.#most = most
  }

  override set(key: Key, value: Value): this {
    // Inserting the key again makes it the newest.
    this.delete(key)
    super.set(key, value)
    if (this.size > this.#most) this.delete(this.keys().next().value as Key)
    return this
  }
}
