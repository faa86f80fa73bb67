/**
 * Bounded room that many users share. A user may have at most as much as is still free (a dynamic threshold: Choudhury
 * and Hahne 1998), and at most `mostOfOne`. When n users have all they may, each holds 1/(n+1), and the next one can get
 * as much.
 */
export class SharedRoom {
  readonly #most: number
  readonly #mostOfOne: number
  #taken = 0
  #reserved = 0

  constructor(most: number, { mostOfOne = most } = {}) {
    this.#most = most
    this.#mostOfOne = mostOfOne
  }

  get taken(): number {
    return this.#taken
  }

  get free(): number {
    return this.#most - this.#taken - this.#reserved
  }

  /** Takes places, or gives them back if the number is negative. */
  change(places: number): void {
    this.#taken += places
  }

  /** Keeps places free for what is being read, or no longer if the number is negative. */
  reserve(places: number): void {
    this.#reserved += places
  }

  /** What any one user may have now. */
  get share(): number {
    return Math.min(this.#mostOfOne, this.free)
  }

  /** How many more a user that has `own` may take at once. Afterwards it has no more than is then free. */
  roomFor(own: number): number {
    return Math.ceil((this.share - own) / 2)
  }
}

/** SharedRoom that keeps count of what each user (an account, a flow) has. */
export class SharedSlots extends SharedRoom {
  readonly #byKey = new Map<number, number>()

  of(key: number): number {
    return this.#byKey.get(key) ?? 0
  }

  /** Whether `key` was given a place. If so, `release` must follow. */
  take(key: number): boolean {
    if (this.of(key) >= this.share) return false
    this.add(key)
    return true
  }

  /** Takes places for `key`, even if it has its share already. */
  add(key: number, places = 1): void {
    this.#byKey.set(key, this.of(key) + places)
    this.change(places)
  }

  /** Releases so many places of `key`, or all it has if these are fewer. */
  release(key: number, places = 1): void {
    const own = this.of(key)
    if (own <= places) this.#byKey.delete(key)
    else this.#byKey.set(key, own - places)
    this.change(-Math.min(own, places))
  }
}
