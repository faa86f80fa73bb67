/** Recipients we are backing off from, each with its own deadline. Bounded: the oldest back-off makes room. */
export class BackOffs {
  readonly #most: number
  readonly #untilMs = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#untilMs.size
  }

  set(key: string, untilMs: number): void {
    // Inserting the key again makes it the newest.
    this.#untilMs.delete(key)
    this.#untilMs.set(key, untilMs)
    if (this.#untilMs.size > this.#most) this.#untilMs.delete(this.#untilMs.keys().next().value as string)
  }

  clear(key: string): void {
    if (this.#untilMs.size > 0) this.#untilMs.delete(key)
  }

  /** Milliseconds left; 0 when there is no back-off or it is over. */
  leftMs(key: string, nowMs: number): number {
    if (this.#untilMs.size === 0) return 0
    const untilMs = this.#untilMs.get(key)
    if (untilMs === undefined) return 0
    if (untilMs > nowMs) return untilMs - nowMs
    this.#untilMs.delete(key)
    return 0
  }
}
