import { PerformanceObserver } from 'node:perf_hooks'

/** The longest that anything held up an event loop, in milliseconds. */
export interface LongestTurn {
  /** CPU of the thread between two looks: what others do on the machine is not in it. */
  readonly cpuMs: number
  readonly wallMs: number
  /** The longest collection of garbage, which is part of a turn. */
  readonly collectionMs: number
}

const LOOK_MS = 1

/** Watches the event loop of the thread that makes it. */
export class TurnWatch {
  #cpuMs = 0
  #wallMs = 0
  #collectionMs = 0

  constructor() {
    let [cpuMs, wallMs] = [threadCpuMs(), performance.now()]
    const look = () => {
      const [cpuNowMs, wallNowMs] = [threadCpuMs(), performance.now()]
      this.#cpuMs = Math.max(this.#cpuMs, cpuNowMs - cpuMs)
      this.#wallMs = Math.max(this.#wallMs, wallNowMs - wallMs - LOOK_MS)
      ;[cpuMs, wallMs] = [cpuNowMs, wallNowMs]
    }
    setInterval(look, LOOK_MS).unref()
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries())
        this.#collectionMs = Math.max(this.#collectionMs, duration)
    }).observe({ entryTypes: ['gc'] })
  }

  /** Since the last call. */
  longest(): LongestTurn {
    const longest = { cpuMs: this.#cpuMs, wallMs: this.#wallMs, collectionMs: this.#collectionMs }
    this.#cpuMs = 0
    this.#wallMs = 0
    this.#collectionMs = 0
    return longest
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
