import { SharedRoom, SharedSlots } from '../../collections/shared-room.ts'
import { type Endpoint, endpointKey } from '../../domain/webhooks/targets.ts'
import type { Destinations } from './destinations.ts'

/** About 1 KiB each. More events stay in the database. */
const MAX_HELD = 20_000
/**
 * Endpoints for which parked events are remembered, of a plan as many as are still free. Events of other endpoints are fetched when
 * they are due.
 */
const MAX_PARKED = 10_000
/** Part of a plan's share for messages yet to be sent. An endpoint that is alone in its plan admits half of the share. */
const PLANNED_SHARE = 3 / 8
/** An endpoint with fewer events in memory is given more of those parked for it, MAX_CLAIM at once. */
const LOW = 256
const MAX_CLAIM = 250
/** Endpoints served in one round. Each round begins where the last one ended. */
const ENDPOINTS_A_ROUND = 16

export interface EventMemoryOptions {
  readonly scheduler: {
    waitingInPlan(planId: number): number
    waiting(endpoint: Endpoint): number
  }
  readonly destinations: Pick<Destinations, 'inState' | 'stateOf'>
  /** Events in memory. */
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
    return this.#spare(endpoint) > 0
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
  hungry(): { endpoint: Endpoint; limit: number }[] {
    const { destinations, scheduler } = this.#options
    const wanting = new Map(
      destinations.inState('recovering').map((endpoint) => [endpointKey(endpoint), endpoint]),
    )
    for (const [key, endpoint] of this.#parked)
      if (destinations.stateOf(endpoint) === null) wanting.set(key, endpoint)
    const hungry = [...wanting.values()]
      .filter((endpoint) => scheduler.waiting(endpoint) < LOW)
      .map((endpoint) => ({ endpoint, limit: Math.min(Math.floor(this.#spare(endpoint) / 3), MAX_CLAIM) }))
      .filter(({ limit }) => limit > 0)
    if (hungry.length <= ENDPOINTS_A_ROUND) return hungry
    this.#turn = (this.#turn + ENDPOINTS_A_ROUND) % hungry.length
    return [...hungry.slice(this.#turn), ...hungry.slice(0, this.#turn)].slice(0, ENDPOINTS_A_ROUND)
  }

  /** Every event parked for this endpoint when `hungry` returned it has been fetched. Those parked since are still there. */
  emptied(endpoint: Endpoint): void {
    const key = endpointKey(endpoint)
    if (this.#parked.get(key) !== endpoint) return
    this.#parked.delete(key)
    this.#places.release(endpoint.planId)
  }

  /** What is left of the share of an endpoint. Each of its events counts three times: for endpoint, plan and node. */
  #spare(endpoint: Endpoint): number {
    const { scheduler } = this.#options
    return this.room.share - scheduler.waitingInPlan(endpoint.planId) - scheduler.waiting(endpoint)
  }
}
