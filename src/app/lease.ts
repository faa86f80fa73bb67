import { NodeLease } from '../services/node/node-lease.ts'
import { releaseEvents } from '../store/event-deliveries.ts'
import type { Base } from './base.ts'
import type { AppOptions } from './options.ts'

/** This node's place among those of the database; it takes it with `start`. */
export function nodeLease(
  options: AppOptions,
  { db, beats, clock }: Base,
  { onRegistered, onDead }: { onRegistered: (nodeId: number) => Promise<void>; onDead: () => void },
): NodeLease {
  const lease = new NodeLease({
    db: beats,
    name: options.nodeName,
    clock,
    onRegistered,
    onTaken: async (buckets, nodeId) => {
      onDead()
      const events = await releaseEvents(db, { nodeId, buckets })
      options.log.info({ buckets: buckets.length, events }, 'took over buckets')
    },
    onReplaced: () => {
      options.log.fatal('another node has taken the place of this one')
      options.onReplaced?.()
    },
    log: options.log,
    ...(options.heartbeatMs !== undefined && { heartbeatMs: options.heartbeatMs }),
  })
  lease.onExpired(() => options.log.warn('the lease of this node has ended; it registers again'))
  let wasFarOff = false
  lease.onChange(() => {
    if (clock.isFarOff && !wasFarOff)
      options.log.error(
        { aheadMs: clock.aheadMs },
        'the clock of this node is wrong; the time of the database is used',
      )
    wasFarOff = clock.isFarOff
  })
  return lease
}
