/** Joins the ledgers of a run. Pure: the same ledgers always give the same findings. */
import { judgeEvents } from './judge-events.ts'
import { judgeInbound } from './judge-inbound.ts'
import { judgeMessages } from './judge-messages.ts'
import { judgeSubmits } from './judge-submits.ts'
import { judgeTimes } from './judge-times.ts'
import type { FaultEntry, Ledgers } from './ledgers.ts'

export type Rule =
  | 'lost'
  | 'recorded-twice'
  | 'key-answered-twice'
  | 'unrecorded'
  | 'sent-though-refused'
  | 'unfinished'
  | 'wrong-status'
  | 'unsubmitted'
  | 'unknown-never-offered'
  | 'status-backwards'
  | 'stale-read'
  | 'event-missing'
  | 'event-unknown'
  | 'event-disordered'
  | 'event-repeated'
  | 'event-changed'
  | 'feed-repeated'
  | 'feed-disordered'
  | 'inbound-lost'
  | 'inbound-doubled'
  | 'inbound-unacknowledged'
  | 'receipt-unacknowledged'
  | 'copy-without-crash'
  | 'copies-beyond-window'
  | 'copy-not-flagged'
  | 'reset-while-draining'
  | 'slow-to-accept'
  | 'slow-takeover'

export interface Finding {
  readonly rule: Rule
  /** What to look for in the ledgers. */
  readonly subject: string
  readonly atMs: number
}

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
