/** What a simulator has done since its start. */
export interface Counters {
  /** submit_sm and data_sm of ESMEs; those of handsets count as inbound. */
  submits: number
  accepted: number
  /** Answered with any other status. */
  refused: number
  /** Of these, with ESME_RTHROTTLED. */
  throttled: number
  /** Receipts and MO messages (each part is one) that an ESME answered with ESME_ROK. */
  receipts: number
  inbound: number
  /** Sent again, because there was no answer or a temporary error. */
  resent: number
  /** Given up: refused for good, tried too often, or pushed out of a full queue. */
  dropped: number
}

/** Counters, and how things stand now. */
export interface SimulatorStats extends Readonly<Counters> {
  readonly binds: number
  /** Receipts and MO messages that wait for an ESME to take them. */
  readonly kept: number
  /** Receipts and repeats whose time has not come. */
  readonly scheduled: number
}

export function zeroCounters(): Counters {
  return { submits: 0, accepted: 0, refused: 0, throttled: 0, receipts: 0, inbound: 0, resent: 0, dropped: 0 }
}

/** One line for an operator; `earlier` is where the rate counts from, `elapsedMs` ago. */
export function counterLine(now: SimulatorStats, earlier: SimulatorStats, elapsedMs: number): string {
  const rate = Math.round(((now.submits - earlier.submits) * 1_000) / Math.max(1, elapsedMs))
  return (
    `submits ${now.submits} (${rate}/s)  accepted ${now.accepted}  refused ${now.refused}  receipts ${now.receipts}  ` +
    `inbound ${now.inbound}  resent ${now.resent}  dropped ${now.dropped}  kept ${now.kept}  binds ${now.binds}`
  )
}
