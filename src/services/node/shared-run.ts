/** A read that many wait for. One that is under way may have read before the question, so who asks then shares the next. */
export class SharedRun {
  readonly #run: () => Promise<void>
  /** The run that began last, and the one that begins after it. */
  #running: Promise<void> | null = null
  #next: Promise<void> | null = null

  constructor(run: () => Promise<void>) {
    this.#run = run
  }

  /** Resolves, or rejects, with a run that began after this call. */
  ask(): Promise<void> {
    this.#next ??= this.#runAfter(this.#running)
    return this.#next
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await (this.#next ?? this.#running)?.catch(() => undefined)
  }

  async #runAfter(running: Promise<void> | null): Promise<void> {
    await running?.catch(() => undefined)
    this.#running = this.#next
    this.#next = null
    await this.#run()
  }
}
