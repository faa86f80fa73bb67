import { BUCKETS } from '../../domain/identifiers.ts'
import type { DatabaseClock } from '../../domain/instants.ts'
import { hasDuty, lackingDuties, type NodeRole } from '../../domain/nodes.ts'
import { sqlState } from '../../store/database.ts'
import {
  gapMs,
  type Heartbeat,
  heartbeat,
  LEASE_MS,
  registerNode,
  registerNodeAgain,
  releaseBuckets,
  removeNode,
  takeBuckets,
} from '../../store/nodes.ts'
import { SchemaError } from '../../store/schema.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'

type TakenListener = (buckets: readonly number[]) => unknown

export interface NodeLeaseOptions extends Pick<NodeParts, 'db' | 'log'> {
  /** A node that starts under the name of another takes over its work at once. */
  readonly name: string
  /** Default: all. */
  readonly role?: NodeRole | undefined
  /** Called when this process must stop. Null: another one has taken its name. */
  readonly onBarred: (why: SchemaError | null) => void
  /** The clock that each heartbeat sets. */
  readonly clock?: DatabaseClock
  readonly heartbeatMs?: number | undefined
  readonly leaseMs?: number | undefined
}

/** With LEASE_MS, the work of a dead node is another's within 8 s plus the time of its recovery (docs/adr/0008). */
const HEARTBEAT_MS = 1_000
/** Pause after a failed heartbeat. */
const RETRY_MS = 500
/** How long after the end of another node's lease, or of the time in which none is removed, leases are checked. */
export const BEHIND_END_MS = 20
/** No work begins this shortly before the lease ends, so that whatever has begun ends within the lease. */
export const SAFETY_MS = 3_000
/**
 * After half a lease without a heartbeat, and at its start, a node removes nobody for this long, so that the others have time
 * for theirs.
 */
export const GRACE_MS = 3_000
/** How far two clocks differ by themselves between heartbeats, at most. */
const CLOCK_STEP_MS = 250
/** How long a starting node waits for a migration that changes what a program must know, as other migrations do. */
const MIGRATION_MS = 120_000
/** query_canceled: the statement's time bound */
const TIMED_OUT = '57014'
const NO_BUCKETS = { owned: [], taken: [] }

/**
 * This node's share of the buckets. Every live node that delivers webhooks owns an equal part, the others none. The work of a dead node is taken over when its lease
 * is over: the other nodes' next heartbeat comes then, if it is not due sooner.
 */
export class NodeLease {
  readonly #options: NodeLeaseOptions
  readonly #leaseMs: number
  #nodeId = 0
  #buckets: readonly number[] = []
  #nodes: Heartbeat['nodes'] = []
  #apiNodes = 0
  /** The share that this node has, no more and no less; null: that is not known. */
  #reachedShare: number | null = null
  #next = 0
  #renewedAtMs = Number.NEGATIVE_INFINITY
  #graceUntilMs = Number.NEGATIVE_INFINITY
  /** The database's clock at the last heartbeat. */
  #reading: { readonly databaseMs: number; readonly askedMs: number; readonly tookMs: number } | null = null
  readonly #listeners = new Set<() => void>()
  readonly #beatListeners = new Set<(nodeId: number) => unknown>()
  readonly #takenListeners = new Set<TakenListener>()
  readonly #nodesListeners = new Set<() => void>()
  readonly #expiredListeners = new Set<() => void>()
  readonly #task: PeriodicTask
  #lapse: NodeJS.Timeout | null = null

  constructor(options: NodeLeaseOptions) {
    this.#options = options
    const { heartbeatMs = HEARTBEAT_MS, leaseMs = LEASE_MS, log } = options
    // Soon, because the lease keeps running out.
    const retryMs = Math.min(RETRY_MS, heartbeatMs)
    this.#leaseMs = leaseMs
    this.#task = new PeriodicTask(log, 'heartbeat failed', heartbeatMs, () => this.runOnce(), retryMs)
  }

  get nodeId(): number {
    return this.#nodeId
  }

  /** Buckets this node owns. None while its lease may be over: then nothing may be sent. */
  get buckets(): readonly number[] {
    return this.alive ? this.#buckets : []
  }

  /** Whether no other node was alive at the last heartbeat. */
  get isAlone(): boolean {
    return this.#nodes.length <= 1
  }

