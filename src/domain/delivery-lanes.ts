import { SlotMap } from '../slot-map.ts'
import { LevelQueue, NOT_QUEUED, type Queued } from './level-queue.ts'
import { SharedRoom } from './shared-room.ts'

/** Most requests in flight: of one plan to one destination, to a destination, of a plan, of the node. */
export interface LaneLimits {
  readonly perLane: number
  readonly perDestination: number
  readonly perPlan: number
  readonly perNode: number
}

export const LANE_LIMITS: LaneLimits = { perLane: 128, perDestination: 256, perPlan: 256, perNode: 1_024 }

interface Entry<Item> {
  readonly item: Item
  next: Entry<Item> | null
}

/** In its plan's `ready` queue; or in its destination's `blocked` queue; or, when nothing waits, in neither. */
interface Lane<Item> extends Queued<Lane<Item>> {
  readonly plan: Plan<Item>
  readonly destination: Destination<Item>
  first: Entry<Item> | null
  last: Entry<Item> | null
  waiting: number
  underWay: number
}

/** In the node's queue while it has ready lanes and its own requests in flight leave it room. */
interface Plan<Item> extends Queued<Plan<Item>> {
  readonly id: number
  readonly lanes: SlotMap<string, Lane<Item>>
  /** Lanes whose destination had room when it was last looked at. */
  readonly ready: LevelQueue<Lane<Item>>
  /** Shared by its lanes. */
  readonly room: SharedRoom
  waiting: number
}

interface Destination<Item> {
  readonly name: string
  /** Lanes that found no room here. */
  readonly blocked: LevelQueue<Lane<Item>>
  /** Shared by its lanes. */
  readonly room: SharedRoom
  lanes: number
}

/** An item that may start. */
export interface Start<Item> {
  readonly planId: number
  readonly destination: string
  readonly item: Item
}

/**
 * Decides which waiting item may start next. A lane is a plan's items for one destination, first in, first out.
 *
 * Room for requests in flight is shared at each level (SharedRoom): by plans in the node, by lanes in their destination
 * and in their plan.
 *
 * The plan with the fewest requests in flight goes first, then its lane with the fewest; among equals, the one that has
 * waited longest. So a lane is passed over only in favour of those that have fewer. Taking turns by starts would
 * eventually give the slow ones all the room. A plan or lane with nothing in flight starts after at most one start of
 * each other.
 *
 * Lanes without room at their destination stand aside. A request that ends calls back one of them whose plan may start
 * then. Each step is O(1) however many stand aside. The price: if the plan is full before it gets to that lane, the one
 * place stays empty until the plan has room.
 */
export class DeliveryLanes<Item> {
  readonly #limits: LaneLimits
  readonly #plans = new SlotMap<number, Plan<Item>>()
  readonly #destinations = new SlotMap<string, Destination<Item>>()
  readonly #ring = new LevelQueue<Plan<Item>>()
  readonly #room: SharedRoom
  #waiting = 0

