/**
 * Places for work that takes a while, shared by many: one may have at most as many as are then left free, so that whoever
 * fills his own leaves some to the next.
 */
export class SharedSlots {
  readonly #slots: number
  readonly #taken = new Map<number, number>()
  #underWay = 0

  constructor(slots: number) {
    this.#slots = slots
  }

  /** Whether `key` (an account) was given a place. If so, `release` must follow. */
  take(key: number): boolean {
    const own = this.#taken.get(key) ?? 0
    if (own >= this.#slots - this.#underWay) return false
    this.#taken.set(key, own + 1)
    this.#underWay += 1
    return true
  }

  release(key: number): void {
    const own = this.#taken.get(key) ?? 0
    if (own === 0) return
    if (own === 1) this.#taken.delete(key)
    else this.#taken.set(key, own - 1)
    this.#underWay -= 1
  }
}
