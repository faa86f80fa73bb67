/** Binds that one message may cost before such an answer is taken as the message's own fault. */
const MOST_REBINDS = 3
/** Messages that are counted; the one whose answer came first makes room. */
const MAX_MESSAGES = 1_000

/**
 * Which messages were answered with a status that blames the session, and in how many sessions. A carrier that means
 * something else by it may answer one message like this every time. Without this count, that message would rebind
 * everybody's link until its validity is over.
 */
export class RebindCounts {
  readonly #most: number
  readonly #seen = new Map<string, { count: number; session: object | null }>()

  constructor(most: number = MAX_MESSAGES) {
    this.#most = most
  }

  /** Records such an answer. False when the message got one in three other sessions before: the fault is not the link's. */
  blamesLink(msgId: string, session: object | null): boolean {
    const before = this.#seen.get(msgId)
    // An answer to another of its segments.
    if (before !== undefined && before.session === session) return true
    const count = before?.count ?? 0
    if (count >= MOST_REBINDS) return false
    this.#seen.delete(msgId)
    this.#seen.set(msgId, { count: count + 1, session })
    if (this.#seen.size > this.#most) this.#seen.delete(this.#seen.keys().next().value as string)
    return true
  }

  /** Its submission is over. */
  forget(msgId: string): void {
    if (this.#seen.size > 0) this.#seen.delete(msgId)
  }
}
