/** Values that many have in common, each kept once and numbered from 0 on. */
export class Distinct<T> {
  readonly #numbers = new Map<string, number>()
  readonly #values: T[] = []

  /** `key`: the same for equal values. */
  numberOf(key: string, make: () => T): number {
    let number = this.#numbers.get(key)
    if (number === undefined) {
      number = this.#values.push(make()) - 1
      this.#numbers.set(key, number)
    }
    return number
  }

  /** The number of a value that has been numbered. */
  known(key: string): number | undefined {
    return this.#numbers.get(key)
  }

  at(number: number): T {
    return this.#values[number]!
  }
}