  /** Whether no other node that was alive at the last heartbeat takes messages. */
  get isOnlyApi(): boolean {
    return this.#apiNodes <= 1
  }

  /** What none of the nodes that were alive at the last heartbeat does. */
  get lacking(): string[] {
    return lackingDuties(this.#nodes)
  }

  get alive(): boolean {
    return this.leftMs > 0
  }

  /**
   * How long work may still be begun. By a monotonic clock, so a process that was stopped for longer than its lease notices.
   */
  get leftMs(): number {
    return this.#renewedAtMs + this.#leaseMs - SAFETY_MS - performance.now()
  }

  /** A bucket for a new id: the owned buckets in turn, or any bucket while none is owned. */
  nextBucket(): number {
    const owned = this.#buckets
    this.#next += 1
    return owned.length === 0 ? this.#next % BUCKETS : owned[this.#next % owned.length]!
  }

  /**
   * Calls `listener` whenever the lease is renewed, is over by this node's clock, or was lost. Returns a function that ends
   * this.
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Calls `listener` with this node's id at each heartbeat, and awaits it before anything is taken over. */
  onBeat(listener: (nodeId: number) => unknown): void {
    this.#beatListeners.add(listener)
  }

  /**
   * Calls `listener` when a node has died, and with buckets that dead nodes may have held work of. Awaits it before this node
   * works on them.
   */
  onTaken(listener: TakenListener): void {
    this.#takenListeners.add(listener)
  }

  /** Calls `listener` when the living nodes, or their roles, are others than at the heartbeat before. */
  onNodes(listener: () => void): void {
    this.#nodesListeners.add(listener)
  }

  /** Calls `listener` when the lease was over. What this node holds may be another's, and the node registers again. */
  onExpired(listener: () => void): void {
    this.#expiredListeners.add(listener)
  }

  async start(): Promise<void> {
    this.#nodeId = await this.#register()
    await this.runOnce()
    this.#task.start()
  }

  /** One heartbeat: renews the lease and evens out the shares. Returns the milliseconds until the next is due. */
  async runOnce(): Promise<number> {
    const { db, name, role = 'all', clock, heartbeatMs = HEARTBEAT_MS } = this.#options
    const leaseMs = this.#leaseMs
    const startedAtMs = performance.now()
    const isLate = startedAtMs - this.#renewedAtMs > gapMs(leaseMs)
    const mayRemove = !isLate && startedAtMs >= this.#graceUntilMs
    // Not before this time by that clock, and later by no more than that heartbeat took.
    const askedMs = this.#reading && this.#reading.databaseMs + startedAtMs - this.#reading.askedMs
    const beat = { nodeId: this.#nodeId, name, mayRemove, leaseMs, askedMs }
    const reachedShare = this.#reachedShare
    // Behind a heartbeat that fails may be another primary, which lacks the last commits.
    this.#reachedShare = null
    const { state, nodes, firstEndMs, databaseMs } = await heartbeat(db, beat)
    const answeredMs = performance.now()
    // The database's clock was set, or this machine was paused and its monotonic clock does not count that: the lease is older
    // than this node believes.
    const mostMs = answeredMs - startedAtMs + (this.#reading?.tookMs ?? 0) + CLOCK_STEP_MS
    if (askedMs !== null && databaseMs - askedMs > mostMs) {
      this.#reading = null
      return await this.runOnce()
    }
    this.#reading = { databaseMs, askedMs: startedAtMs, tookMs: answeredMs - startedAtMs }
    // The others have had no more time than this node to get a heartbeat through.
    if (isLate) this.#graceUntilMs = answeredMs + GRACE_MS
    clock?.read({ databaseMs, askedMs: startedAtMs, answeredMs })
    if (state !== 'alive') return await this.#lost(state)
    for (const listener of this.#beatListeners) await listener(this.#nodeId)
    this.#renewed(startedAtMs)
    const owners = nodes.filter((node) => hasDuty(node.role, 'webhook'))
    const share = Math.ceil(BUCKETS / owners.length)
    const { owned, taken } = hasDuty(role, 'webhook')
      ? await this.#takeShare(share, reachedShare)
      : NO_BUCKETS
    const living = new Set(nodes.map(({ nodeId }) => nodeId))
    const hasDied = this.#nodes.some(({ nodeId }) => !living.has(nodeId))
    // A dead node may have held work of buckets that it had given up to this node before.
    const inherited = hasDied ? owned : taken
    if (hasDied || inherited.length > 0)
      for (const listener of this.#takenListeners) await listener(inherited)
    const isAnother = nodes.length !== this.#nodes.length || nodes.some((node) => !isAmong(node, this.#nodes))
    this.#nodes = nodes
    this.#apiNodes = nodes.filter((node) => hasDuty(node.role, 'api')).length
    this.#buckets = owned
    if (isAnother) for (const listener of this.#nodesListeners) listener()
    if (owned.length > share) await this.#release(owned.slice(share))
    if (owned.length >= share) this.#reachedShare = share
    const untilMs = mayRemove ? firstEndMs : this.#graceUntilMs - performance.now()
    return untilMs === null ? heartbeatMs : Math.min(heartbeatMs, Math.max(untilMs, 0) + BEHIND_END_MS)
  }

  async stop(): Promise<void> {
    await this.#task.stop()
    if (this.#lapse !== null) clearTimeout(this.#lapse)
    this.#buckets = []
    // The node was never started, so there is nothing to give up.
    if (this.#nodeId === 0) return
    await removeNode(this.#options.db, this.#nodeId)
  }

  /**
   * A lease that was over begins anew, as another node. It never does under a name that another process has taken, nor on a
   * schema that this program does not know.
   */
  async #lost(state: 'expired' | 'replaced'): Promise<number> {
    const { onBarred, heartbeatMs = HEARTBEAT_MS } = this.#options
    this.#buckets = []
    this.#reachedShare = null
    this.#renewedAtMs = Number.NEGATIVE_INFINITY
    this.#notify()
    if (state === 'expired') for (const listener of this.#expiredListeners) listener()
    const again = state === 'expired' ? await this.#registerAgain() : null
    if (typeof again !== 'number') {
      // Not awaited, because it is this run that found it out.
      void this.#task.stop()
      onBarred(again)
      return heartbeatMs
    }
    this.#nodeId = again
    return await this.runOnce()
  }

  /** The statement waits for a migration that changes what a program must know, and is told the outcome after it. */
  async #register(): Promise<number> {
    const { db, name, role, log } = this.#options
    const untilMs = performance.now() + MIGRATION_MS
    for (;;) {
      try {
        return await registerNode(db, name, { role, leaseMs: this.#leaseMs })
      } catch (error) {
        if (sqlState(error) !== TIMED_OUT || performance.now() > untilMs) throw error
        log.warn(
          { err: error },
          'waiting for a migration that changes which versions can work with the schema',
        )
      }
    }
  }

  async #registerAgain(): Promise<number | SchemaError | null> {
    const { db, name, role } = this.#options
    return await registerNodeAgain(db, name, { role, leaseMs: this.#leaseMs }).catch((error) => {
      if (error instanceof SchemaError) return error
      throw error
    })
  }

  #renewed(startedAtMs: number): void {
    this.#renewedAtMs = startedAtMs
    this.#watch()
    this.#notify()
  }

  /** Calls the listeners when the lease is over by this node's clock. A timer may fire a little early. */
  #watch(): void {
    if (this.#lapse !== null) clearTimeout(this.#lapse)
    this.#lapse = setTimeout(
      () => (this.alive ? this.#watch() : this.#notify()),
      Math.max(this.leftMs, 0) + 1,
    )
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }

  /** Nobody takes buckets of a living node, so one that has its share asks for nothing. */
  async #takeShare(
    share: number,
    reachedShare: number | null,
  ): Promise<{ owned: readonly number[]; taken: readonly number[] }> {
    if (reachedShare === share) return { owned: this.#buckets, taken: [] }
    return await takeBuckets(this.#options.db, this.#nodeId, share)
  }

  /** Messages in memory of a bucket that is given up stay with this node until they are recorded. New work goes elsewhere. */
  async #release(buckets: readonly number[]): Promise<void> {
    const surplus = new Set(buckets)
    this.#buckets = this.#buckets.filter((bucket) => !surplus.has(bucket))
    await releaseBuckets(this.#options.db, this.#nodeId, buckets)
  }
}

function isAmong({ nodeId, role }: Heartbeat['nodes'][number], nodes: Heartbeat['nodes']): boolean {
  return nodes.some((node) => node.nodeId === nodeId && node.role === role)
}
