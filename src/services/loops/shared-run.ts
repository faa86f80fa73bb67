/** A read that several callers wait for. A run in progress may have read before they asked, so they share the next one. */
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

  /** Resolves when no run is in progress. */
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
