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
  /** From when on its cause may have been at work; absent: about when it was found. */
  readonly sinceMs?: number
}
