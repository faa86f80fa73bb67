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
/**
 * `parked_at` is set before the COMMIT, which follows within this time. A receipt that is committed later is matched when its
 * message's record is written.
 */
const OVERLAP_MS = 1_000
const PAGE = 1_000
const MAX_PAGES = 20

/**
 * A receipt may arrive over another node's link while this node has its message in memory. The other node parks it. This node
 * reads what is parked, and has the records of such messages written, with which the receipts are then matched.
 */
export function foreignReceipts({ db, lease, clock, recorder, log }: ForeignReceiptsOptions): PeriodicTask {
  /**
   * Where the next look begins; null before the first. It moves on even if this node was alone or more was parked than
   * it reads: maintenance applies what nobody has looked at.
   */
  let nextFromMs: number | null = null
  const run = async () => {
    const untilMs = clock()
    nextFromMs ??= untilMs
    const fromMs = nextFromMs - OVERLAP_MS
    let after: ParkedPlace = { parkedAt: new Date(fromMs).toISOString(), parkedId: 0 }
    for (let pages = lease.isAlone ? 0 : MAX_PAGES; pages > 0; pages -= 1) {
      const receipts = await findNewParkedReceipts(db, after, PAGE)
      for (const receipt of receipts) recorder.receiptParked(receipt)
      if (receipts.length < PAGE) break
      after = receipts.at(-1)!
    }
    nextFromMs = untilMs
  }
  return new PeriodicTask(log, 'parked receipts not read', POLL_MS, run)
}
