import type { CampaignLine } from './campaign-lines.ts'
import { type Answer, deliver } from './deliver.ts'
import { Pacer } from './pacer.ts'
import type { EarlierResults, ResultFile } from './result-file.ts'
import type { Access } from './send-attempts.ts'

/** How long one message is retried. The service forgets keys after 24 h, so repetitions may not go on for long. */
const PATIENCE_MS = 600_000
/** Refusals in a row after which something concerns all messages: an expired token, a used-up quota. */
const MOST_REFUSALS = 100

export interface SendRunOptions {
  readonly access: Access
  readonly lines: AsyncGenerator<CampaignLine>
  readonly earlier: EarlierResults
  readonly results: ResultFile
  readonly perSecond: number | undefined
  readonly inFlight: number
  /** Ends the run once the requests under way are answered. */
  readonly signal: AbortSignal
}

/** Sends the lines that no earlier run has sent, several at once. */
export class SendRun {
  readonly #options: SendRunOptions
  readonly #pacer: Pacer
  readonly #stopping = new AbortController()
  #refusalsInRow = 0
  accepted = 0
  /** Of these, accepted by an earlier run that could not record it. */
  repeated = 0
  refused = 0
  /** Sent, and never answered. */
  unanswered = 0
  /** Why it ended before the last line; null: it did not, or the signal ended it. */
  trouble: string | null = null

  constructor(options: SendRunOptions) {
    this.#options = options
    this.#pacer = new Pacer(options.perSecond)
  }

  /** Resolves when all lines are sent or the run was ended; rejects if results cannot be written. */
  async run(): Promise<void> {
    const { signal, inFlight } = this.#options
    const stop = () => this.#stopping.abort()
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      const workers = await Promise.allSettled(Array.from({ length: inFlight }, () => this.#work()))
      for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
    } finally {
      signal.removeEventListener('abort', stop)
      await this.#options.lines.return(undefined)
    }
  }

  async #work(): Promise<void> {
    const { lines, earlier, results } = this.#options
    try {
      while (!this.#stopping.signal.aborted) {
        const { value: line, done } = await lines.next()
        if (done) return
        if (!earlier.isOpen(line)) continue
        const answer = await this.#deliver(line)
        if (answer === null) return
        this.#count(answer)
        await results.add(line, answer)
      }
    } catch (error) {
      this.#stopping.abort()
      throw error
    }
  }

  /** Null if the run ended before there was an answer. */
  async #deliver({ sms, key }: CampaignLine): Promise<Answer | null> {
    const { access } = this.#options
    const { signal } = this.#stopping
    const answer = await deliver({ access, sms, key, pacer: this.#pacer, patienceMs: PATIENCE_MS, signal })
    if (answer.kind !== 'unanswered') return answer
    if (answer.mayBeAccepted) this.unanswered += 1
    if (!signal.aborted) this.#stop(answer.reason)
    return null
  }

  #count(answer: Answer): void {
    if (answer.kind === 'accepted') {
      this.#refusalsInRow = 0
      this.accepted += 1
      if (answer.isRepeat) this.repeated += 1
      return
    }
    this.refused += 1
    this.#refusalsInRow += 1
    if (this.#refusalsInRow === MOST_REFUSALS)
      this.#stop(`${MOST_REFUSALS} messages in a row were refused, the last with ${answer.errorCode}`)
  }

  #stop(trouble: string): void {
    this.trouble ??= trouble
    this.#stopping.abort()
  }
}
