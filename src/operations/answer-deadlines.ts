/** The time by which the sender of a message is answered, and what can be said by then. */
export class AnswerDeadline {
  readonly #timer: NodeJS.Timeout
  #hasGone = false
  #isOver = false

  /** `onOver` is called with whether the message has gone to the database. */
  constructor(withinMs: number, onOver: (hasGone: boolean) => void) {
    const end = () => {
      this.#isOver = true
      onOver(this.#hasGone)
    }
    // Answers that came from the database while the process stood still are read first.
    this.#timer = setTimeout(() => setImmediate(end), withinMs)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Called when the message goes to the database. Returns false if it must not, because its sender has been answered. */
  go(): boolean {
    this.#hasGone ||= !this.#isOver
    return !this.#isOver
  }

  /** The sender has been answered. */
  clear(): void {
    clearTimeout(this.#timer)
  }
}
