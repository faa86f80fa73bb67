/** Fewer commits cost less. */
const GATHER_MS = 4
const LARGE = 24

/**
 * When the next group commit begins. Where groups are large, the next one gathers for 4 ms after the last has begun, unless
 * none is in flight, or it is hurried. Small ones do not wait.
 */
export class Gathering {
  readonly #begin: () => void
  readonly #gatherMs: number
  #next: 'unplanned' | 'now' | NodeJS.Timeout = 'unplanned'
  #isHurried = false
  #begunAtMs = 0
  #lastSize = 0

  constructor(begin: () => void, gatherMs: number = GATHER_MS) {
    this.#begin = begin
    this.#gatherMs = gatherMs
  }

  /** Something waits for the next group. `isBusy`: another one is in flight. */
  plan(isBusy: boolean): void {
    if (this.#next !== 'unplanned') return
    const isAtOnce = !isBusy || this.#isHurried || this.#lastSize < LARGE
    const gatherMs = isAtOnce ? 0 : this.#begunAtMs + this.#gatherMs - performance.now()
    if (gatherMs > 0) this.#next = setTimeout(() => this.#end(), gatherMs)
    else this.#endNow()
  }

  /** Nobody who waits gives more before this group is committed. */
  hurry(): void {
    this.#isHurried = true
    if (typeof this.#next !== 'object') return
    clearTimeout(this.#next)
    this.#endNow()
  }

  /** A group of so many has begun. */
  begun(size: number): void {
    this.#isHurried = false
    this.#begunAtMs = performance.now()
    this.#lastSize = size
  }

  /** With all that comes in this turn of the event loop. */
  #endNow(): void {
    this.#next = 'now'
    setImmediate(() => this.#end())
  }

  #end(): void {
    this.#next = 'unplanned'
    this.#begin()
  }
}