  constructor(limits: LaneLimits = LANE_LIMITS) {
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

  /** Items of the lane that wait. */
  waiting(planId: number, destination: string): number {
    return this.#plans.get(planId)?.lanes.get(destination)?.waiting ?? 0
  }

  waitingInPlan(planId: number): number {
    return this.#plans.get(planId)?.waiting ?? 0
  }

  /** Puts an item behind those of its lane. `destination`: the origin of its URL. */
  add(planId: number, destination: string, item: Item): void {
    const lane = this.#laneOf(planId, destination)
    const entry: Entry<Item> = { item, next: null }
    if (lane.last === null) lane.first = entry
    else lane.last.next = entry
    lane.last = entry
    this.#count(lane, 1)
    if (lane.waiting === 1) this.#makeReady(lane)
  }

  /** The next item that may start, which is in flight from now on; null when none may. */
  next(): Start<Item> | null {
    for (;;) {
      const plan = this.#ring.first()
      if (plan === null || plan.room.taken >= this.#room.share) return null
      const lane = plan.ready.first()
      if (lane === null || lane.underWay >= plan.room.share) this.#ring.remove(plan)
      else if (lane.underWay >= lane.destination.room.share) lane.destination.blocked.add(lane, lane.underWay)
      else return this.#start(lane)
    }
  }

  /** An item that `next` returned has ended. @throws RangeError none is in flight there. */
  ended(planId: number, destination: string): void {
    const lane = this.#plans.get(planId)?.lanes.get(destination)
    if (lane === undefined || lane.underWay === 0) throw new RangeError('nothing of the lane is under way')
    this.#countUnderWay(lane, -1)
    lane.queue?.add(lane, lane.underWay)
    if (lane.plan.ready.size > 0) this.#ring.add(lane.plan, lane.plan.room.taken)
    this.#callBack(lane.destination)
    this.#dropIfIdle(lane)
  }

  /** Takes out and returns what waits in a lane, in order. */
  takeLane(planId: number, destination: string): Item[] {
    const lane = this.#plans.get(planId)?.lanes.get(destination)
    if (lane === undefined) return []
    const items: Item[] = []
    for (let entry = lane.first; entry !== null; entry = entry.next) items.push(entry.item)
    lane.first = null
    lane.last = null
    this.#count(lane, -items.length)
    const wasReady = lane.plan.ready.has(lane)
    lane.queue?.remove(lane)
    // It may have been the lane that was called back.
    if (wasReady) this.#callBack(lane.destination)
    this.#dropIfIdle(lane)
    return items
  }

  /** Takes out and returns everything that waits. */
  takeAll(): Item[] {
    const lanes = [...this.#plans.values()].flatMap((plan) => [...plan.lanes.values()])
    return lanes.flatMap((lane) => this.takeLane(lane.plan.id, lane.destination.name))
  }

  #start(lane: Lane<Item>): Start<Item> {
    const { plan, destination } = lane
    const entry = lane.first as Entry<Item>
    const { item, next } = entry
    lane.first = next
    // Once in the old generation of the garbage collector, a removed entry would keep every entry behind it alive.
    entry.next = null
    if (next === null) lane.last = null
    this.#count(lane, -1)
    this.#countUnderWay(lane, 1)
    if (next === null) plan.ready.remove(lane)
    else plan.ready.add(lane, lane.underWay)
    if (plan.ready.size === 0) this.#ring.remove(plan)
    else this.#ring.add(plan, plan.room.taken)
    return { planId: plan.id, destination: destination.name, item }
  }

  /** A place at the destination may be free: one lane that stood aside, and whose plan may start, looks again. */
  #callBack(destination: Destination<Item>): void {
    for (;;) {
      const lane = destination.blocked.first()
      if (lane === null || lane.underWay >= destination.room.share) return
      this.#makeReady(lane)
      const { room } = lane.plan
      if (room.taken < this.#room.share && lane.underWay < room.share) return
    }
  }

  #makeReady(lane: Lane<Item>): void {
    const { plan } = lane
    plan.ready.add(lane, lane.underWay)
    if (!this.#ring.has(plan)) this.#ring.add(plan, plan.room.taken)
  }

  #count(lane: Lane<Item>, change: number): void {
    lane.waiting += change
    lane.plan.waiting += change
    this.#waiting += change
  }

  #countUnderWay(lane: Lane<Item>, change: number): void {
    lane.underWay += change
    for (const room of [lane.plan.room, lane.destination.room, this.#room]) room.taken += change
  }

  #laneOf(planId: number, name: string): Lane<Item> {
    const { perPlan, perDestination, perLane } = this.#limits
    let plan = this.#plans.get(planId)
    if (plan === undefined) {
      const room = new SharedRoom(perPlan)
      plan = { id: planId, lanes: new SlotMap(), ready: new LevelQueue(), room, waiting: 0, ...NOT_QUEUED }
      this.#plans.set(planId, plan)
    }
    const known = plan.lanes.get(name)
    if (known !== undefined) return known
    const destination = this.#destinations.get(name) ?? {
      name,
      blocked: new LevelQueue(),
      room: new SharedRoom(perDestination, { mostOfOne: perLane }),
      lanes: 0,
    }
    this.#destinations.set(name, destination)
    destination.lanes += 1
    const lane = { plan, destination, first: null, last: null, waiting: 0, underWay: 0, ...NOT_QUEUED }
    plan.lanes.set(name, lane)
    return lane
  }

  #dropIfIdle({ plan, destination, waiting, underWay }: Lane<Item>): void {
    if (waiting > 0 || underWay > 0) return
    plan.lanes.delete(destination.name)
    if (plan.lanes.size === 0) this.#plans.delete(plan.id)
    destination.lanes -= 1
    if (destination.lanes === 0) this.#destinations.delete(destination.name)
  }
}
