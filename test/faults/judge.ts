/** Joins the ledgers of a run. Pure: the same ledgers always give the same findings. */
import type { Finding } from './findings.ts'
import { judgeEvents } from './judge-events.ts'
import { judgeInbound } from './judge-inbound.ts'
import { judgeMessages } from './judge-messages.ts'
import { judgeSubmits } from './judge-submits.ts'
import { judgeTimes } from './judge-times.ts'
import type { FaultEntry, Ledgers } from './ledgers.ts'

export function judge(ledgers: Ledgers): Finding[] {
  return [
    ...judgeMessages(ledgers),
    ...judgeSubmits(ledgers),
    ...judgeEvents(ledgers),
    ...judgeInbound(ledgers),
    ...judgeTimes(ledgers),
  ].toSorted((one, other) => one.atMs - other.atMs)
}

/** How long after its end a fault still explains a finding. */
const AFTERMATH_MS = 30_000
/** A fault may cost messages that were accepted up to this long before it. */
const BEFORE_MS = 2_500

/** The fault in force at a time, else the one that begins right after it, else the one that ended last. */
export function faultAt(faults: readonly FaultEntry[], atMs: number): FaultEntry | null {
  const begun = faults.filter(({ startMs }) => startMs - BEFORE_MS <= atMs)
  const [inForce, last] = [begun.filter(({ endMs }) => atMs <= endMs).at(-1), begun.at(-1)]
  return inForce ?? (last !== undefined && atMs <= last.endMs + AFTERMATH_MS ? last : null)
}
