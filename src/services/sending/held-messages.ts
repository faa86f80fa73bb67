import type { HeldCause, HeldGroup } from '../../domain/backlog.ts'
import { type SharedRoom, SharedSlots } from '../../domain/shared-room.ts'
import { SlotMap } from '../../slot-map.ts'
import type { SubmitJob } from './submit-job.ts'

/** Messages in memory; those beyond stay in the database, in the order they became due. */
const MAX_HELD = 10_000

/**
 * The messages this node has in memory: promised room, queued or under way. A plan's messages for one route are a flow. One
 * flow alone fills half of the room, and neither another plan nor a slow carrier of the same plan stands before a new one.
 */
export class HeldMessages {
  /** The job of each; its flow while it has none. */
  readonly #messages = new SlotMap<string, SubmitJob | number>()
  readonly #byFlow = new SharedSlots(MAX_HELD)
  /** Those that the journal knows, or is being told, to be on their way to a carrier. */
  readonly #begun = new Set<string>()

  get size(): number {
    return this.#messages.size
  }

  get room(): SharedRoom {
    return this.#byFlow
  }

  of(planId: number, routeId: number): number {
    return this.#byFlow.of(flowOf(planId, routeId))
  }

  /** How many more of the plan there is room for on the route. */
  roomFor(planId: number, routeId: number): number {
    return this.#byFlow.roomFor(this.of(planId, routeId))
  }

  get begun(): number {
    return this.#begun.size
  }

  isBegun(msgId: string): boolean {
    return this.#begun.has(msgId)
  }

  begin(msgId: string): void {
    this.#begun.add(msgId)
  }

  has(msgId: string): boolean {
    return this.#messages.has(msgId)
  }

  jobOf(msgId: string): SubmitJob | null {
    const held = this.#messages.get(msgId)
    return typeof held === 'object' ? held : null
  }

  /** A message without a job, or no longer with one. `routeId` 0: not known yet. */
  add(msgId: string, planId: number, routeId = 0): void {
    const held = this.#messages.get(msgId)
    const flow = held === undefined ? flowOf(planId, routeId) : flowIn(held)
    if (held === undefined) this.#byFlow.add(flow)
    this.#messages.set(msgId, flow)
  }

  /** Of a message that was added. */
  setJob(job: SubmitJob): void {
    const { msgId } = job.dispatch
    const held = this.#messages.get(msgId)
    if (held !== undefined) this.#byFlow.release(flowIn(held))
    this.#byFlow.add(flowIn(job))
    this.#messages.set(msgId, job)
  }

  /** It is to wait in the database, and takes its room until it does. */
  leave(msgId: string): void {
    const held = this.#messages.get(msgId)
    if (held !== undefined) this.#messages.set(msgId, flowIn(held))
    this.#begun.delete(msgId)
  }

  delete(msgId: string): void {
    this.#begun.delete(msgId)
    const held = this.#messages.get(msgId)
    if (held === undefined) return
    this.#messages.delete(msgId)
    this.#byFlow.release(flowIn(held))
  }

  /** Messages with a job, in groups that wait for the same. */
  groups(causeOf: (job: SubmitJob) => HeldCause): HeldGroup[] {
    const groups = new Map<string, HeldGroup>()
    for (const job of this.#messages.values()) {
      if (typeof job === 'number') continue
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

function flowIn(held: SubmitJob | number): number {
  return typeof held === 'number' ? held : flowOf(held.dispatch.planId, held.route.id)
}
