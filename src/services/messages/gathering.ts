/** Fewer commits cost less. */
const GATHER_MS = 4
const LARGE = 24

/**
 * When the next group commit begins. Where groups are large, the next one gathers for 4 ms after the last has begun, unless
 * none is in flight, or it is hurried. Small ones do not wait, but for what nobody waits for: that goes with the next one,
 * or alone after 4 ms.
 */
export class Gathering {
  readonly #begin: () => void
  readonly #gatherMs: number
  #next: 'unplanned' | 'now' | NodeJS.Immediate | NodeJS.Timeout = 'unplanned'
  #isHurried = false
  /** Nobody waits for what is planned. */
  #isPatient = false
  #begunAtMs = 0
  #lastSize = 0

  constructor(begin: () => void, gatherMs: number = GATHER_MS) {
    this.#begin = begin
    this.#gatherMs = gatherMs
  }

  /** Something is to go with the next group. `isBusy`: another one is in flight. `isAwaited`: somebody waits for it. */
  plan(isBusy: boolean, isAwaited: boolean): void {
    if (this.#next !== 'unplanned' && !(isAwaited && this.#isPatient)) return
    this.#unplan()
    this.#isPatient = !isAwaited
    const isGathering = isBusy && !this.#isHurried && this.#lastSize >= LARGE
    let gatherMs = isAwaited ? 0 : this.#gatherMs
    if (isAwaited && isGathering) gatherMs = this.#begunAtMs + this.#gatherMs - performance.now()
    const end = () => this.#end()
    // At once is with all that comes in this turn of the event loop.
    this.#next = gatherMs > 0 ? setTimeout(end, gatherMs) : setImmediate(end)
  }

  /** Nobody who waits gives more before this group is committed: it begins before other sockets are read. */
  hurry(): void {
    this.#isHurried = true
    this.#isPatient = false
    if (this.#next === 'now') return
    this.#unplan()
    this.#next = 'now'
    process.nextTick(() => this.#end())
  }

  /** A group of so many has begun. */
  begun(size: number): void {
    this.#isHurried = false
    this.#begunAtMs = performance.now()
    this.#lastSize = size
  }

  #unplan(): void {
    if (typeof this.#next === 'object') this.#next[Symbol.dispose]()
  }

  #end(): void {
    this.#next = 'unplanned'
    this.#isPatient = false
    this.#begin()
  }
}
