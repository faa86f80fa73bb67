import type { DatabaseClock } from '../domain/instants.ts'
import { NodeLease } from '../services/node/node-lease.ts'
import type { Database } from '../store/database.ts'
import type { AppOptions } from './options.ts'

/** This node's place among the nodes of the database, taken by `start`. `beats`: the pool for heartbeats. */
export function nodeLease(
  { heartbeatMs, log, nodeName: name, onReplaced }: AppOptions,
  { beats, clock }: { readonly beats: Database; readonly clock: DatabaseClock },
): NodeLease {
  const lease = new NodeLease({
    ...{ db: beats, name, clock, log },
    onReplaced: () => {
      log.fatal('another node has taken the place of this one')
      onReplaced?.()
    },
    ...(heartbeatMs !== undefined && { heartbeatMs }),
  })
  lease.onExpired(() => log.warn('the lease of this node has ended; it registers again'))
  let wasFarOff = false
  lease.onChange(() => {
    if (clock.isFarOff && !wasFarOff)
      log.error(
        { aheadMs: clock.aheadMs },
        'the clock of this node is wrong; the time of the database is used',
      )
    wasFarOff = clock.isFarOff
  })
  return lease
}
