import type { CampaignLine } from './campaign-lines.ts'
import type { EarlierResults, ResultFile } from './result-file.ts'
import { type Access, type Answer, deliver, Pacer } from './send-attempts.ts'

/** How long one message is retried. The service forgets keys after 24 h, so repetitions may not go on for long. */
const PATIENCE_MS = 600_000
/** Refusals in a row after which something concerns all messages: an expired token, a used-up quota. */
const MOST_REFUSALS = 100

interface SendRunOptions {
  readonly access: Access
  readonly lines: AsyncGenerator<CampaignLine>
  readonly earlier: EarlierResults
  readonly results: ResultFile
  readonly perSecond: number | undefined
  readonly inFlight: number
  /** Ends the run once the requests in flight are answered. */
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

// What a run tells while it lasts: one line that is rewritten on a terminal, otherwise a line now and then.

const TERMINAL_INTERVAL_MS = 500
const LINE_INTERVAL_MS = 10_000
/** The rate is that of this time. */
const WINDOW_MS = 10_000

export interface Progress {
  readonly state: 'sending' | 'paused' | 'finished'
  /** To be sent by this run. */
  readonly messages: number
  readonly accepted: number
  readonly repeated: number
  readonly refused: number
  readonly unanswered: number
  readonly perSecond: number
  /** Null: nobody can say. */
  readonly secondsLeft: number | null
}

export class ProgressLine {
  readonly #run: SendRun
  readonly #messages: number
  readonly #json: boolean
  readonly #isTerminal: boolean
  readonly #timer: NodeJS.Timeout
  #samples: { atMs: number; done: number }[] = [{ atMs: performance.now(), done: 0 }]

  constructor(run: SendRun, messages: number, json: boolean) {
    this.#run = run
    this.#messages = messages
    this.#json = json
    this.#isTerminal = !json && process.stderr.isTTY === true
    this.#timer = setInterval(() => this.#show(), this.#isTerminal ? TERMINAL_INTERVAL_MS : LINE_INTERVAL_MS)
  }

  progress(state: Progress['state']): Progress {
    const { accepted, repeated, refused, unanswered } = this.#run
    const done = accepted + refused
    const atMs = performance.now()
    const kept = this.#samples.filter((sample) => atMs - sample.atMs <= WINDOW_MS)
    this.#samples = kept.length === 0 ? this.#samples.slice(-1) : kept
    const [first] = this.#samples as [{ atMs: number; done: number }]
    this.#samples.push({ atMs, done })
    const perSecond = atMs === first.atMs ? 0 : ((done - first.done) * 1_000) / (atMs - first.atMs)
    const secondsLeft = perSecond === 0 ? null : Math.ceil((this.#messages - done) / perSecond)
    const counts = { messages: this.#messages, accepted, repeated, refused, unanswered }
    return { state, ...counts, perSecond: Math.round(perSecond * 10) / 10, secondsLeft }
  }

  /** Ends the line that is being rewritten. */
  close(): void {
    clearInterval(this.#timer)
    if (this.#isTerminal) process.stderr.write('\r\x1b[K')
  }

  #show(): void {
    const progress = this.progress('sending')
    if (this.#json) process.stdout.write(`${JSON.stringify(progress)}\n`)
    else if (this.#isTerminal) process.stderr.write(`\r\x1b[K${progressText(progress)}`)
    else process.stderr.write(`${progressText(progress)}\n`)
  }
}

/** `1,200 of 5,000 accepted, 3 refused, 98.5/s, 39 s left` */
function progressText({ messages, accepted, refused, perSecond, secondsLeft }: Progress): string {
  const left = secondsLeft === null ? '' : `, ${duration(secondsLeft)} left`
  return `${figure(accepted)} of ${figure(messages)} accepted, ${figure(refused)} refused, ${figure(perSecond)}/s${left}`
}

export function figure(count: number): string {
  return count.toLocaleString('en')
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
