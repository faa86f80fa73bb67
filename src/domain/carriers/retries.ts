import { BoundedMap } from '../../collections/bounded-map.ts'
import { jittered, MINUTE_MS, SECOND_MS } from '../instants.ts'
import type { RefusalOutcome } from './statuses.ts'

/** When a message that a carrier has not accepted is tried again, whom it backs off from, and how often one may cost a bind. */

const DELAYS_MS: readonly number[] = [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS]

/** Tries in all of a message whose outcome is limited-retry. */
export const LIMITED_TRIES = 3

/** Wait after this many failed attempts, at least 1: 5 s, 30 s, 2 min, then 10 min; `random` 0..1 gives -20..+20 %. */
export function retryDelayMs(failedAttempts: number, random: number): number {
  const step = Math.min(Math.max(failedAttempts, 1), DELAYS_MS.length) - 1
  return jittered(DELAYS_MS[step]!, random)
}

/** Doublings of the wait after an attempt without an answer. */
const MOST_DOUBLINGS = 6

/**
 * Wait after an attempt without an answer, before the message is sent again: `firstMs`, doubled for each attempt before,
 * up to 64 times `firstMs`. A carrier that takes messages and never answers delivers one 17 times within its validity,
 * not 600 times.
 */
export function resubmitDelayMs(firstMs: number, failedBefore: number): number {
  return firstMs * 2 ** Math.min(failedBefore, MOST_DOUBLINGS)
}

/**
 * Wait before the next attempt of a message, whose last one had this outcome. Null when the message has failed: it was refused
 * for good, three tries are used up, or the next would come after its validity, of which `leftMs` are left.
 */
export function nextTryMs(
  outcome: RefusalOutcome,
  { failedAttempts, leftMs, random }: { failedAttempts: number; leftMs: number; random: number },
): number | null {
  if (outcome === 'permanent' || (outcome === 'limited-retry' && failedAttempts >= LIMITED_TRIES)) return null
  const delayMs = retryDelayMs(failedAttempts, random)
  return delayMs < leftMs ? delayMs : null
}

/** Recipients we are backing off from, each with the end of its back-off in milliseconds. */
export class BackOffs extends BoundedMap<string, number> {
  /** Milliseconds left; 0 when there is no back-off or it is over. */
  leftMs(key: string, nowMs: number): number {
    if (this.size === 0) return 0
    const untilMs = this.get(key)
    if (untilMs === undefined) return 0
    if (untilMs > nowMs) return untilMs - nowMs
    this.delete(key)
    return 0
  }
}

/** Binds that one message may cost before such an answer is taken as the message's own fault. */
const MOST_REBINDS = 3
/** Messages that are counted; the one whose answer came first makes room. */
const MAX_MESSAGES = 1_000

/**
 * Which messages were answered with a status that blames the session, and in how many sessions. A carrier that means
 * something else by it may answer one message like this every time. Without this count, that message would rebind
 * everybody's link until its validity is over.
 */
export class RebindCounts {
  readonly #seen: BoundedMap<string, { count: number; session: object | null }>

  constructor(most: number = MAX_MESSAGES) {
    this.#seen = new BoundedMap(most)
  }

  /** Counts an answer of this kind. False: the message got one in three other sessions, so the link is not at fault. */
  count(msgId: string, session: object | null): boolean {
    const before = this.#seen.get(msgId)
    // An answer to another of its segments.
    if (before !== undefined && before.session === session) return true
    const count = before?.count ?? 0
    if (count >= MOST_REBINDS) return false
    this.#seen.set(msgId, { count: count + 1, session })
    return true
  }

  /** Its dispatch is settled. */
  delete(msgId: string): void {
    if (this.#seen.size > 0) this.#seen.delete(msgId)
  }
}
