import { SlotMap } from '../slot-map.ts'
import { LevelQueue, NOT_QUEUED, type Queued } from './level-queue.ts'
import { SharedRoom } from './shared-room.ts'

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

interface Entry<Item> {
  readonly item: Item
  next: Entry<Item> | null
}

/** In its plan's `ready` queue; or in its destination's `blocked` queue; or, when nothing waits, in neither. */
interface Endpoint<Item> extends Queued<Endpoint<Item>> {
  readonly plan: Plan<Item>
  readonly destination: Destination<Item>
  first: Entry<Item> | null
  last: Entry<Item> | null
  waiting: number
  underWay: number
}

/** In the node's queue while it has ready endpoints and its own requests in flight leave it room. */
interface Plan<Item> extends Queued<Plan<Item>> {
  readonly id: number
  readonly endpoints: SlotMap<string, Endpoint<Item>>
  /** Endpoints whose destination had room when it was last looked at. */
  readonly ready: LevelQueue<Endpoint<Item>>
  /** Shared by its endpoints. */
  readonly room: SharedRoom
  waiting: number
}

interface Destination<Item> {
  readonly name: string
  /** Endpoints that found no room here. */
  readonly blocked: LevelQueue<Endpoint<Item>>
  /** Shared by its endpoints. */
  readonly room: SharedRoom
  endpoints: number
}

/** An item that may start. */
export interface Start<Item> {
  readonly planId: number
  readonly destination: string
  readonly item: Item
}

/**
 * Decides which waiting item may start next. An endpoint is a plan's items for one destination, first in, first out.
 *
 * Room for requests in flight is shared at each level (SharedRoom): by plans in the node, by endpoints in their destination
 * and in their plan.
 *
 * The plan with the fewest requests in flight goes first, then its endpoint with the fewest; among equals, the one that has
 * waited longest. So an endpoint is passed over only in favour of those that have fewer. Taking turns by starts would
 * eventually give the slow ones all the room. A plan or endpoint with nothing in flight starts after at most one start of
 * each other.
 *
 * Endpoints without room at their destination stand aside. A request that ends calls back one of them whose plan may start
 * then. Each step is O(1) however many stand aside. The price: if the plan is full before it gets to that endpoint, the one
 * place stays empty until the plan has room.
 */
export class DeliveryScheduler<Item> {
  readonly #limits: InFlightLimits
  readonly #plans = new SlotMap<number, Plan<Item>>()
  readonly #destinations = new SlotMap<string, Destination<Item>>()
  readonly #ring = new LevelQueue<Plan<Item>>()
  readonly #room: SharedRoom
  #waiting = 0

  constructor(limits: InFlightLimits = IN_FLIGHT_LIMITS) {
    this.#limits = limits
    this.#room = new SharedRoom(limits.perNode, { mostOfOne: limits.perPlan })
  }

  /** Items that wait. */
  get size(): number {
    return this.#waiting
  }

  get underWay(): number {
    return this.#room.taken
  }

  /** Items of the endpoint that wait. */
  waiting(planId: number, destination: string): number {
    return this.#plans.get(planId)?.endpoints.get(destination)?.waiting ?? 0
  }

  waitingInPlan(planId: number): number {
    return this.#plans.get(planId)?.waiting ?? 0
  }

  /** Puts an item behind those of its endpoint. `destination`: the origin of its URL. */
  add(planId: number, destination: string, item: Item): void {
    const endpoint = this.#endpointOf(planId, destination)
    const entry: Entry<Item> = { item, next: null }
    if (endpoint.last === null) endpoint.first = entry
    else endpoint.last.next = entry
    endpoint.last = entry
    this.#count(endpoint, 1)
    if (endpoint.waiting === 1) this.#makeReady(endpoint)
  }

