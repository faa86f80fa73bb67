import type { EventHolder, WriteEvents } from '../../domain/events.ts'
import type { Endpoint } from '../../domain/webhooks/targets.ts'
import { isAway } from '../../store/citus.ts'
import {
  findWaitingEvents,
  type Taker,
  takeDueEvents,
  takeParkedEvents,
  takeProbes,
} from '../../store/due-deliveries.ts'
import type { WebhookEvent } from '../../store/event-deliveries.ts'
import { DueLoader } from '../loops/due-loader.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import type { MessagesInProgress } from '../messages/messages-in-progress.ts'
import type { NodeLease } from '../node/node-lease.ts'
import type { Destinations } from './destinations.ts'
import type { EventMemory } from './event-memory.ts'
import { HeldRows } from './held-rows.ts'
import type { OutcomeWriter } from './outcome-writer.ts'

export interface DueEventsOptions extends Pick<NodeParts, 'db' | 'log'> {
  readonly lease: Pick<NodeLease, 'nodeId' | 'buckets' | 'isAlone'>
  readonly inProgress: Pick<MessagesInProgress, 'away'>
  readonly destinations: Pick<Destinations, 'count' | 'probeMs'>
  readonly memory: EventMemory
  readonly outcomes: Pick<OutcomeWriter, 'failing' | 'requeue'>
  readonly isInMemory: (msgId: string, sequence: number) => boolean
  /** Called before each look. Parks the events in memory whose destination is in trouble. */
  readonly parkTroubled: () => void
  /** `probed`: the endpoint that these events are to probe. */
  readonly enqueue: (events: readonly WebhookEvent[], probed?: Endpoint) => void
}

const POLL_MS = 250
/** Poll interval while an endpoint has more events. Many small takes hold up other events less than a few large ones. */
const EAGER_POLL_MS = 20
/** Events taken from the database at once. */
const MAX_TAKEN = 1_000
const MAX_PROBES = 100

/** Takes events from the database into memory: due ones, those whose destination has room again, and probes. */
export class DueEvents extends DueLoader {
  readonly #options: DueEventsOptions
  readonly #rows: HeldRows

  constructor(options: DueEventsOptions) {
    const { inProgress, lease, log, memory, outcomes } = options
    const isFailing = () => outcomes.failing
    const failure = 'due webhook events not read'
    const mayTake = () => lease.buckets.length > 0
    // If one of several database servers (Citus) is down, the next look leaves its plans out.
    const onFailed = () => inProgress.away.probeFindsNew()
    const isAlone = () => lease.isAlone
    super({ mayTake, isAlone, log, pollMs: POLL_MS, isFailing, room: memory.room, failure, onFailed })
    this.#options = options
    this.#rows = new HeldRows({
      ...options,
      holder: () => this.holder(),
      nodeId: () => lease.nodeId,
      requeue: (events) => outcomes.requeue(events),
    })
  }

  /** Whether events announced now are delivered from memory by this node, or found in the database later. */
  holder(): EventHolder {
    const { lease, memory } = this.#options
    const holds = this.isOpen && memory.room.free > 0
    return { nodeId: holds ? lease.nodeId : null, buckets: lease.buckets }
  }

  readonly write: WriteEvents = (write) => this.#rows.write(write)

  protected async look(): Promise<number | 'nothing queued' | undefined> {
    const { db, destinations, enqueue, memory, parkTroubled } = this.#options
    await this.#rows.reconcile()
    parkTroubled()
    if (!this.isOpen) return undefined
    const { isDue, isWaiting } = await findWaitingEvents(db)
    if (isDue) await this.#takeSome(MAX_TAKEN, (taker) => takeDueEvents(db, taker), enqueue)
    if (destinations.count('open') > 0)
      await this.#takeSome(
        MAX_PROBES,
        (taker) => takeProbes(db, taker, destinations.probeMs),
        (probes) => {
          for (const { probe, destination } of probes) enqueue([probe], { planId: probe.planId, destination })
        },
      )
    let isMore = false
    for (const { endpoint, limit } of memory.endpointsToRefill()) {
      if (isAway(db, endpoint.planId)) continue
      const isMoreThere = await this.#takeSome(
        limit,
        (taker) => takeParkedEvents(db, taker, endpoint),
        enqueue,
      )
      if (!isMoreThere) memory.emptied(endpoint)
      isMore ||= isMoreThere
    }
    if (isMore) return EAGER_POLL_MS
    return isWaiting || memory.room.taken > 0 || destinations.count('open') > 0 ? undefined : 'nothing queued'
  }

  /** Returns whether there may be more. Half of the free room is left for events announced meanwhile. */
  async #takeSome<Item>(
    most: number,
    read: (taker: Taker) => Promise<readonly Item[]>,
    into: (items: readonly Item[]) => void,
  ): Promise<boolean> {
    const { lease, memory } = this.#options
    const { buckets, nodeId } = lease
    const limit = Math.min(Math.floor(memory.room.free / 2), most)
    if (limit < 1) return true
    const statement = () => this.#rows.take(() => read({ nodeId, buckets, limit }))
    return (await this.take(limit, statement, into)) === limit
  }
}
