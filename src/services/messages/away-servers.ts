import { setTimeout as wait } from 'node:timers/promises'
import {
  divide,
  isOfWorker,
  isSharded,
  probesOfServers,
  reachServer,
  serversOfPlans,
} from '../../store/citus.ts'
import { sqlState } from '../../store/database.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'

export interface AwayServersOptions extends Pick<NodeParts, 'db' | 'log'> {
  /** A server is back. */
  readonly onBack: () => void
}

const LOOK_MS = 500
/** A server that has not answered a probe by then is away. */
const REACH_MS = 3_000
/** One that refuses records, though it takes a probe, is away for this long: its disk may be full. */
const REFUSES_MS = 5_000
/** A plan may be moved to another server. */
const FRESH_MS = 60_000
const AWAY = 'a server with records is away'
const NO_ANSWER = new Error(`no answer within ${REACH_MS} ms`)

/**
 * Where records are on several servers (store/citus.ts): those that are away. What is to be written there waits in memory and
 * in the journal, and everything else goes on. With one server there is nothing to look for, and no statement is sent. Here a
 * worker is such a server of Citus, not a process of Node.js.
 */
export class AwayServers {
  readonly #options: AwayServersOptions
  readonly #watch: PeriodicTask
  /** The server of each plan, as last read. */
  #servers: ReadonlyMap<number, number> = new Map()
  /** By the monotonic clock. */
  #readAtMs = Number.NEGATIVE_INFINITY
  #away: ReadonlySet<number> = new Set()
  /** Until when servers that refused records are left alone, by the monotonic clock. */
  readonly #refusing = new Map<number, { readonly untilMs: number; readonly error: unknown }>()
  /** Probes that are not answered yet, by server. */
  readonly #probes = new Map<number, Promise<unknown>>()
  #looking: Promise<void> | null = null
  readonly #stopped = Promise.withResolvers<null>()
  #isStopped = false

  constructor(options: AwayServersOptions) {
    this.#options = options
    this.#watch = new PeriodicTask(options.log, 'servers of records not looked for', LOOK_MS, () =>
      this.#look(),
    )
  }

  /** Some server is away, as far as this process knows. */
  get knowsOfAny(): boolean {
    return this.#away.size > 0
  }

  /** Called when something failed. Probes the servers: true if one is away that was not known to be. Never rejects. */
  async probeFindsNew(): Promise<boolean> {
    const before = this.#away
    return (await this.probe()) && [...this.#away].some((server) => !before.has(server))
  }

  /** Called when records could not be written. Probes the servers: true if one is away. Never rejects. */
  async probe(): Promise<boolean> {
    if (!isSharded(this.#options.db)) return false
    await this.#look().catch(() => undefined)
    return this.#away.size > 0
  }

  /**
   * Called when the server of this plan was asked alone, and records could not be written: whether some server is away now.
   * Never rejects.
   */
  async hasFailed(planId: number, error: unknown): Promise<boolean> {
    const server = this.#servers.get(planId)
    if (server !== undefined && isOfWorker(error))
      this.#refusing.set(server, { untilMs: performance.now() + REFUSES_MS, error })
    return await this.probe()
  }

  /**
   * Divides what is to be written in transactions, as the servers were within the last minute. Never rejects. `planOf` null: it
   * is not for one of the servers with records.
   */
  async byServer<Item>(
    items: readonly Item[],
    planOf: (item: Item) => number | null,
  ): Promise<readonly (readonly Item[])[]> {
    const { db } = this.#options
    if (!isSharded(db)) return [items]
    const isKnown = (planId: number | null) => planId === null || this.#servers.has(planId)
    if (performance.now() - this.#readAtMs > FRESH_MS || !items.every((item) => isKnown(planOf(item))))
      await this.#readServers().catch(() => undefined)
    return divide(items, planOf, this.#servers)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#stopped.resolve(null)
    await this.#watch.stop()
  }

  /** All who ask at the same time get the same answer. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #readServers(): Promise<ReadonlyMap<number, number>> {
    const atMs = performance.now()
    this.#servers = await serversOfPlans(this.#options.db)
    this.#readAtMs = atMs
    return this.#servers
  }

  async #lookNow(): Promise<void> {
    const { db, log, onBack } = this.#options
    const servers = await this.#readServers()
    const away = new Set<number>()
    const judge = async ([server, probe]: [number, number]) => {
      const fault = await this.#faultOf(server, probe)
      if (fault === null) return
      away.add(server)
      if (!this.#away.has(server)) log.error({ err: fault, server }, AWAY)
    }
    await Promise.all([...(await probesOfServers(db))].map(judge))
    const back = [...this.#away].filter((server) => !away.has(server))
    this.#away = away
    db.awayPlans = new Set([...servers].flatMap(([planId, server]) => (away.has(server) ? [planId] : [])))
    if (away.size === 0) void this.#watch.stop()
    else if (!this.#isStopped) this.#watch.start()
    if (back.length > 0) {
      log.info({ servers: back }, `no longer: ${AWAY}`)
      onBack()
    }
  }

  /** Why the server is away; null: it is not. One probe of each server is in flight at most, until it is answered. */
  async #faultOf(server: number, probe: number): Promise<unknown> {
    const refusing = this.#refusing.get(server)
    if (refusing !== undefined && refusing.untilMs > performance.now()) return refusing.error
    this.#refusing.delete(server)
    let answer = this.#probes.get(server)
    if (answer === undefined) {
      const connection = await this.#options.db.connect()
      const answered = reachServer(connection, probe).then(
        () => null,
        (error) => error,
      )
      answer = Promise.race([answered, this.#stopped.promise]).finally(() => {
        connection.release(true)
        this.#probes.delete(server)
      })
      this.#probes.set(server, answer)
    }
    const fault = await Promise.race([answer, wait(REACH_MS, NO_ANSWER, { ref: false })])
    // That the coordinator was lost says nothing about a worker.
    if (fault !== null && fault !== NO_ANSWER && sqlState(fault) === undefined) throw fault
    return fault
  }
}
