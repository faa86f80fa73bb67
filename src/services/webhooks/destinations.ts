import {
  BREAKER_THRESHOLD,
  FailureCounts,
  PROBE_INTERVAL_MS,
  SCHEDULE_MS,
} from '../../domain/webhooks/retries.ts'
import { type Endpoint, endpointKey } from '../../domain/webhooks/targets.ts'
import { UNSENT_ERRORS } from '../../outbound/delivery-errors.ts'
import {
  closeBreaker,
  deleteRecovered,
  listTroubledDestinations,
  MAX_TROUBLED_OF_PLAN,
  openBreaker,
  parkDeliveriesAt,
  type TroubledDestination,
} from '../../store/webhook-destinations.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'

export interface DestinationsOptions extends Pick<NodeParts, 'db' | 'log'> {
  readonly pollMs?: number | undefined
  readonly probeMs?: number | undefined
  /** Whether no other node is alive. Default: never. */
  readonly isAlone?: () => boolean
}

const POLL_MS = 1_000
/** While this node is alone and nothing is in trouble: until it writes, nothing will be. */
const REST_MS = 5_000
/** Long enough for every node to have read that a destination recovers. */
const QUIET_MS = 30_000
const PARK_BATCH = 1_000
/** 1,000,000 deliveries of one destination. The rest are parked when they are due, or with the next probe. */
const MAX_PARK_BATCHES = 1_000

/**
 * Which destinations are in trouble: breakers, which open here on what this node sees and are shared through the database,
 * and pauses. What this node knows from others is at most one poll old.
 */
export class Destinations {
  readonly #options: DestinationsOptions
  readonly #failures = new FailureCounts()
  #troubled = new Map<string, TroubledDestination>()
  /** Runs one statement after the other, so that no reading is older than what was written here. */
  #work: Promise<void> = Promise.resolve()
  #parking: Promise<void> = Promise.resolve()
  readonly #task: PeriodicTask
  #stopped = false

  constructor(options: DestinationsOptions) {
    this.#options = options
    const { isAlone, log } = options
    const pauseMs = () =>
      isAlone?.() && this.#troubled.size === 0 ? Math.max(REST_MS, this.#pollMs) : this.#pollMs
    this.#task = new PeriodicTask(log, 'webhook destinations not read', pauseMs, () => this.runOnce())
  }

  get #pollMs(): number {
    return this.#options.pollMs ?? POLL_MS
  }

  /** Another node has come, or this process has run a statement that may have written destinations. */
  stir(): void {
    this.#task.hasten(this.#pollMs)
  }

  get probeMs(): number {
    return this.#options.probeMs ?? PROBE_INTERVAL_MS
  }

  /** Reads the state before anything is delivered, then keeps reading. */
  async start(): Promise<void> {
    await this.runOnce()
    this.#task.start()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#task.stop()
    await this.#work
    await this.#parking
  }

  async runOnce(): Promise<void> {
    await this.#enqueue(async () => {
      if (this.#troubled.size > 0) await deleteRecovered(this.#options.db, QUIET_MS)
      await this.#read()
    })
  }

  /** Null: not in trouble. */
  stateOf(endpoint: Endpoint): TroubledDestination['state'] | null {
    // Almost always no destination is in trouble, and this is asked twice for each webhook.
    return this.#troubled.size === 0 ? null : (this.#troubled.get(endpointKey(endpoint))?.state ?? null)
  }

  inState(state: TroubledDestination['state']): Endpoint[] {
    return [...this.#troubled.values()].filter((one) => one.state === state)
  }

  /** How many destinations are in this state. */
  count(state: TroubledDestination['state']): number {
    return this.inState(state).length
  }

  recordSuccess(endpoint: Endpoint): void {
    this.#failures.clear(endpoint)
    if (this.stateOf(endpoint) === 'open') this.closeBreaker(endpoint)
  }

  /**
   * Counts a failure, unless the request was not sent, and opens the breaker when there are enough; `atOnce`: at the first.
   * Parks the events that wait for an open one. Returns true when the destination is open or paused now.
   */
  recordFailure(endpoint: Endpoint, error: string, atOnce: boolean): boolean {
    const { planId, destination } = endpoint
    const failures = UNSENT_ERRORS.has(error) ? 0 : this.#failures.count(endpoint)
    const state = this.stateOf(endpoint)
    if (state === 'open') this.park(endpoint)
    if (state === 'open' || state === 'paused') return true
    if (!atOnce && failures < BREAKER_THRESHOLD) return false
    if (state === null && this.#countOf(planId) >= MAX_TROUBLED_OF_PLAN) return false
    this.#troubled.set(endpointKey(endpoint), {
      planId,
      destination,
      state: 'open',
      since: new Date(),
      error,
      pausedBy: null,
    })
    this.#options.log.warn({ destination, error }, 'webhook breaker opened')
    void this.#enqueue(async () => {
      await openBreaker(this.#options.db, { ...endpoint, error, probeAfterMs: this.probeMs })
      await this.#read()
    })
    this.park(endpoint)
    return true
  }

  /** Events parked there are to be delivered now. */
  closeBreaker(endpoint: Endpoint): void {
    const key = endpointKey(endpoint)
    const troubled = this.#troubled.get(key)
    if (troubled?.state !== 'open') return
    this.#failures.clear(endpoint)
    this.#troubled.set(key, { ...troubled, state: 'recovering' })
    this.#options.log.warn({ destination: endpoint.destination }, 'webhook breaker closed')
    void this.#enqueue(async () => {
      await closeBreaker(this.#options.db, endpoint)
      await this.#read()
    })
  }

  #countOf(planId: number): number {
    return this.#troubled.values().reduce((sum, one) => sum + (one.planId === planId ? 1 : 0), 0)
  }

  async #read(): Promise<void> {
    const rows = await listTroubledDestinations(this.#options.db)
    this.#troubled = new Map(rows.map((row) => [endpointKey(row), row]))
  }

  /** Never rejects. */
  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work
      .then(work)
      .catch((error) => this.#options.log.error({ err: error }, 'webhook destinations not read or written'))
    return this.#work
  }

  /** Events that wait there for their next attempt wait for a probe instead. */
  park({ planId, destination }: Endpoint): void {
    const endpoint = { planId, destination, scheduleMs: SCHEDULE_MS, limit: PARK_BATCH }
    this.#parking = this.#parking
      // An event can be parked only if the row is there.
      .then(() => this.#work)
      .then(async () => {
        for (let batch = 0; batch < MAX_PARK_BATCHES && !this.#stopped; batch += 1) {
          if (this.stateOf(endpoint) !== 'open') return
          if ((await parkDeliveriesAt(this.#options.db, endpoint)) < PARK_BATCH) return
        }
      })
      .catch((error) => this.#options.log.error({ err: error }, 'webhook events not parked'))
  }
}
