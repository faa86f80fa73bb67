import { assignBinds, type CarrierBind } from '../../domain/carriers/binds.ts'
import type { Directory } from '../../domain/configuration/directory.ts'
import { readBinds, releaseBind, takeBinds } from '../../store/carriers.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'
import { type NodeLease, SAFETY_MS } from '../node/node-lease.ts'
import type { CarrierLinks } from './carrier-links.ts'

export interface BindLeasesOptions extends Pick<NodeParts, 'db' | 'directory' | 'log'> {
  readonly lease: NodeLease
  readonly links: Pick<CarrierLinks<unknown>, 'adopt' | 'close' | 'whenUnbound'>
}

/** Sessions must be over this long before another node may open them. */
const SPARE_MS = 1_000
/** A change of nodes, lease or configuration triggers a look sooner. */
const INTERVAL_MS = 5_000
/** How often to look for binds that another node is about to release. */
const AWAITED_MS = 500

type Bind = Pick<CarrierBind, 'carrierId' | 'bind'>

/**
 * Decides which binds of the carriers are this node's. Carriers allow a fixed number of sessions, so each bind belongs to one
 * node at a time. It is taken when no living node has it, released when its sessions are over, and dropped with the lease.
 */
export class BindLeases {
  readonly #options: BindLeasesOptions
  #held: ReadonlySet<string> = new Set()
  /** Whether the last look has found this node with all binds that it should have. */
  #hasAll = false
  /** Binds that are about to be released, with sessions still closing. */
  readonly #leaving = new Map<string, Promise<void>>()
  readonly #task: PeriodicTask

  constructor(options: BindLeasesOptions) {
    this.#options = options
    this.#task = new PeriodicTask(options.log, 'binds not assigned', INTERVAL_MS, () => this.runOnce())
    options.lease.onChange(() => {
      if (!options.lease.alive || !this.#hasAll) this.refresh()
    })
    options.lease.onNodes(() => this.refresh())
  }

  /** Whether this node may have sessions of the bind. Each node has a simulator of its own for the sandbox. */
  readonly holds = (carrierId: number, bind: number): boolean => {
    if (this.#held.has(keyOf({ carrierId, bind }))) return true
    const { directory, lease } = this.#options
    return lease.alive && directory().isSandboxCarrier(carrierId)
  }

  /** Resolves after the first look. If that fails, the next heartbeat starts another. */
  async start(): Promise<void> {
    await this.#task.startNow()
  }

  /** The configuration has changed. */
  adopt(directory: Directory): void {
    this.#options.links.adopt(directory, this.holds)
    this.refresh()
  }

  /** The lease, or the configuration, has changed. */
  refresh(): void {
    if (!this.#options.lease.alive) this.#drop()
    this.#task.wake()
  }

  /**
   * Takes free binds that should be this node's, and releases those that should be another's. Returns when to look again, if
   * soon.
   */
  async runOnce(): Promise<number | undefined> {
    const { db, lease, directory, links } = this.#options
    const { nodeId } = lease
    this.#hasAll = false
    if (!lease.alive) return undefined
    // Taken before the read, because a bind that is released meanwhile still looks like this node's.
    const leaving = new Set(this.#leaving.keys())
    const { binds, nodes } = await readBinds(db)
    const living = new Set(nodes)
    const mine = new Set(
      assignBinds(binds, nodes).flatMap((share) => (share.nodeId === nodeId ? keyOf(share) : [])),
    )
    const isFree = (bind: CarrierBind) => bind.nodeId === null || !living.has(bind.nodeId)
    const free = binds.filter((bind) => mine.has(keyOf(bind)) && isFree(bind))
    const taken = free.length === 0 ? [] : await takeBinds(db, nodeId, free)
    // The lease was lost meanwhile, and perhaps begun anew. The rows are those of the former lease.
    if (!lease.alive || lease.nodeId !== nodeId) return undefined
    const present = binds.filter((bind) => bind.nodeId === nodeId && living.has(nodeId))
    const kept = present.filter((bind) => mine.has(keyOf(bind)) && !leaving.has(keyOf(bind)))
    this.#held = new Set([...kept, ...taken].map(keyOf))
    links.adopt(directory(), this.holds)
    for (const bind of present) if (!mine.has(keyOf(bind))) this.#leave(bind, nodeId)
    this.#hasAll = this.#held.size >= mine.size
    return this.#hasAll ? undefined : AWAITED_MS
  }

  /** Called once the links are stopped. Takes no more binds. */
  async stop(): Promise<void> {
    await this.#task.stop()
    // From now on the end of the lease changes nothing.
    this.#held = new Set()
    await Promise.all(this.#leaving.values())
  }

  /** Another node may soon have these binds. */
  #drop(): void {
    if (this.#held.size > 0)
      this.#options.log.info({ binds: this.#held.size }, 'the lease of this node has ended; unbinding')
    this.#held = new Set()
    this.#hasAll = false
    void this.#options.links.close(SAFETY_MS - SPARE_MS)
  }

  /** Requests in flight are answered first. Then the other node may bind. */
  #leave(bind: Bind, nodeId: number): void {
    const key = keyOf(bind)
    if (this.#leaving.has(key)) return
    const { db, links, log } = this.#options
    const left = links
      .whenUnbound(bind.carrierId, bind.bind)
      .then(() => releaseBind(db, nodeId, bind))
      .catch((error) => log.error({ err: error }, 'bind not released'))
      .finally(() => this.#leaving.delete(key))
    this.#leaving.set(key, left)
  }
}

function keyOf({ carrierId, bind }: Bind): string {
  return `${carrierId}/${bind}`
}
