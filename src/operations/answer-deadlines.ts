/**
 * When the sender of one message is answered at the latest, whichever way the message takes; and what can be said by then.
 */
export class AnswerDeadline {
  readonly #timer: NodeJS.Timeout
  #hasGone = false
  #isOver = false

  /** `onOver` is told whether the message has gone to the database. */
  constructor(withinMs: number, onOver: (hasGone: boolean) => void) {
    const end = () => {
      this.#isOver = true
      onOver(this.#hasGone)
    }
    // What the database answered while the process stood still is read first.
    this.#timer = setTimeout(() => setImmediate(end), withinMs)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** The message goes to the database now. False: it must not, its sender has been answered. */
  go(): boolean {
    this.#hasGone ||= !this.#isOver
    return !this.#isOver
  }

  /** The sender is answered. */
  clear(): void {
    clearTimeout(this.#timer)
  }
}
