/** One line on standard error that says what runs now and about how long the rest will take. */

const INTERVAL_MS = 1_000

export class Progress {
  readonly #endMs: number | null
  #prefix = ''
  #timer: NodeJS.Timeout | null = null

  /** Prints nothing without `seconds`. */
  constructor(seconds?: number) {
    this.#endMs = seconds === undefined ? null : performance.now() + seconds * 1_000
  }

  /** The number of the run, printed before each phase. */
  run(name: string): void {
    this.#prefix = `${name}: `
  }

  phase(name: string): void {
    if (this.#endMs === null) return
    const line = () => `${this.#prefix}${name}, about ${this.#secondsLeft()} s left`
    this.#stop()
    if (!process.stderr.isTTY) {
      process.stderr.write(`${line()}\n`)
      return
    }
    const show = () => process.stderr.write(`\r\x1b[K${line()}`)
    show()
    this.#timer = setInterval(show, INTERVAL_MS).unref()
  }

  /** Clears the line. */
  end(): void {
    if (this.#timer === null) return
    this.#stop()
    process.stderr.write('\r\x1b[K')
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #secondsLeft(): number {
    return Math.max(0, Math.round(((this.#endMs ?? 0) - performance.now()) / 1_000))
  }
}