  /** The next item that may start, which is in flight from now on; null when none may. */
  next(): Start<Item> | null {
    for (;;) {
      const plan = this.#ring.first()
      if (plan === null || plan.room.taken >= this.#room.share) return null
      const endpoint = plan.ready.first()
      if (endpoint === null || endpoint.underWay >= plan.room.share) this.#ring.remove(plan)
      else if (endpoint.underWay >= endpoint.destination.room.share)
        endpoint.destination.blocked.add(endpoint, endpoint.underWay)
      else return this.#start(endpoint)
    }
  }

  /** An item that `next` returned has ended. @throws RangeError none is in flight there. */
  ended(planId: number, destination: string): void {
    const endpoint = this.#plans.get(planId)?.endpoints.get(destination)
    if (endpoint === undefined || endpoint.underWay === 0)
      throw new RangeError('nothing of the endpoint is under way')
    this.#countUnderWay(endpoint, -1)
    endpoint.queue?.add(endpoint, endpoint.underWay)
    if (endpoint.plan.ready.size > 0) this.#ring.add(endpoint.plan, endpoint.plan.room.taken)
    this.#callBack(endpoint.destination)
    this.#dropIfIdle(endpoint)
  }

  /** Takes out and returns what waits in an endpoint, in order. */
  takeFrom(planId: number, destination: string): Item[] {
    const endpoint = this.#plans.get(planId)?.endpoints.get(destination)
    if (endpoint === undefined) return []
    const items: Item[] = []
    for (let entry = endpoint.first; entry !== null; entry = entry.next) items.push(entry.item)
    endpoint.first = null
    endpoint.last = null
    this.#count(endpoint, -items.length)
    const wasReady = endpoint.plan.ready.has(endpoint)
    endpoint.queue?.remove(endpoint)
    // It may have been the endpoint that was called back.
    if (wasReady) this.#callBack(endpoint.destination)
    this.#dropIfIdle(endpoint)
    return items
  }

  /** Takes out and returns everything that waits. */
  takeAll(): Item[] {
    const endpoints = [...this.#plans.values()].flatMap((plan) => [...plan.endpoints.values()])
    return endpoints.flatMap((endpoint) => this.takeFrom(endpoint.plan.id, endpoint.destination.name))
  }

  #start(endpoint: Endpoint<Item>): Start<Item> {
    const { plan, destination } = endpoint
    const entry = endpoint.first as Entry<Item>
    const { item, next } = entry
    endpoint.first = next
    // Once in the old generation of the garbage collector, a removed entry would keep every entry behind it alive.
    entry.next = null
    if (next === null) endpoint.last = null
    this.#count(endpoint, -1)
    this.#countUnderWay(endpoint, 1)
    if (next === null) plan.ready.remove(endpoint)
    else plan.ready.add(endpoint, endpoint.underWay)
    if (plan.ready.size === 0) this.#ring.remove(plan)
    else this.#ring.add(plan, plan.room.taken)
    return { planId: plan.id, destination: destination.name, item }
  }

  /** A place at the destination may be free: one endpoint that stood aside, and whose plan may start, looks again. */
  #callBack(destination: Destination<Item>): void {
    for (;;) {
      const endpoint = destination.blocked.first()
      if (endpoint === null || endpoint.underWay >= destination.room.share) return
      this.#makeReady(endpoint)
      const { room } = endpoint.plan
      if (room.taken < this.#room.share && endpoint.underWay < room.share) return
    }
  }

  #makeReady(endpoint: Endpoint<Item>): void {
    const { plan } = endpoint
    plan.ready.add(endpoint, endpoint.underWay)
    if (!this.#ring.has(plan)) this.#ring.add(plan, plan.room.taken)
  }

  #count(endpoint: Endpoint<Item>, change: number): void {
    endpoint.waiting += change
    endpoint.plan.waiting += change
    this.#waiting += change
  }

  #countUnderWay(endpoint: Endpoint<Item>, change: number): void {
    endpoint.underWay += change
    for (const room of [endpoint.plan.room, endpoint.destination.room, this.#room]) room.taken += change
  }

  #endpointOf(planId: number, name: string): Endpoint<Item> {
    const { perPlan, perDestination, perEndpoint } = this.#limits
    let plan = this.#plans.get(planId)
    if (plan === undefined) {
      const room = new SharedRoom(perPlan)
      plan = {
        id: planId,
        endpoints: new SlotMap(),
        ready: new LevelQueue(),
        room,
        waiting: 0,
        ...NOT_QUEUED,
      }
      this.#plans.set(planId, plan)
    }
    const known = plan.endpoints.get(name)
    if (known !== undefined) return known
    const destination = this.#destinations.get(name) ?? {
      name,
      blocked: new LevelQueue(),
      room: new SharedRoom(perDestination, { mostOfOne: perEndpoint }),
      endpoints: 0,
    }
    this.#destinations.set(name, destination)
    destination.endpoints += 1
    const endpoint = { plan, destination, first: null, last: null, waiting: 0, underWay: 0, ...NOT_QUEUED }
    plan.endpoints.set(name, endpoint)
    return endpoint
  }

  #dropIfIdle({ plan, destination, waiting, underWay }: Endpoint<Item>): void {
    if (waiting > 0 || underWay > 0) return
    plan.endpoints.delete(destination.name)
    if (plan.endpoints.size === 0) this.#plans.delete(plan.id)
    destination.endpoints -= 1
    if (destination.endpoints === 0) this.#destinations.delete(destination.name)
  }
}
