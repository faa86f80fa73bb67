/** Bounds the memory of the moments below. */
export const MAX_THROUGHPUT = 1_000_000

/** At most `perSecond` in any second. It keeps the last `perSecond` times, of which the oldest must be a second ago. */
export class Throughput {
  readonly #takenMs: Float64Array
  #next = 0

  /** @throws RangeError not an integer from 1 to MAX_THROUGHPUT. */
  constructor(perSecond: number) {
    if (!Number.isInteger(perSecond) || perSecond < 1 || perSecond > MAX_THROUGHPUT) {
      throw new RangeError(`throughput: ${perSecond} is not an integer from 1 to ${MAX_THROUGHPUT}`)
    }
    this.#takenMs = new Float64Array(perSecond).fill(Number.NEGATIVE_INFINITY)
  }

  /** False: one too many. `nowMs` is monotonic. */
  take(nowMs: number): boolean {
    if (nowMs - this.#takenMs[this.#next]! < 1_000) return false
    this.#takenMs[this.#next] = nowMs
    this.#next = (this.#next + 1) % this.#takenMs.length
    return true
  }
}
