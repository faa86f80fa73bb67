import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '../../log.ts'
import { type Database, isRowFault, isTransient, type Queryable, sqlState } from '../../store/database.ts'
import { primaryPlace, replayedPlace, type WalPlace } from '../../store/read-replica.ts'
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

/** A standby that was used for a shorter time than this, before it was turned away, comes and goes. */
const STEADY_MS = 60_000
/** About as long, in looks. */
const MOST_LOOKS = 64

/** serialization_failure (a conflict with recovery), deadlock_detected (likewise) */
const CANCELLED = new Set(['40001', '40P01'])
/** query_canceled: the statement reached its time limit. It would take as long on the primary. */
const TIMED_OUT = '57014'

/**
 * Statements that only read, on a standby. Each sees at least what it would have seen on the primary when it began, because
 * it waits until the standby has replayed that; otherwise it runs on the primary (docs/adr/0032). A look every second decides
 * whether the standby is tried at all.
 */
export class ReadReplica implements Queryable {
  readonly #options: ReadReplicaOptions
  readonly #looks: PeriodicTask
  #trouble: ReplicaTrouble | null = 'starting'
  #usedSinceMs = 0
  /** How many looks in a row must find it well before it is used: twice as many each time that it comes and goes. */
  #looksNeeded = 1
  #wellLooks = 0
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

  get sharded(): boolean {
    return this.#options.primary.sharded === true
  }

  get awayPlans(): ReadonlySet<number> | undefined {
    return this.#options.primary.awayPlans
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
      const answer = await this.#read<Row>(this.#place, statement, values)
      if (typeof answer !== 'string') {
        count(null)
        return answer
      }
      fallback = answer
    }
    count(fallback)
    return primary.query<Row>(statement, values)
  }

  /** The result, or why the primary has to answer. */
  async #read<Row extends pg.QueryResultRow>(
    place: WalPlace,
    statement: Statement,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row> | FallbackReason> {
    const { replica, maxLagMs } = this.#options
    let client: pg.PoolClient | null = null
    let isBroken = false
    try {
      client = await replica.connect()
      // Another read has found out while this one waited for its connection.
      if (this.#trouble !== null) return this.#trouble
      // On the connection of the statement: a pooler or balancer may lead another one to another server.
      await untilLevel(client, place, maxLagMs)
      return await (client as Queryable).query<Row>(statement, values)
    } catch (error) {
      isBroken = !(error instanceof ReplicaError) && sqlState(error) === undefined
      if (isRowFault(error) || sqlState(error) === TIMED_OUT) throw error
      const fallback = fallbackOf(error)
      // Before the connection is released: the next read has it at once.
      if (fallback !== 'cancelled') this.#turnAway(fallback, error)
      return fallback
    } finally {
      client?.release(isBroken)
    }
  }

  async #look(): Promise<void> {
    const { looks, cut, maxLagMs } = this.#options
    await this.#places.ask()
    const askedAtMs = performance.now()
    try {
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
    if (!this.isUsed) this.#foundWell()
  }

  #foundWell(): void {
    this.#wellLooks += 1
    if (this.#wellLooks < this.#looksNeeded) return
    this.#trouble = null
    this.#usedSinceMs = performance.now()
    this.#options.log.info({ lagMs: Math.round(this.#lagMs) }, 'the read replica is used')
  }

  #turnAway(trouble: ReplicaTrouble, err: unknown): void {
    this.#wellLooks = 0
    if (trouble === this.#trouble) return
    if (this.isUsed) {
      const isSteady = performance.now() - this.#usedSinceMs >= STEADY_MS
      this.#looksNeeded = isSteady ? 1 : Math.min(2 * this.#looksNeeded, MOST_LOOKS)
    }
    this.#trouble = trouble
    this.#options.log.warn({ err, trouble }, 'the read replica is not used: the primary answers its reads')
  }
}

/** Resolves when the standby has replayed this. @throws ReplicaError */
export async function untilLevel(replica: Queryable, place: WalPlace, maxLagMs: number): Promise<void> {
  const startedAtMs = performance.now()
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const replayed = await replayedPlace(replica)
    if (replayed === null) throw new ReplicaError('foreign', 'it is not a standby')
    if (replayed.database !== place.database)
      throw new ReplicaError('foreign', 'it has another database than the primary')
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
