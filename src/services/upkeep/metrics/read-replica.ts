import { Counter, Gauge, type Registry } from 'prom-client'
import type { FallbackReason, ReadReplica } from '../../node/read-replica.ts'

/** Counts who answers the reads that the replica is for. */
export function readReplicaCounter(registry: Registry): (fallback: FallbackReason | null) => void {
  const reads = new Counter({
    name: 'aldis_replica_reads_total',
    help: 'statements that the read replica answered',
    registers: [registry],
  })
  const fallbacks = new Counter({
    name: 'aldis_replica_fallbacks_total',
    help: 'statements that the primary answered in its place, by reason',
    labelNames: ['reason'] as const,
    registers: [registry],
  })
  return (reason) => (reason === null ? reads.inc() : fallbacks.inc({ reason }))
}

export function readReplicaMetrics(registry: Registry, replica: Pick<ReadReplica, 'isUsed' | 'lagMs'>): void {
  new Gauge({
    name: 'aldis_replica_used',
    help: '1 while the read replica is used, else 0',
    registers: [registry],
    collect() {
      this.set(Number(replica.isUsed))
    },
  })
  new Gauge({
    name: 'aldis_replica_lag_seconds',
    help: 'how long the read replica took to catch up; while it is not used, how long ago it had everything',
    registers: [registry],
    collect() {
      this.set(replica.lagMs / 1_000)
    },
  })
}
