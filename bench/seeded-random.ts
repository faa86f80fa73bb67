/** Pseudo-random numbers from a seed, so that a run can be repeated. Not for secrets. */
export class SeededRandom {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** 0 to 2^32 - 1: a Weyl sequence, each value stirred by two rounds of multiply and shift. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0
    let value = this.#state
    value = Math.imul(value ^ (value >>> 16), 0x21f0aaad)
    value = Math.imul(value ^ (value >>> 15), 0x735a2d97)
    return (value ^ (value >>> 15)) >>> 0
  }

  /** 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.floor((this.next() / 2 ** 32) * limit)
  }

  /** True once in `times`, on average. */
  once(times: number): boolean {
    return this.below(times) === 0
  }

  /** One element of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }
}

export function randomOctets(random: SeededRandom, length: number): Buffer {
  const octets = Buffer.allocUnsafe(length)
  for (let index = 0; index < length; index++) octets[index] = random.below(256)
  return octets
}
