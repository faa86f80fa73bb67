/** Ways in which carriers count what they take, and what a throttle makes of them: in simulated time. */
import { CarrierThrottle } from '../../src/domain/carriers/throttle.ts'

/** Whether a carrier takes a segment that comes at this millisecond. */
export type Limiter = (nowMs: number) => boolean

/** So many in each second of its clock. */
export function fixedWindow(perS: () => number): Limiter {
  let second = -1
  let count = 0
  return (nowMs) => {
    if (Math.floor(nowMs / 1_000) !== second) {
      second = Math.floor(nowMs / 1_000)
      count = 0
    }
    if (count >= perS()) return false
    count += 1
    return true
  }
}

/** So many in any second. */
export function slidingWindow(perS: () => number): Limiter {
  const taken: number[] = []
  return (nowMs) => {
    while (taken.length > 0 && nowMs - taken[0]! >= 1_000) taken.shift()
    if (taken.length >= perS()) return false
    taken.push(nowMs)
    return true
  }
}

export function tokenBucket(perS: () => number, burst: number): Limiter {
  let tokens = burst
  let atMs = 0
  return (nowMs) => {
    tokens = Math.min(burst, tokens + ((nowMs - atMs) * perS()) / 1_000)
    atMs = nowMs
    if (tokens < 1) return false
    tokens -= 1
    return true
  }
}

export interface Exchange {
  readonly limiter: Limiter
  readonly latencyMs: number
  readonly window: number
  readonly throttle?: CarrierThrottle
  /** Default 0. */
  readonly startS?: number
  readonly seconds: number
}

export interface SecondOfExchange {
  accepted: number
  throttled: number
}

/** Sends as fast as throttle and window let it; gives what each second brought. The limiter sees half the latency. */
export function exchange(options: Exchange): SecondOfExchange[] {
  const { limiter, latencyMs, window, startS = 0, seconds, throttle = new CarrierThrottle(null, 0) } = options
  const bySecond: SecondOfExchange[] = Array.from({ length: seconds }, () => ({ accepted: 0, throttled: 0 }))
  const arrivals: { atMs: number; sentAtMs: number }[] = []
  const answers: { atMs: number; sentAtMs: number; accepted: boolean }[] = []
  let inFlight = 0
  let wakeMs = 0
  for (let nowMs = startS * 1_000; nowMs < (startS + seconds) * 1_000; nowMs += 1) {
    const second = bySecond[Math.floor(nowMs / 1_000) - startS]!
    while (arrivals.length > 0 && arrivals[0]!.atMs <= nowMs) {
      const { sentAtMs } = arrivals.shift()!
      answers.push({ atMs: nowMs + latencyMs / 2, sentAtMs, accepted: limiter(nowMs) })
    }
    while (answers.length > 0 && answers[0]!.atMs <= nowMs) {
      const { accepted, sentAtMs } = answers.shift()!
      inFlight -= 1
      second[accepted ? 'accepted' : 'throttled'] += 1
      if (accepted) throttle.accepted(nowMs)
      else throttle.throttled(nowMs, sentAtMs)
    }
    // Like the submitter: once told to wait it looks again when that time is over.
    while (inFlight < window && nowMs >= wakeMs) {
      const waitMs = throttle.waitMs(nowMs)
      if (waitMs > 0) {
        wakeMs = nowMs + waitMs
        break
      }
      throttle.sent(nowMs)
      inFlight += 1
      arrivals.push({ atMs: nowMs + latencyMs / 2, sentAtMs: nowMs })
    }
  }
  return bySecond
}

export function totals(seconds: readonly SecondOfExchange[]): SecondOfExchange {
  const sum = { accepted: 0, throttled: 0 }
  for (const { accepted, throttled } of seconds) {
    sum.accepted += accepted
    sum.throttled += throttled
  }
  return sum
}
