import { type Linked, LinkedList } from '../../collections/linked-list.ts'
import { SharedRoom } from '../../collections/shared-room.ts'
import { SlotMap } from '../../collections/slot-map.ts'
import type { Endpoint } from './targets.ts'

/** Most requests in flight: of one plan to one destination, to a destination, of a plan, of the node. */
export interface InFlightLimits {
  readonly perEndpoint: number
  readonly perDestination: number
  readonly perPlan: number
  readonly perNode: number
}

export const IN_FLIGHT_LIMITS: InFlightLimits = {
  perEndpoint: 128,
  perDestination: 256,
  perPlan: 256,
  perNode: 1_024,
}

/** A request that waits or is in flight. */
export interface Scheduled<Self> extends Endpoint, Linked<Self> {}

/** An entry waits in at most one `LevelQueue`; only the queue writes these fields. */
interface Queued<Self extends Queued<Self>> extends Linked<Self> {
  queue: LevelQueue<Self> | null
  level: number
}

const NOT_QUEUED = { queue: null, level: 0, next: null, previous: null } as const

/**
 * A queue with levels (small whole numbers, from 0): the lowest level goes first, and each level is first in, first out.
 * Each step is O(1); finding the lowest level is O(levels).
 */
class LevelQueue<Entry extends Queued<Entry>> {
  readonly #levels: LinkedList<Entry>[] = []
  /** No level below this one has entries. */
  #lowest = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  has(entry: Entry): boolean {
    return entry.queue === this
  }

  first(): Entry | null {
    if (this.#size === 0) return null
    while (this.#levels[this.#lowest]!.first === null) this.#lowest += 1
    return this.#levels[this.#lowest]!.first
  }

  /** Adds an entry behind those of its level. An entry that is in this or another queue leaves its place. */
  add(entry: Entry, level: number): void {
    entry.queue?.remove(entry)
    while (this.#levels.length <= level) this.#levels.push(new LinkedList())
    this.#levels[level]!.push(entry)
    entry.queue = this
    entry.level = level
    this.#size += 1
    this.#lowest = this.#size === 1 ? level : Math.min(this.#lowest, level)
  }

  /** Removes an entry of this queue. */
  remove(entry: Entry): void {
    this.#levels[entry.level]!.remove(entry)
    entry.queue = null
    this.#size -= 1
  }
}

/** A plan's requests for one destination. In its plan's `ready` queue, its destination's `blocked` queue, or in neither. */
interface Flow<Item extends Scheduled<Item>> extends Queued<Flow<Item>> {
  readonly plan: Plan<Item>
  readonly destination: Destination<Item>
  readonly items: LinkedList<Item>
  waiting: number
  inFlight: number
}

/** In the node's queue while it has ready flows and its own requests in flight leave it room. */
interface Plan<Item extends Scheduled<Item>> extends Queued<Plan<Item>> {
  readonly id: number
  readonly flows: SlotMap<string, Flow<Item>>
  /** Flows whose destination had room when it was last looked at. */
  readonly ready: LevelQueue<Flow<Item>>
  /** Shared by its flows. */
  readonly room: SharedRoom
  waiting: number
}

interface Destination<Item extends Scheduled<Item>> {
  readonly name: string
  /** Flows that found no room here. */
  readonly blocked: LevelQueue<Flow<Item>>
  /** Shared by its flows. */
  readonly room: SharedRoom
  flows: number
}

/**
 * Decides which waiting request may start next. The requests of an endpoint are a flow, first in, first out.
 *
 * Room for requests in flight is shared at each level (SharedRoom): by plans in the node, by flows in their destination
 * and in their plan.
 *
 * The plan with the fewest requests in flight goes first, then its flow with the fewest; among equals, the one that has
 * waited longest. So a flow is passed over only in favour of those that have fewer. Taking turns by starts would
 * eventually give the slow ones all the room. A plan or flow with nothing in flight starts after at most one start of
 * each other.
 *
 * Flows without room at their destination stand aside. A request that ends calls back one of them whose plan may start
 * then. Each step is O(1) however many stand aside. The price: if the plan is full before it gets to that flow, the one
 * place stays empty until the plan has room.
 */
export class DeliveryScheduler<Item extends Scheduled<Item>> {
  readonly #limits: InFlightLimits
  readonly #plans = new SlotMap<number, Plan<Item>>()
  readonly #destinations = new SlotMap<string, Destination<Item>>()
  readonly #ring = new LevelQueue<Plan<Item>>()
  readonly #room: SharedRoom

  constructor(limits: InFlightLimits = IN_FLIGHT_LIMITS) {
    this.#limits = limits
    this.#room = new SharedRoom(limits.perNode, { mostOfOne: limits.perPlan })
  }

  get inFlight(): number {
    return this.#room.taken
  }

  /** Requests of the endpoint that wait. */
  waiting(endpoint: Endpoint): number {
    return this.#known(endpoint)?.waiting ?? 0
  }

  waitingInPlan(planId: number): number {
    return this.#plans.get(planId)?.waiting ?? 0
  }

  /** Puts a request behind those of its endpoint. */
  add(item: Item): void {
    const flow = this.#flowOf(item)
    flow.items.push(item)
    this.#count(flow, 1)
    if (flow.waiting === 1) this.#makeReady(flow)
  }

  /** The next request that may start, which is in flight from now on; null when none may. */
  next(): Item | null {
    for (;;) {
      const plan = this.#ring.first()
      if (plan === null || plan.room.taken >= this.#room.share) return null
      const flow = plan.ready.first()
      if (flow === null || flow.inFlight >= plan.room.share) this.#ring.remove(plan)
      else if (flow.inFlight >= flow.destination.room.share) flow.destination.blocked.add(flow, flow.inFlight)
      else return this.#start(flow)
    }
  }

  /** A request that `next` returned has ended. @throws RangeError none is in flight there. */
  ended(endpoint: Endpoint): void {
    const flow = this.#known(endpoint)
    if (flow === undefined || flow.inFlight === 0)
      throw new RangeError('nothing of the endpoint is in flight')
    this.#countUnderWay(flow, -1)
    flow.queue?.add(flow, flow.inFlight)
    if (flow.plan.ready.size > 0) this.#ring.add(flow.plan, flow.plan.room.taken)
    this.#callBack(flow.destination)
    this.#dropIfIdle(flow)
  }

  /** Takes out and returns what waits for an endpoint, in order. */
  takeFrom(endpoint: Endpoint): Item[] {
    const flow = this.#known(endpoint)
    if (flow === undefined) return []
    const items = [...flow.items]
    for (const item of items) flow.items.remove(item)
    this.#count(flow, -items.length)
    const wasReady = flow.plan.ready.has(flow)
    flow.queue?.remove(flow)
    // It may have been the flow that was called back.
    if (wasReady) this.#callBack(flow.destination)
    this.#dropIfIdle(flow)
    return items
  }

  /** Takes out and returns everything that waits. */
  takeAll(): Item[] {
    const flows = [...this.#plans.values()].flatMap(({ flows }) => [...flows.values()])
    return flows.flatMap(({ plan, destination }) =>
      this.takeFrom({ planId: plan.id, destination: destination.name }),
    )
  }

  #start(flow: Flow<Item>): Item {
    const { items, plan } = flow
    const item = items.first as Item
    items.remove(item)
    this.#count(flow, -1)
    this.#countUnderWay(flow, 1)
    if (flow.waiting === 0) plan.ready.remove(flow)
    else plan.ready.add(flow, flow.inFlight)
    if (plan.ready.size === 0) this.#ring.remove(plan)
    else this.#ring.add(plan, plan.room.taken)
    return item
  }

  /** A place at the destination may be free: one flow that stood aside, and whose plan may start, looks again. */
  #callBack(destination: Destination<Item>): void {
    for (;;) {
      const flow = destination.blocked.first()
      if (flow === null || flow.inFlight >= destination.room.share) return
      this.#makeReady(flow)
      const { room } = flow.plan
      if (room.taken < this.#room.share && flow.inFlight < room.share) return
    }
  }

  #makeReady(flow: Flow<Item>): void {
    const { plan } = flow
    plan.ready.add(flow, flow.inFlight)
    if (!this.#ring.has(plan)) this.#ring.add(plan, plan.room.taken)
  }

  #count(flow: Flow<Item>, change: number): void {
    flow.waiting += change
    flow.plan.waiting += change
  }

  #countUnderWay(flow: Flow<Item>, change: number): void {
    flow.inFlight += change
    for (const room of [flow.plan.room, flow.destination.room, this.#room]) room.change(change)
  }

  #known({ planId, destination }: Endpoint): Flow<Item> | undefined {
    return this.#plans.get(planId)?.flows.get(destination)
  }

  #flowOf({ planId, destination: name }: Endpoint): Flow<Item> {
    const { perPlan, perDestination, perEndpoint } = this.#limits
    let plan = this.#plans.get(planId)
    if (plan === undefined) {
      const room = new SharedRoom(perPlan)
      plan = { id: planId, flows: new SlotMap(), ready: new LevelQueue(), room, waiting: 0, ...NOT_QUEUED }
      this.#plans.set(planId, plan)
    }
    const known = plan.flows.get(name)
    if (known !== undefined) return known
    const destination = this.#destinations.get(name) ?? {
      name,
      blocked: new LevelQueue(),
      room: new SharedRoom(perDestination, { mostOfOne: perEndpoint }),
      flows: 0,
    }
    this.#destinations.set(name, destination)
    destination.flows += 1
    const flow = { plan, destination, items: new LinkedList<Item>(), waiting: 0, inFlight: 0, ...NOT_QUEUED }
    plan.flows.set(name, flow)
    return flow
  }

  #dropIfIdle({ plan, destination, waiting, inFlight }: Flow<Item>): void {
    if (waiting > 0 || inFlight > 0) return
    plan.flows.delete(destination.name)
    if (plan.flows.size === 0) this.#plans.delete(plan.id)
    destination.flows -= 1
    if (destination.flows === 0) this.#destinations.delete(destination.name)
  }
}
