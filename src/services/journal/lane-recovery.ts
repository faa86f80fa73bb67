import { isPushed } from '../../domain/webhooks/targets.ts'
import { recoverLanes } from '../../operations/recover-lanes.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'
import type { NodeLease } from '../node/node-lease.ts'

export interface LaneRecoveryOptions extends Pick<NodeParts, 'db' | 'directory' | 'log'> {
  readonly lease: Pick<NodeLease, 'nodeId'>
  /** How long a message whose attempt was in flight waits for news of it. */
  readonly ambiguityWaitMs: number
}

/** How often dead lanes are looked for, and recovered ones removed to which nobody can append any more. */
const RECOVERY_MS = 10_000
/** The pause after a failed run is shorter, because the messages of a dead node wait for the next one. */
const RECOVERY_RETRY_MS = 500

/**
 * Writes the messages that dead nodes had in memory into the records. It runs apart from the heartbeats, which cannot wait:
 * recovering a busy node takes some seconds. It is woken when a node may have died.
 */
export function laneRecovery(options: LaneRecoveryOptions): PeriodicTask {
  const { db, directory, lease, ambiguityWaitMs, log } = options
  const recover = async () => {
    await recoverLanes(db, {
      nodeId: lease.nodeId,
      ambiguityWaitMs,
      delivers: ({ accepted }) => isPushed(accepted.callbackUrl, directory().planById(accepted.planId)),
      log,
    })
  }
  return new PeriodicTask(log, 'lanes of dead nodes not recovered', RECOVERY_MS, recover, RECOVERY_RETRY_MS)
}
