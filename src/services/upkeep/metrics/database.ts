import { Counter, Gauge, type Registry } from 'prom-client'
import { DURATION_BOUNDS, Histogram } from '../../../histogram.ts'
import type { Database } from '../../../store/database.ts'
import { watchPool } from '../../../store/database-pool.ts'
import type { FallbackReason, ReadReplica } from '../../node/read-replica.ts'

/** A scrape waits no longer than this for the database: the other metrics are needed most when it hangs. */
const SCRAPE_WAIT_MS = 2_000
/** Statements without a name: BEGIN, COMMIT, and those of administration. */
const UNNAMED = 'unnamed'

/**
 * How fast the database answers this node. Labels: names of statements and pools, which are constants of the code.
 *
 * @param onStatement called with the name of each statement when it is over
 */
export function databaseMetrics(
  registry: Registry,
  pools: Readonly<Record<string, Database>>,
  onStatement: (name: string | null) => void,
): void {
  const statements = new Histogram<'statement'>({
    name: 'aldis_statement_seconds',
    help: 'statements by name, from when they are sent to their answer',
    buckets: DURATION_BOUNDS,
    registry,
  })
  const waits = new Histogram<'pool'>({
    name: 'aldis_pool_wait_seconds',
    help: 'how long a connection was waited for, by pool',
    buckets: DURATION_BOUNDS,
    registry,
  })
  const known = new Map<string, { observe(seconds: number): void }>()
  const seriesOf = (statement: string) => {
    const series = known.get(statement) ?? statements.labels({ statement })
    known.set(statement, series)
    return series
  }
  for (const [pool, db] of Object.entries(pools)) {
    const wait = waits.labels({ pool })
    watchPool(db, {
      statement: (name, seconds) => {
        seriesOf(name ?? UNNAMED).observe(seconds)
        onStatement(name)
      },
      waited: (seconds) => wait.observe(seconds),
    })
  }
  const gauge = (name: string, help: string, read: (db: Database) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'] as const,
      registers: [registry],
      collect() {
        for (const [pool, db] of Object.entries(pools)) this.set({ pool }, read(db))
      },
    })
  gauge('aldis_pool_connections', 'connections that are open, by pool', (db) => db.totalCount)
  gauge('aldis_pool_busy', 'connections in use, by pool', (db) => db.totalCount - db.idleCount)
  gauge('aldis_pool_waiting', 'statements that wait for a connection, by pool', (db) => db.waitingCount)
}

/** Returns what was read, or null when reading fails or takes too long. */
export async function readForScrape<Value>(reading: Promise<Value>): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), SCRAPE_WAIT_MS)
  })
  try {
    return await Promise.race([reading.catch(() => null), tooLong])
  } finally {
    clearTimeout(timer)
  }
}

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
