import type { SendRun } from './send-run.ts'

/** What a run tells while it lasts: one line that is rewritten on a terminal, otherwise a line now and then. */

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
