import {
  bestConditions,
  isAsGood,
  type LinkCondition,
  type LinkConditions,
} from '../../domain/routing/routing.ts'
import { publishConditions, readOtherNodes } from '../../store/nodes.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'
import { type NodeLease, SAFETY_MS } from '../node/node-lease.ts'

/** This node's own sessions. */
export interface OwnSessions {
  /** What they can do now. */
  linkCondition(carrierId: number): LinkCondition
  /** Other nodes have handed over messages for carriers of this node. */
  takeHanded(): void
}

export interface CarrierConditionsOptions extends Pick<NodeParts, 'db' | 'directory' | 'log'> {
  readonly lease: Pick<NodeLease, 'nodeId' | 'alive' | 'isAlone'>
}

/** A handed message waits at most this long until its node looks, and a carrier's change until other nodes know it. */
const POLL_MS = 50
/** Pause while this node is alone. It then only checks whether its own conditions have changed, and reads nothing. */
const ALONE_MS = 200
/** How often a message may go to a silent carrier of another node, to find out whether it answers again. */
const TRIAL_EVERY_MS = 10_000

/**
 * What each carrier can do on any living node. A node publishes what its own sessions can do whenever that changes, and reads
 * what the others have published, unless it is alone. Another node counts as long as it may send, as NodeLease.alive judges
 * it.
 */
export class CarrierConditions {
  readonly #options: CarrierConditionsOptions
  readonly #triedAtMs = new Map<number, number>()
  #others: LinkConditions = new Map()
  /** What was published last, and under which node id. */
  #published = ''
  readonly #task: PeriodicTask
  #own: OwnSessions | null = null
  #stopped = false

  constructor(options: CarrierConditionsOptions) {
    this.#options = options
    const intervalMs = () => (this.isAlone ? ALONE_MS : POLL_MS)
    this.#task = new PeriodicTask(options.log, 'carrier conditions not exchanged', intervalMs, () =>
      this.runOnce(),
    )
  }

  /** Sets this node's sessions. Before this call it has none. */
  setSource(own: OwnSessions): void {
    this.#own = own
  }

  get isAlone(): boolean {
    return this.#options.lease.isAlone
  }

  /** What the carrier can do on any living node. */
  of(carrierId: number): LinkCondition {
    const [here, others] = [this.#here(carrierId), this.#others.get(carrierId) ?? 'unbound']
    return isAsGood(here, others) ? here : others
  }

  /** Whether this node can submit to the carrier, and no other node can do better. */
  isHere(carrierId: number): boolean {
    const here = this.#here(carrierId)
    return here !== 'unbound' && isAsGood(here, this.#others.get(carrierId) ?? 'unbound')
  }

  /** Whether a message may be handed to a silent carrier of another node, as a trial. */
  isTrialDue(carrierId: number): boolean {
    const triedAtMs = this.#triedAtMs.get(carrierId) ?? Number.NEGATIVE_INFINITY
    return performance.now() - triedAtMs >= TRIAL_EVERY_MS
  }

  /** A message was handed to a silent carrier. */
  tried(carrierId: number): void {
    this.#triedAtMs.set(carrierId, performance.now())
  }

  /** Carriers that this node submits to, and those that it leaves to others. */
  carriersByNode(): { here: number[]; elsewhere: number[] } {
    const ids = this.#options.directory().contents.carriers.map(({ id }) => id)
    const bound = ids.filter((id) => this.of(id) !== 'unbound')
    return {
      here: bound.filter((id) => this.isHere(id)),
      elsewhere: bound.filter((id) => !this.isHere(id)),
    }
  }

  /** Resolves after the first exchange, even if that failed: it is repeated. */
  async start(): Promise<void> {
    await this.#task.startNow()
  }

  async runOnce(): Promise<void> {
    const { db, lease } = this.#options
    await this.#publish()
    if (lease.isAlone || this.#stopped) {
      this.#others = new Map()
      return
    }
    const { here } = this.carriersByNode()
    const found = await readOtherNodes(db, { nodeId: lease.nodeId, leftMs: SAFETY_MS, carriers: here })
    this.#others = bestConditions(found.others)
    if (found.handed) this.#own?.takeHanded()
  }

  /** Tells the other nodes to hand nothing to this node any more. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#task.stop()
    if (this.#published !== '') await this.#publish()
  }

  #here(carrierId: number): LinkCondition {
    return this.#stopped || this.#own === null ? 'unbound' : this.#own.linkCondition(carrierId)
  }

  async #publish(): Promise<void> {
    const { db, lease, directory } = this.#options
    const { nodeId } = lease
    const conditions = directory()
      .contents.carriers.map(({ id }) => [id, this.#here(id)] as const)
      .filter(([, condition]) => condition !== 'unbound')
    const text = JSON.stringify(Object.fromEntries(conditions))
    if (`${nodeId} ${text}` === this.#published) return
    await publishConditions(db, nodeId, text)
    this.#published = `${nodeId} ${text}`
  }
}
