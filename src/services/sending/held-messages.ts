import type { HeldCause, HeldGroup } from '../../domain/backlog.ts'
import type { Dispatch } from '../../domain/dispatches.ts'
import { type SharedRoom, SharedSlots } from '../../domain/shared-room.ts'
import { SlotMap } from '../../slot-map.ts'
import { bytesOf } from '../messages/lives.ts'
import type { SubmitJob } from './submit-job.ts'

/** Messages of one segment in memory; those beyond stay in the database, in the order they became due. */
const MAX_HELD = 10_000
/** A place is for a message of one segment. A longer one takes several, so that all take 62 MiB. */
const PLACE_BYTES = 6_500
/** Of the longest text: 1,600 Chinese characters. */
export const MOST_PLACES = 7

/** A message in memory. */
interface Held {
  flow: number
  readonly places: number
  job: SubmitJob | null
  /** The journal knows, or is being told, that it is on its way to a carrier. */
  isBegun: boolean
}

/**
 * The messages this node has in memory: promised room, queued or under way. A plan's messages for one route are a flow. One
 * flow alone fills half of the room, and neither another plan nor a slow carrier of the same plan stands before a new one.
 */
export class HeldMessages {
  readonly #messages = new SlotMap<string, Held>()
  readonly #byFlow = new SharedSlots(MAX_HELD)
  readonly #countByFlow = new Map<number, number>()
  #begun = 0

  get size(): number {
    return this.#messages.size
  }

  get room(): SharedRoom {
    return this.#byFlow
  }

  /** Messages of the plan on the route. */
  of(planId: number, routeId: number): number {
    return this.#countByFlow.get(flowOf(planId, routeId)) ?? 0
  }

  /** How many more of the plan there is room for on the route, if they are as long as those that are here, or of the longest. */
  roomFor(planId: number, routeId: number): number {
    const places = this.#byFlow.of(flowOf(planId, routeId))
    const each = places === 0 ? MOST_PLACES : places / this.of(planId, routeId)
    return Math.ceil(this.#byFlow.roomFor(places) / each)
  }

  get begun(): number {
    return this.#begun
  }

  isBegun(msgId: string): boolean {
    return this.#messages.get(msgId)?.isBegun ?? false
  }

  begin(msgId: string): void {
    const held = this.#messages.get(msgId)
    if (held !== undefined) this.#setBegun(held, true)
  }

  has(msgId: string): boolean {
    return this.#messages.has(msgId)
  }

  jobOf(msgId: string): SubmitJob | null {
    return this.#messages.get(msgId)?.job ?? null
  }

  /** A message without a job, or no longer with one. `routeId` 0: not known yet. */
  add(message: Pick<Dispatch, 'msgId' | 'planId' | 'body' | 'segments'>, routeId = 0): void {
    const { msgId, planId } = message
    const held = this.#messages.get(msgId)
    if (held !== undefined) {
      held.job = null
      return
    }
    const places = Math.ceil(bytesOf(message) / PLACE_BYTES)
    const added = { flow: flowOf(planId, routeId), places, job: null, isBegun: false }
    this.#messages.set(msgId, added)
    this.#enter(added)
  }

  /** Of a message that was added. */
  setJob(job: SubmitJob): void {
    const { msgId, planId } = job.dispatch
    const held = this.#messages.get(msgId)
    if (held === undefined) return
    held.job = job
    const flow = flowOf(planId, job.route.id)
    if (flow === held.flow) return
    this.#exit(held)
    held.flow = flow
    this.#enter(held)
  }

  /** It is to wait in the database, and takes its room until it does. */
  leave(msgId: string): void {
    const held = this.#messages.get(msgId)
    if (held === undefined) return
    held.job = null
    this.#setBegun(held, false)
  }

  delete(msgId: string): void {
    const held = this.#messages.get(msgId)
    if (held === undefined) return
    this.#messages.delete(msgId)
    this.#setBegun(held, false)
    this.#exit(held)
  }

  #setBegun(held: Held, isBegun: boolean): void {
    this.#begun += Number(isBegun) - Number(held.isBegun)
    held.isBegun = isBegun
  }

  #enter({ flow, places }: Held): void {
    this.#byFlow.add(flow, places)
    this.#countByFlow.set(flow, (this.#countByFlow.get(flow) ?? 0) + 1)
  }

  #exit({ flow, places }: Held): void {
    this.#byFlow.release(flow, places)
    const left = this.#countByFlow.get(flow)! - 1
    if (left === 0) this.#countByFlow.delete(flow)
    else this.#countByFlow.set(flow, left)
  }

  /** Messages with a job, in groups that wait for the same. */
  groups(causeOf: (job: SubmitJob) => HeldCause): HeldGroup[] {
    const groups = new Map<string, HeldGroup>()
    for (const { job } of this.#messages.values()) {
      if (job === null) continue
      const { msgId } = job.dispatch
      const [routeId, carrierId, cause] = [job.route.id, job.carrier.id, causeOf(job)]
      const key = `${routeId} ${carrierId} ${cause}`
      const known = groups.get(key)
      // Ids begin with the time.
      const oldestMsgId = known === undefined || msgId < known.oldestMsgId ? msgId : known.oldestMsgId
      groups.set(key, { routeId, carrierId, cause, count: (known?.count ?? 0) + 1, oldestMsgId })
    }
    return [...groups.values()]
  }
}

/** Two ids in one number: those of routes stay far below 2^22, those of plans are 31 bits. */
function flowOf(planId: number, routeId: number): number {
  return planId * 2 ** 22 + routeId
}
