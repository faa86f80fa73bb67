/** How long facts gather for the next entry when the last one had at least `LARGE`: fewer, larger commits cost less. */
const GATHER_MS = 4
const LARGE = 24

/**
 * Decides when the next group commit begins. When groups are large, the next one begins 4 ms after the last has begun, or at
 * once if none is in flight or `hurry` was called. Small groups begin at once. Facts that nobody waits for go with the next
 * group, or alone after 4 ms.
 */
export class Gathering {
  readonly #begin: () => void
  readonly #gatherMs: number
  #next: 'unplanned' | 'now' | NodeJS.Immediate | NodeJS.Timeout = 'unplanned'
  #isHurried = false
  /** Nobody waits for the facts of the planned group. */
  #isPatient = false
  #begunAtMs = 0
  #lastSize = 0

  constructor(begin: () => void, gatherMs: number = GATHER_MS) {
    this.#begin = begin
    this.#gatherMs = gatherMs
  }

  /** Plans the next group. `isBusy`: another group is in flight. `isAwaited`: somebody waits for a fact of it. */
  plan(isBusy: boolean, isAwaited: boolean): void {
    if (this.#next !== 'unplanned' && !(isAwaited && this.#isPatient)) return
    this.#unplan()
    this.#isPatient = !isAwaited
    const isGathering = isBusy && !this.#isHurried && this.#lastSize >= LARGE
    let gatherMs = isAwaited ? 0 : this.#gatherMs
    if (isAwaited && isGathering) gatherMs = this.#begunAtMs + this.#gatherMs - performance.now()
    const end = () => this.#end()
    // "At once" still gathers everything that arrives in this turn of the event loop.
    this.#next = gatherMs > 0 ? setTimeout(end, gatherMs) : setImmediate(end)
  }

  /** Begins the group before other sockets are read, because no more facts arrive until it is committed. */
  hurry(): void {
    this.#isHurried = true
    if (this.#next === 'now') return
    this.#unplan()
    this.#next = 'now'
    process.nextTick(() => this.#end())
  }

  /** A group of `size` facts has begun. */
  groupBegun(size: number): void {
    this.#isHurried = false
    this.#begunAtMs = performance.now()
    this.#lastSize = size
  }

  #unplan(): void {
    if (typeof this.#next === 'object') this.#next[Symbol.dispose]()
    this.#isPatient = false
  }

  #end(): void {
    this.#next = 'unplanned'
    this.#begin()
  }
}
