import type { Registry } from 'prom-client'
import { DEFAULT_MAX_LAG_MS, ReadReplica } from '../services/node/read-replica.ts'
import { readReplicaCounter, readReplicaMetrics } from '../services/upkeep/metrics/read-replica.ts'
import type { Database } from '../store/database.ts'
import { openReplica } from './database.ts'
import type { AppOptions } from './options.ts'
import type { ShutdownStack } from './shutdown.ts'

export interface OpenReadReplica {
  readonly records: ReadReplica
  /** Its connections, for metrics. */
  readonly replica: Database
}

/** Null without DATABASE_REPLICA_URL: the primary answers everything, and nothing is opened. */
export function openReadReplica(
  options: AppOptions,
  primary: Database,
  { registry, shutdown }: { readonly registry: Registry; readonly shutdown: ShutdownStack },
): OpenReadReplica | null {
  const { databaseReplicaUrl, databaseReplicaMaxLagMs: maxLagMs = DEFAULT_MAX_LAG_MS, log } = options
  if (databaseReplicaUrl === undefined) return null
  const { replica, looks, cut } = openReplica(options, databaseReplicaUrl)
  const count = readReplicaCounter(registry)
  const records = new ReadReplica({ primary, replica, looks, cut, maxLagMs, count, log })
  readReplicaMetrics(registry, records)
  shutdown.add('read replica', async () => {
    await records.stop()
    await Promise.all([replica.end(), looks.end()])
  })
  return { records, replica }
}
