import { setTimeout as sleep } from 'node:timers/promises'

/** Spreads requests evenly in time, and holds all of them back when the service asks for it. */
export class Pacer {
  readonly #intervalMs: number
  #nextMs = 0
  #heldUntilMs = 0

  /** `perSecond` undefined: no limit. */
  constructor(perSecond: number | undefined) {
    this.#intervalMs = perSecond === undefined ? 0 : 1_000 / perSecond
  }

  /** No turn comes before this time is over. */
  hold(ms: number): void {
    this.#heldUntilMs = Math.max(this.#heldUntilMs, performance.now() + ms)
  }

  /** Resolves when the next request may be made, or the signal fires. */
  async turn(signal: AbortSignal): Promise<void> {
    do {
      const nowMs = performance.now()
      const turnMs = Math.max(nowMs, this.#nextMs, this.#heldUntilMs)
      this.#nextMs = turnMs + this.#intervalMs
      await pause(turnMs - nowMs, signal)
      // What is held while it waits takes another turn.
    } while (!signal.aborted && performance.now() < this.#heldUntilMs)
  }
}

const FIRST_BACKOFF_MS = 500
const MOST_BACKOFF_MS = 30_000

/** How long to wait after this many failures, not counting the last. */
export function backoffAfter(failures: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** failures, MOST_BACKOFF_MS)
}

/** Resolves after this time, or when the signal fires. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms >= 1) await sleep(ms, undefined, { signal }).catch(() => undefined)
}
