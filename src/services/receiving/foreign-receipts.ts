import { findNewParkedReceipts, type ParkedPlace } from '../../store/parked-receipts.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'
import type { Recorder } from '../messages/recorder.ts'
import type { NodeLease } from '../node/node-lease.ts'

export interface ForeignReceiptsOptions extends Pick<NodeParts, 'db' | 'log' | 'clock'> {
  readonly lease: Pick<NodeLease, 'isAlone'>
  readonly recorder: Pick<Recorder, 'receiptParked'>
}

const POLL_MS = 100
/** A receipt is committed within this time after it is parked. A later one waits for its message's record. */
const OVERLAP_MS = 1_000
const PAGE = 1_000
const MAX_PAGES = 20

/**
 * A receipt may arrive over another node's link while this node has its message in memory. The other node parks it. This node
 * reads what others park, and applies such a receipt once the message has its record.
 */
export function foreignReceipts({ db, lease, clock, recorder, log }: ForeignReceiptsOptions): PeriodicTask {
  /** Older receipts have been looked at; null before the first look. Maintenance applies those parked before that. */
  let lookedUntilMs: number | null = null
  const run = async () => {
    const untilMs = clock()
    lookedUntilMs ??= untilMs
    const fromMs = lookedUntilMs - OVERLAP_MS
    let after: ParkedPlace = { parkedAt: new Date(fromMs).toISOString(), parkedId: 0 }
    for (let pages = lease.isAlone ? 0 : MAX_PAGES; pages > 0; pages -= 1) {
      const receipts = await findNewParkedReceipts(db, after, PAGE)
      for (const receipt of receipts) recorder.receiptParked(receipt)
      if (receipts.length < PAGE) break
      after = receipts.at(-1)!
    }
    lookedUntilMs = untilMs
  }
  return new PeriodicTask(log, 'parked receipts not read', POLL_MS, run)
}
