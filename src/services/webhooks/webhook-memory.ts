import type { DeliveryLanes } from '../../domain/delivery-lanes.ts'
import { type Lane, laneKey } from '../../domain/lanes.ts'
import { SharedRoom } from '../../domain/shared-room.ts'
import type { WebhookDestinations } from './webhook-destinations.ts'

/** About 1 KiB each. More events stay in the database. */
const MAX_HELD = 20_000
/** Lanes remembered as crowded. Events of other lanes are fetched when they are due. */
const MAX_CROWDED = 10_000
/** Part of a plan's share for messages yet to be sent. A lane that is alone in its plan admits half of the share. */
const PLANNED_SHARE = 3 / 8
/** A lane with fewer events in memory is given more of those parked for it, LANE_CLAIM at once. */
const LOW_LANE = 256
const LANE_CLAIM = 250
/** Lanes served in one round. Each round begins where the last one ended. */
const LANES_A_ROUND = 16

export interface WebhookMemoryOptions {
  readonly lanes: DeliveryLanes<unknown>
  readonly destinations: Pick<WebhookDestinations, 'inState' | 'stateOf'>
  /** Events in memory. */
  readonly held: () => number
  readonly maxHeld?: number | undefined
}

/**
 * Decides which events may wait in memory. The node's room is shared by its plans, and a plan's room by its lanes. One plan
 * has at most half of the node's room.
 */
export class WebhookMemory {
  readonly #options: WebhookMemoryOptions
  readonly #room: SharedRoom
  /** Lanes with an event that found no room. */
  readonly #crowded = new Map<string, Lane>()
  #turn = 0

  constructor(options: WebhookMemoryOptions) {
    this.#options = options
    const { maxHeld = MAX_HELD } = options
    this.#room = new SharedRoom(maxHeld, { mostOfOne: maxHeld / 2 })
  }

  get room(): SharedRoom {
    this.#room.taken = this.#options.held()
    return this.#room
  }

  /** Whether an event of the lane may wait in memory. */
  admits(lane: Lane): boolean {
    return this.#spare(lane) > 0
  }

  /** How many more events of a plan have room, and leave some, even if they all go to one destination. */
  roomFor(planId: number): number {
    return Math.floor(PLANNED_SHARE * this.room.share) - this.#options.lanes.waitingInPlan(planId)
  }

  /** An event of the lane found no room and is parked by now. It is fetched when there is room again. */
  parked(lane: Lane): void {
    const key = laneKey(lane)
    if (this.#crowded.has(key) || this.#crowded.size < MAX_CROWDED) this.#crowded.set(key, { ...lane })
  }

  /** Lanes that have room for events parked for them, and for how many. Returns some lanes at a time. */
  hungry(): { lane: Lane; limit: number }[] {
    const { destinations, lanes } = this.#options
    const wanting = new Map(destinations.inState('recovering').map((lane) => [laneKey(lane), lane]))
    for (const [key, lane] of this.#crowded) if (destinations.stateOf(lane) === null) wanting.set(key, lane)
    const hungry = [...wanting.values()]
      .filter(({ planId, destination }) => lanes.waiting(planId, destination) < LOW_LANE)
      .map((lane) => ({ lane, limit: Math.min(Math.floor(this.#spare(lane) / 3), LANE_CLAIM) }))
      .filter(({ limit }) => limit > 0)
    if (hungry.length <= LANES_A_ROUND) return hungry
    this.#turn = (this.#turn + LANES_A_ROUND) % hungry.length
    return [...hungry.slice(this.#turn), ...hungry.slice(0, this.#turn)].slice(0, LANES_A_ROUND)
  }

  /** Every event parked for this lane when `hungry` returned it has been fetched. Those parked since are still there. */
  emptied(lane: Lane): void {
    const key = laneKey(lane)
    if (this.#crowded.get(key) === lane) this.#crowded.delete(key)
  }

  /** What is left of the lane's share. Each event of the lane lowers this by three: by one each for lane, plan and node. */
  #spare({ planId, destination }: Lane): number {
    const { lanes } = this.#options
    return this.room.share - lanes.waitingInPlan(planId) - lanes.waiting(planId, destination)
  }
}
