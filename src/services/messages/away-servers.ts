import { isSharded, reachServerOf, serversOfPlans } from '../../store/citus.ts'
import { outageOf, sqlState } from '../../store/database.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'

export interface AwayServersOptions extends Pick<NodeParts, 'db' | 'log'> {
  /** A server is back. */
  readonly onBack: () => void
}

const LOOK_MS = 500
const AWAY = 'a server with records is away'

/**
 * Where records are on several servers (store/citus.ts): those that are away. What is to be written there waits in memory and
 * in the journal, and everything else goes on. With one server there is nothing to look for, and no statement is sent.
 */
export class AwayServers {
  readonly #options: AwayServersOptions
  readonly #watch: PeriodicTask
  /** The server of each plan, as read in the last look. */
  #servers: ReadonlyMap<number, number> = new Map()
  #away: ReadonlySet<number> = new Set()
  #isStopped = false

  constructor(options: AwayServersOptions) {
    this.#options = options
    this.#watch = new PeriodicTask(options.log, 'servers of records not looked for', LOOK_MS, () =>
      this.#look(),
    )
  }

  /** The server with the records of this plan is away. */
  has(planId: number): boolean {
    if (this.#away.size === 0) return false
    const server = this.#servers.get(planId)
    return server !== undefined && this.#away.has(server)
  }

  /** The plans with records on servers that are away. */
  get plans(): number[] {
    return this.areAny ? [...this.#servers.keys()].filter((planId) => this.has(planId)) : []
  }

  /** Some server is away, as far as this process knows. */
  get areAny(): boolean {
    return this.#away.size > 0
  }

  /** Called when something failed: whether a server was just found to be away. Never rejects. */
  async findsMore(): Promise<boolean> {
    const before = this.#away
    return (await this.isAny()) && [...this.#away].some((server) => !before.has(server))
  }

  /** Called when records could not be written: whether a server is away, or was just found to be. Never rejects. */
  async isAny(): Promise<boolean> {
    if (!isSharded(this.#options.db)) return false
    await this.#look().catch(() => undefined)
    return this.#away.size > 0
  }

  async #look(): Promise<void> {
    const { db, log, onBack } = this.#options
    const servers = await serversOfPlans(db)
    const plans = new Map([...servers].map(([planId, server]) => [server, planId]))
    const away = new Set<number>()
    const reach = async (server: number, planId: number) => {
      try {
        await reachServerOf(db, planId)
      } catch (error) {
        // That this process has no free connection, or has lost the coordinator, says nothing about a worker.
        if (sqlState(error) === undefined && outageOf(error) !== 'unanswered') throw error
        away.add(server)
        if (!this.#away.has(server)) log.error({ err: error, server }, AWAY)
      }
    }
    await Promise.all([...plans].map(([server, planId]) => reach(server, planId)))
    const back = [...this.#away].filter((server) => !away.has(server))
    this.#servers = servers
    this.#away = away
    if (away.size === 0) void this.#watch.stop()
    else if (!this.#isStopped) this.#watch.start()
    if (back.length > 0) {
      log.info({ servers: back }, `no longer: ${AWAY}`)
      onBack()
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#watch.stop()
  }
}
