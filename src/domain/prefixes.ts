/** Values by prefix of an E.164 number (`+` and digits). A look-up tries only the lengths that occur, longest first. */
export class PrefixTable<T> {
  readonly #values: ReadonlyMap<string, T>
  readonly #lengths: readonly number[]

  constructor(entries: Iterable<readonly [string, T]>) {
    this.#values = new Map(entries)
    const lengths = new Set<number>()
    for (const prefix of this.#values.keys()) lengths.add(prefix.length)
    this.#lengths = [...lengths].sort((a, b) => b - a)
  }

  /** The value of the longest prefix that the number begins with. */
  longest(e164: string): T | undefined {
    for (const length of this.#lengths) {
      // A prefix longer than the number cannot be its beginning, though `slice` would give the whole number.
      if (length > e164.length) continue
      const value = this.#values.get(e164.slice(0, length))
      if (value !== undefined) return value
    }
    return undefined
  }
}
