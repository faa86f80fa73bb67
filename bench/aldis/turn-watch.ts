import { constants, type PerformanceNodeEntry, PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { ownersText, startProfile } from './profile.ts'

/** The turn of an event loop that took most CPU, and what it did. */
export interface LongestTurn {
  /** CPU of the thread between two looks, in milliseconds: what others do on the machine is not in it. */
  readonly cpuMs: number
  readonly wallMs: number
  /** `15 ms mark-compact`: the collections of garbage in it; with a profile also the packages and files that ran longest. */
  readonly did: string
  /** The longest by the clock, which may be another turn. */
  readonly longestWallMs: number
}

interface Span {
  readonly fromMs: number
  readonly toMs: number
}

const LOOK_MS = 1

const KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'scavenge',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'mark-compact',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental marking',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weak callbacks',
}

const NOTHING = { fromMs: 0, toMs: 0, cpuMs: 0 }

/** Watches the event loop of the thread that makes it. */
export class TurnWatch {
  #longest: Span & { readonly cpuMs: number } = NOTHING
  #longestWallMs = 0
  #collections: (Span & { readonly kind: string })[] = []
  #stopProfile: (() => Promise<object>) | null = null

  constructor() {
    let [cpuMs, atMs] = [threadCpuMs(), performance.now()]
    const look = () => {
      const [cpuNowMs, nowMs] = [threadCpuMs(), performance.now()]
      this.#longestWallMs = Math.max(this.#longestWallMs, nowMs - atMs - LOOK_MS)
      if (cpuNowMs - cpuMs > this.#longest.cpuMs)
        this.#longest = { fromMs: atMs, toMs: nowMs, cpuMs: cpuNowMs - cpuMs }
      ;[cpuMs, atMs] = [cpuNowMs, nowMs]
    }
    setInterval(look, LOOK_MS).unref()
    new PerformanceObserver((list) => {
      for (const { startTime, duration, detail } of list.getEntries() as PerformanceNodeEntry[]) {
        const kind = KINDS[detail.kind] ?? 'collection'
        this.#collections.push({ fromMs: startTime, toMs: startTime + duration, kind })
      }
    }).observe({ entryTypes: ['gc'] })
  }

  /** Also samples the stack from now on, which makes everything somewhat slower. */
  async profile(): Promise<void> {
    this.#stopProfile = await startProfile()
  }

  /** Since the last call. */
  async longest(): Promise<LongestTurn> {
    const { fromMs, toMs, cpuMs } = this.#longest
    const longestWallMs = this.#longestWallMs
    const inIt = this.#collections.filter((one) => one.fromMs < toMs && one.toMs > fromMs)
    const did = inIt.map((one) => `${(one.toMs - one.fromMs).toFixed(0)} ms ${one.kind}`)
    if (this.#stopProfile !== null) {
      did.push(ownersText(await this.#stopProfile(), hrtimeUs(fromMs), hrtimeUs(toMs)))
      await this.profile()
      // The turn that looked through the profile must be over.
      await wait(2 * LOOK_MS)
    }
    this.#longest = NOTHING
    this.#longestWallMs = 0
    this.#collections = []
    return { cpuMs, wallMs: toMs - fromMs, did: did.join(', '), longestWallMs }
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** The clock of a profile at an instant of `performance.now`. */
function hrtimeUs(atMs: number): number {
  return Number(process.hrtime.bigint() / 1_000n) + (atMs - performance.now()) * 1_000
}
