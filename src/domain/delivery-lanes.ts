import { LevelQueue, NOT_QUEUED, type Queued } from './level-queue.ts'

/** Requests under way at most: of one plan to one destination, to a destination, of a plan, of the node. */
export interface LaneLimits {
  readonly perLane: number
  readonly perDestination: number
  readonly perPlan: number
  readonly perNode: number
}

export const LANE_LIMITS: LaneLimits = { perLane: 64, perDestination: 256, perPlan: 256, perNode: 1_024 }

interface Entry<Item> {
  readonly item: Item
  next: Entry<Item> | null
}

/** In its plan's `ready` queue; or in its destination's `blocked` queue; or, with nothing waiting, in none. */
interface Lane<Item> extends Queued<Lane<Item>> {
  readonly plan: Plan<Item>
  readonly destination: Destination<Item>
  first: Entry<Item> | null
  last: Entry<Item> | null
  waiting: number
  underWay: number
}

/** In the node's queue while it has ready lanes that its own requests under way do not hold up. */
interface Plan<Item> extends Queued<Plan<Item>> {
  readonly id: number
  readonly lanes: Map<string, Lane<Item>>
  /** Lanes that may start as far as their destination goes, when last looked at. */
  readonly ready: LevelQueue<Lane<Item>>
  waiting: number
  underWay: number
}

interface Destination<Item> {
  readonly name: string
  /** Lanes that were found without room here. */
  readonly blocked: LevelQueue<Lane<Item>>
  lanes: number
  underWay: number
}

/** What may start. */
export interface Start<Item> {
  readonly planId: number
  readonly destination: string
  readonly item: Item
}

/**
 * Which waiting item may start next, by lanes: a plan's items for one destination, first in, first out.
 *
 * At each level one may have under way at most what is then left free (a dynamic threshold: Choudhury and Hahne 1998):
 * a plan in the node, a lane in its destination and in its plan. So n that hang leave the next one as much as each of
 * them has: nobody takes the last room.
 *
 * The plan with the fewest under way goes first, then its lane with the fewest; among equals the one that has waited
 * longest. So one is passed over only by those who have less: turns by starts would give the slow ones all the room in
 * the end. One with nothing under way starts after at most one start of each other.
 *
 * Lanes without room at their destination stand aside, and a request that ends calls one of them back, whose plan may
 * start then. Steps are O(1) however many stand aside. The price: should the plan be full before it comes to it, that
 * one place stays empty until the plan has room.
 */
export class DeliveryLanes<Item> {
  readonly #limits: LaneLimits
  readonly #plans = new Map<number, Plan<Item>>()
  readonly #destinations = new Map<string, Destination<Item>>()
  readonly #ring = new LevelQueue<Plan<Item>>()
  #waiting = 0
  #underWay = 0

  constructor(limits: LaneLimits = LANE_LIMITS) {
    this.#limits = limits
  }

  /** Items that wait. */
  get size(): number {
    return this.#waiting
  }

  get underWay(): number {
    return this.#underWay
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

  /** The next item that may start, from now on under way; null when none may. */
  next(): Start<Item> | null {
    for (;;) {
      const plan = this.#ring.first()
      if (plan === null || plan.underWay >= this.#roomOfPlan()) return null
      const lane = plan.ready.first()
      if (lane === null || lane.underWay >= this.#limits.perPlan - plan.underWay) this.#ring.remove(plan)
      else if (lane.underWay >= this.#roomAt(lane.destination))
        lane.destination.blocked.add(lane, lane.underWay)
      else return this.#start(lane)
    }
  }

  /** An item that `next` gave has ended. @throws RangeError none is under way there. */
  ended(planId: number, destination: string): void {
    const lane = this.#plans.get(planId)?.lanes.get(destination)
    if (lane === undefined || lane.underWay === 0) throw new RangeError('nothing of the lane is under way')
    this.#countUnderWay(lane, -1)
    lane.queue?.add(lane, lane.underWay)
    if (lane.plan.ready.size > 0) this.#ring.add(lane.plan, lane.plan.underWay)
    this.#callBack(lane.destination)
    this.#dropIfIdle(lane)
  }

  /** Takes out what waits in a lane, in order. */
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
    // It may have been the one that was called back.
    if (wasReady) this.#callBack(lane.destination)
    this.#dropIfIdle(lane)
    return items
  }

  /** Takes out everything that waits. */
  takeAll(): Item[] {
    const lanes = [...this.#plans.values()].flatMap((plan) => [...plan.lanes.values()])
    return lanes.flatMap((lane) => this.takeLane(lane.plan.id, lane.destination.name))
  }

  #start(lane: Lane<Item>): Start<Item> {
    const { plan, destination } = lane
    const { item, next } = lane.first as Entry<Item>
    lane.first = next
    if (next === null) lane.last = null
    this.#count(lane, -1)
    this.#countUnderWay(lane, 1)
    if (next === null) plan.ready.remove(lane)
    else plan.ready.add(lane, lane.underWay)
    if (plan.ready.size === 0) this.#ring.remove(plan)
    else this.#ring.add(plan, plan.underWay)
    return { planId: plan.id, destination: destination.name, item }
  }

  /** A place at the destination may be free: one lane that stood aside, and whose plan may start, is to look again. */
  #callBack(destination: Destination<Item>): void {
    for (;;) {
      const lane = destination.blocked.first()
      if (lane === null || lane.underWay >= this.#roomAt(destination)) return
      this.#makeReady(lane)
      const { underWay } = lane.plan
      if (underWay < this.#roomOfPlan() && lane.underWay < this.#limits.perPlan - underWay) return
    }
  }

  #makeReady(lane: Lane<Item>): void {
    const { plan } = lane
    plan.ready.add(lane, lane.underWay)
    if (!this.#ring.has(plan)) this.#ring.add(plan, plan.underWay)
  }

  /** What any plan may have under way now. */
  #roomOfPlan(): number {
    return Math.min(this.#limits.perPlan, this.#limits.perNode - this.#underWay)
  }

  /** What any lane of the destination may have under way now. */
  #roomAt(destination: Destination<Item>): number {
    return Math.min(this.#limits.perLane, this.#limits.perDestination - destination.underWay)
  }

  #count(lane: Lane<Item>, change: number): void {
    lane.waiting += change
    lane.plan.waiting += change
    this.#waiting += change
  }

  #countUnderWay(lane: Lane<Item>, change: number): void {
    lane.underWay += change
    lane.plan.underWay += change
    lane.destination.underWay += change
    this.#underWay += change
  }

  #laneOf(planId: number, name: string): Lane<Item> {
    let plan = this.#plans.get(planId)
    if (plan === undefined) {
      plan = { id: planId, lanes: new Map(), ready: new LevelQueue(), waiting: 0, underWay: 0, ...NOT_QUEUED }
      this.#plans.set(planId, plan)
    }
    const known = plan.lanes.get(name)
    if (known !== undefined) return known
    const destination = this.#destinations.get(name) ?? {
      name,
      blocked: new LevelQueue(),
      lanes: 0,
      underWay: 0,
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
