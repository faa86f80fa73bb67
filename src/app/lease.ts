import { NodeLease } from '../services/node-lease.ts'
import { AMBIGUITY_WAIT_MS } from '../services/submitter.ts'
import { freeDispatches, releaseDispatches } from '../store/dispatches.ts'
import { releaseEvents } from '../store/event-deliveries.ts'
import type { Base } from './base.ts'
import type { AppOptions } from './options.ts'

/** This node's place among those of the database, and what becomes of messages when it is taken or lost. */
export async function startLease(
  options: AppOptions,
  { db, beats, onError }: Base,
  forget: () => string[],
): Promise<NodeLease> {
  const waitMs = options.ambiguityWaitMs ?? AMBIGUITY_WAIT_MS
  /** Held when a lease was over, and never sent. */
  const unsent: { nodeId: number; msgIds: string[] }[] = []
  const lease = new NodeLease({
    db: beats,
    name: options.nodeName,
    onTaken: async (buckets, nodeId) => {
      for (; unsent.length > 0; unsent.shift()) await freeDispatches(db, unsent[0]!.nodeId, unsent[0]!.msgIds)
      const messages = await releaseDispatches(db, { nodeId, buckets, waitMs })
      const events = await releaseEvents(db, { nodeId, buckets })
      options.log.info({ buckets: buckets.length, messages, events }, 'took over buckets')
    },
    onExpired: () => {
      options.log.warn('the lease of this node was over; it begins a new one')
      const msgIds = forget()
      if (msgIds.length > 0) unsent.push({ nodeId: lease.nodeId, msgIds })
    },
    onReplaced: () => {
      options.log.fatal('another node has taken the place of this one')
      options.onReplaced?.()
    },
    onError,
    ...(options.heartbeatMs !== undefined && { heartbeatMs: options.heartbeatMs }),
  })
  await lease.start()
  return lease
}
