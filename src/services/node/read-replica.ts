import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '../../log.ts'
import { type Database, isRowFault, isTransient, type Queryable, sqlState } from '../../store/database.ts'
import { databaseIdentity, primaryPlace, replayedPlace, type WalPlace } from '../../store/read-replica.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'
import { SharedRun } from '../loops/shared-run.ts'

/** Why the replica is not used: until the next look finds it well. */
export type ReplicaTrouble = 'starting' | 'unreachable' | 'foreign' | 'behind' | 'failed'
/** Why the primary answered a read. `cancelled`: that statement alone. */
export type FallbackReason = ReplicaTrouble | 'cancelled'

export interface ReadReplicaOptions {
  readonly primary: Queryable
  readonly replica: Database
  /** A connection of its own, so that a look does not wait behind reads. */
  readonly looks: Queryable
  /** Cuts every connection to the replica. */
  readonly cut: () => void
  /** How long a read waits for the replica to catch up. */
  readonly maxLagMs: number
  /** Who answered a read: null is the replica. */
  readonly count: (fallback: FallbackReason | null) => void
  readonly log: Log
  readonly lookMs?: number
}

type Statement = Parameters<Queryable['query']>[0]

/** What is wrong with a standby that answers. */
class ReplicaError extends Error {
  override readonly name = 'ReplicaError'
  readonly trouble: 'foreign' | 'behind'

  constructor(trouble: ReplicaError['trouble'], message: string) {
    super(message)
    this.trouble = trouble
  }
}

export const DEFAULT_MAX_LAG_MS = 500
const LOOK_MS = 1_000
const FIRST_PAUSE_MS = 2
const LONGEST_PAUSE_MS = 100

/** serialization_failure (a conflict with recovery), deadlock_detected (likewise), query_canceled (the statement's bound) */
const CANCELLED = new Set(['40001', '40P01', '57014'])

/**
 * Statements that only read, on a standby. Each sees at least what it would have seen on the primary when it began, because
 * it waits until the standby has replayed that; otherwise it runs on the primary (docs/adr/0032). A look every second decides
 * whether the standby is tried at all.
 */
export class ReadReplica implements Queryable {
  readonly #options: ReadReplicaOptions
  readonly #looks: PeriodicTask
  #trouble: ReplicaTrouble | null = 'starting'
  /** What the primary had when the run began that the caller asked for, or later. */
  #place!: WalPlace
  readonly #places = new SharedRun(async () => {
    this.#place = await primaryPlace(this.#options.primary)
  })
  #lagMs = 0
  #levelAtMs = performance.now()

  constructor(options: ReadReplicaOptions) {
    this.#options = options
    const { log, lookMs = LOOK_MS } = options
    this.#looks = new PeriodicTask(log, 'read replica not checked: the primary does not answer', lookMs, () =>
      this.#look(),
    )
  }

  /** Does not wait for the replica: nothing depends on it. */
  start(): void {
    this.#looks.start(0)
  }

  async stop(): Promise<void> {
    await this.#looks.stop()
  }

  get isUsed(): boolean {
    return this.#trouble === null
  }

  /** How long the replica took to catch up at the last look; while it is not used, how long ago it last had everything. */
  get lagMs(): number {
    return this.isUsed ? this.#lagMs : performance.now() - this.#levelAtMs
  }

  async query<Row extends pg.QueryResultRow>(
    statement: Statement,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>> {
    const { primary, count } = this.#options
    let fallback: FallbackReason | null = this.#trouble
    if (fallback === null) {
      // An error of the primary is the caller's.
      await this.#places.ask()
      try {
        const result = await this.#read<Row>(this.#place, statement, values)
        count(null)
        return result
      } catch (error) {
        if (isRowFault(error)) throw error
        fallback = fallbackOf(error)
        if (fallback !== 'cancelled') this.#turnAway(fallback, error)
      }
    }
    count(fallback)
    return primary.query<Row>(statement, values)
  }

  async #read<Row extends pg.QueryResultRow>(place: WalPlace, statement: Statement, values?: unknown[]) {
    const { replica, maxLagMs } = this.#options
    const client = await replica.connect()
    let isBroken = true
    try {
      // On the connection of the statement: a pooler or balancer may lead another one to another server.
      await untilLevel(client, place, maxLagMs)
      const result = await (client as Queryable).query<Row>(statement, values)
      isBroken = false
      return result
    } catch (error) {
      isBroken = !(error instanceof ReplicaError) && sqlState(error) === undefined
      throw error
    } finally {
      client.release(isBroken)
    }
  }

  async #look(): Promise<void> {
    const { primary, looks, cut, maxLagMs, log } = this.#options
    const identity = this.isUsed ? null : await databaseIdentity(primary)
    await this.#places.ask()
    const askedAtMs = performance.now()
    try {
      if (identity !== null) await checkIdentity(looks, identity)
      await untilLevel(looks, this.#place, maxLagMs)
    } catch (error) {
      const trouble = troubleOf(error)
      this.#turnAway(trouble, error)
      // Reads that wait there, for a connection or an answer, fail and run on the primary.
      if (trouble === 'unreachable') cut()
      return
    }
    this.#levelAtMs = performance.now()
    this.#lagMs = this.#levelAtMs - askedAtMs
    if (!this.isUsed) log.info({ lagMs: Math.round(this.#lagMs) }, 'the read replica is used')
    this.#trouble = null
  }

  #turnAway(trouble: ReplicaTrouble, err: unknown): void {
    if (trouble === this.#trouble) return
    this.#trouble = trouble
    this.#options.log.warn({ err, trouble }, 'the read replica is not used: the primary answers its reads')
  }
}

/** `identity`: of the primary. @throws ReplicaError */
export async function checkIdentity(replica: Queryable, identity: string): Promise<void> {
  if ((await databaseIdentity(replica)) !== identity)
    throw new ReplicaError('foreign', 'it has another database than the primary')
}

/** Resolves when the standby has replayed this. @throws ReplicaError */
export async function untilLevel(replica: Queryable, place: WalPlace, maxLagMs: number): Promise<void> {
  const startedAtMs = performance.now()
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const replayed = await replayedPlace(replica)
    if (replayed === null) throw new ReplicaError('foreign', 'it is not a standby')
    if (replayed.timeline !== place.timeline)
      throw new ReplicaError(
        'foreign',
        `it is on timeline ${replayed.timeline}, the primary on ${place.timeline}`,
      )
    if (replayed.position >= place.position) return
    if (performance.now() - startedAtMs >= maxLagMs)
      throw new ReplicaError('behind', `it is more than ${maxLagMs} ms behind`)
    await wait(pauseMs)
  }
}

export function troubleOf(error: unknown): Exclude<ReplicaTrouble, 'starting'> {
  if (error instanceof ReplicaError) return error.trouble
  return isTransient(error) ? 'unreachable' : 'failed'
}

function fallbackOf(error: unknown): FallbackReason {
  return CANCELLED.has(sqlState(error) ?? '') ? 'cancelled' : troubleOf(error)
}
