import { SharedRoom, SharedSlots } from '../../collections/shared-room.ts'
import { type Endpoint, endpointKey } from '../../domain/webhooks/targets.ts'
import type { Destinations } from './destinations.ts'

/** Messages with events in memory; an event has about 1 KiB. Those of more messages stay in the database. */
const MAX_HELD = 20_000
/**
 * Endpoints for which parked events are remembered. A plan may have no more of them than are still free. Events of other endpoints are
 * fetched when they are due.
 */
const MAX_PARKED = 10_000
/**
 * Part of a plan's share for messages yet to be sent. Of an endpoint that is alone in its plan, each event counts twice against
 * the share (`#leftOfShare`), so half of the share is admitted. A quarter of that half is left free.
 */
const PLANNED_SHARE = (1 / 2) * (3 / 4)
/** An endpoint with fewer events in memory is given more of those parked for it, MAX_CLAIM at once. */
const REFILL_BELOW = 256
const MAX_CLAIM = 250
/** Endpoints served in one round. Each round begins where the last one ended. */
const ENDPOINTS_A_ROUND = 16

export interface EventMemoryOptions {
  readonly scheduler: {
    waitingInPlan(planId: number): number
    waiting(endpoint: Endpoint): number
  }
  readonly destinations: Pick<Destinations, 'inState' | 'stateOf'>
  /** Messages with events in memory. */
  readonly maxHeld?: number | undefined
}

/**
 * Decides which events may wait in memory. The node's room is shared by its plans, and a plan's room by its endpoints. One
 * plan has at most half of the node's room.
 */
export class EventMemory {
  readonly #options: EventMemoryOptions
  readonly room: SharedRoom
  /** Endpoints for which this node has parked events, because there was no room or the destination was in trouble. */
  readonly #parked = new Map<string, Endpoint>()
  /** By plan: one for each of these. */
  readonly #places = new SharedSlots(MAX_PARKED)
  #turn = 0

  constructor(options: EventMemoryOptions) {
    this.#options = options
    const { maxHeld = MAX_HELD } = options
    this.room = new SharedRoom(maxHeld, { mostOfOne: maxHeld / 2 })
  }

  /** Whether an event of the endpoint may wait in memory. */
  admits(endpoint: Endpoint): boolean {
    return this.#leftOfShare(endpoint) > 0
  }

  /** How many more events of a plan have room, and leave some, even if they all go to one destination. */
  roomFor(planId: number): number {
    return Math.floor(PLANNED_SHARE * this.room.share) - this.#options.scheduler.waitingInPlan(planId)
  }

  /**
   * An event of the endpoint is parked by now. It is fetched when there is room and the destination is in no trouble, even
   * if the row of that trouble was deleted before the event was parked.
   */
  parked({ planId, destination }: Endpoint): void {
    const endpoint = { planId, destination }
    const key = endpointKey(endpoint)
    if (this.#parked.has(key) || this.#places.take(planId)) this.#parked.set(key, endpoint)
  }

  /** Endpoints that have room for events parked for them, and for how many. Returns some endpoints at a time. */
  endpointsToRefill(): { endpoint: Endpoint; limit: number }[] {
    const { destinations, scheduler } = this.#options
    const candidates = new Map(
      destinations.inState('recovering').map((endpoint) => [endpointKey(endpoint), endpoint]),
    )
    for (const [key, endpoint] of this.#parked)
      if (destinations.stateOf(endpoint) === null) candidates.set(key, endpoint)
    // Each event that is fetched lessens what is left by up to three: for its endpoint, its plan and the node.
    const refilled = [...candidates.values()]
      .filter((endpoint) => scheduler.waiting(endpoint) < REFILL_BELOW)
      .map((endpoint) => ({
        endpoint,
        limit: Math.min(Math.floor(this.#leftOfShare(endpoint) / 3), MAX_CLAIM),
      }))
      .filter(({ limit }) => limit > 0)
    if (refilled.length <= ENDPOINTS_A_ROUND) return refilled
    this.#turn = (this.#turn + ENDPOINTS_A_ROUND) % refilled.length
    return [...refilled.slice(this.#turn), ...refilled.slice(0, this.#turn)].slice(0, ENDPOINTS_A_ROUND)
  }

  /** Every event parked for this endpoint when `endpointsToRefill` returned it has been fetched. Those parked since remain. */
  emptied(endpoint: Endpoint): void {
    const key = endpointKey(endpoint)
    if (this.#parked.get(key) !== endpoint) return
    this.#parked.delete(key)
    this.#places.release(endpoint.planId)
  }

  /** The share of an endpoint, less what its plan and it itself have. What the node has in all makes the share smaller. */
  #leftOfShare(endpoint: Endpoint): number {
    const { scheduler } = this.#options
    return this.room.share - scheduler.waitingInPlan(endpoint.planId) - scheduler.waiting(endpoint)
  }
}
