import { BoundedMap } from '../../collections/bounded-map.ts'
import { type Fault, fault } from '../../errors.ts'
import { type FinalResult, tooFewDelivered } from '../carriers/quality.ts'
import type { PumpingGuard } from '../configuration/configuration.ts'
import { HOUR_MS } from '../instants.ts'

/**
 * Stops artificial traffic (SMS pumping): messages that somebody has an application send to numbers of one range, for a part
 * of the fee. It shows by many messages to one range, or by a country in which few are delivered (docs/limits.md).
 */

export type PumpingGuardSetting = Partial<PumpingGuard>

export function completeGuard(given: PumpingGuardSetting | null): PumpingGuard | null {
  if (given === null) return null
  const usual = {
    messagesPerPrefix: null,
    minDelivered: null,
    minMessages: 100,
    windowMinutes: 60,
    pauseMinutes: 60,
  }
  return { ...usual, ...given }
}

export function guardFaults({ messagesPerPrefix, minDelivered }: PumpingGuard): Fault[] {
  if (messagesPerPrefix !== null || minDelivered !== null) return []
  return [fault('pumpingGuard', 'REQUIRED', 'must have messagesPerPrefix or minDelivered; null: no guard')]
}

/** Why the plan's messages to a country pause it, for people; null: they do not. */
export function belowShare(
  counts: Readonly<Record<FinalResult, number>>,
  { minDelivered, ...guard }: PumpingGuard,
): string | null {
  if (minDelivered === null) return null
  const reason = tooFewDelivered(counts, { ...guard, minDelivered })
  return reason && `${reason}, at least ${minDelivered} % wanted`
}

/** Digits that tell the numbers of a range apart: it has 10,000. */
const RANGE_DIGITS = 4

export function prefixOf(recipient: string): string {
  return recipient.slice(0, -RANGE_DIGITS)
}

/** A process reports a prefix after this part of the number that pauses. */
const STEPS = 50
/** Prefixes of all plans in a process. The one counted first is forgotten, with less than a step. */
const MAX_PREFIXES = 50_000

/** What this process has counted of prefixes, and has not reported. */
export class PrefixCounts {
  readonly #counts = new BoundedMap<string, { count: number; hour: number }>(MAX_PREFIXES)

  /** Returns how many messages to report now; usually 0. */
  add(planId: number, recipient: string, messagesPerPrefix: number, nowMs: number): number {
    const key = `${planId} ${prefixOf(recipient)}`
    const hour = Math.floor(nowMs / HOUR_MS)
    const step = Math.ceil(messagesPerPrefix / STEPS)
    const known = this.#counts.get(key)
    if (known === undefined || known.hour !== hour) {
      this.#counts.set(key, { count: step === 1 ? 0 : 1, hour })
      return step === 1 ? 1 : 0
    }
    known.count += 1
    if (known.count < step) return 0
    known.count = 0
    return step
  }
}
