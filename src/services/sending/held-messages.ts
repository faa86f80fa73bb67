import { type SharedRoom, SharedSlots } from '../../collections/shared-room.ts'
import { SlotMap } from '../../collections/slot-map.ts'
import type { HeldCause, HeldGroup } from '../../domain/backlog.ts'
import type { Dispatch } from '../../domain/journal/messages-in-progress.ts'
import { bytesOf } from '../messages/owned-messages.ts'
import type { SubmitJob } from './submit-job.ts'

/** Messages of one segment in memory. More stay in the database, in the order they became due. */
const MAX_HELD = 10_000
/** A place is for a message of one segment. A longer one takes several places, so that all places together are 62 MiB. */
const PLACE_BYTES = 6_500
/** The most that messages of all sandbox plans take: 10 s of what their carrier takes, if they have one segment. */
const SANDBOX_PLACES = 1_000
/** Places of the longest text: 1,600 Chinese characters. */
export const MOST_PLACES = 7

/** A message in memory. */
interface Held {
  flow: number
  readonly isSandbox: boolean
  readonly places: number
  job: SubmitJob | null
  /** The carrier in whose window its PDUs are counted, because its `begun` is appended or committed; 0: none. */
  countedFor: number
  pdus: number
  /** Its `begun` is committed, so it may be sent. */
  isBegun: boolean
}

export interface HeldSelection {
  /** The id of one message. */
  readonly only?: string
  /** Only messages with lower ids, so older ones. */
  readonly before?: string
}

/**
 * The messages that this node is to submit: with room reserved, queued or in flight. Once submitted, they remain in `OwnedMessages`. A
 * plan's messages for one route are a flow. One flow alone can fill half of the room, so neither another plan nor a slow
 * carrier of the same plan blocks a new flow. The flows of sandbox plans share a tenth of the room in the same way, because
 * they wait for one slow carrier.
 */
export class HeldMessages {
  readonly #messages = new SlotMap<string, Held>()
  readonly #byFlow = new SharedSlots(MAX_HELD)
  /** The part of `#byFlow` that sandbox plans have. */
  readonly #bySandboxFlow = new SharedSlots(SANDBOX_PLACES)
  readonly #countByFlow = new Map<number, number>()
  /** PDUs of the messages that are beginning or have begun, by carrier. */
  readonly #countedPdus = new Map<number, number>()
  /** Carriers for which fewer PDUs are counted than when `onRoom` was last called. */
  readonly #roomy = new Set<number>()
  readonly #onRoom: (carrierId: number) => void
  readonly #isSandbox: (planId: number) => boolean

  /** `onRoom` is called after one or more places in a carrier's window have become free. */
  constructor(
    onRoom: (carrierId: number) => void = () => undefined,
    isSandbox: (planId: number) => boolean = () => false,
  ) {
    this.#onRoom = onRoom
    this.#isSandbox = isSandbox
  }

  get size(): number {
    return this.#messages.size
  }

  get room(): SharedRoom {
    return this.#byFlow
  }

  /** How many messages the plan has on the route. */
  of(planId: number, routeId: number): number {
    return this.#countByFlow.get(flowOf(planId, routeId)) ?? 0
  }

  /**
   * How many more messages of the plan have room on the route, if they are as long as those here. With none here, the longest
   * is assumed.
   */
  roomFor(planId: number, routeId: number): number {
    const places = this.#byFlow.of(flowOf(planId, routeId))
    const each = places === 0 ? MOST_PLACES : places / this.of(planId, routeId)
    const room = this.#byFlow.roomFor(places)
    const most = this.#isSandbox(planId) ? this.#bySandboxFlow.roomFor(places) : room
    return Math.ceil(Math.min(room, most) / each)
  }

  /**
   * PDUs in the carrier's window: of messages whose `begun` is appended to the journal, committed or not, and whose outcome is
   * not yet appended.
   */
  countedPdus(carrierId: number): number {
    return this.#countedPdus.get(carrierId) ?? 0
  }

  /** Whether the message may be sent to the carrier of its job now. */
  isBegun(msgId: string): boolean {
    return this.#messages.get(msgId)?.isBegun ?? false
  }

  /** Counts its PDUs in the carrier's window: its `begun` is appended to the journal, and not committed yet. */
  countBegun(msgId: string, carrierId: number, pdus: number): void {
    const held = this.#messages.get(msgId)
    if (held === undefined) return
    this.#uncount(held)
    held.countedFor = carrierId
    this.#count(held, pdus)
  }

  /** Its `begun`, if it has one, is committed. */
  committed(msgId: string): void {
    const held = this.#messages.get(msgId)
    if (held !== undefined) held.isBegun = held.countedFor !== 0
  }

  jobOf(msgId: string): SubmitJob | null {
    return this.#messages.get(msgId)?.job ?? null
  }

  /** Adds a message without a job. One that is here already loses its job. `routeId` 0: not known yet. */
  add(message: Pick<Dispatch, 'msgId' | 'planId' | 'body' | 'segments'>, routeId = 0): void {
    const { msgId, planId } = message
    const held = this.#messages.get(msgId)
    if (held !== undefined) {
      held.job = null
      return
    }
    const places = Math.ceil(bytesOf(message) / PLACE_BYTES)
    const flow = flowOf(planId, routeId)
    const isSandbox = this.#isSandbox(planId)
    const added = { flow, isSandbox, places, job: null, countedFor: 0, pdus: 0, isBegun: false }
    this.#messages.set(msgId, added)
    this.#enter(added)
  }

  /** Sets the job of a message that was added. It must begin again if it has begun for another carrier, or is beginning. */
  setJob(job: SubmitJob): void {
    const { msgId, planId } = job.dispatch
    const held = this.#messages.get(msgId)
    if (held === undefined) return
    held.job = job
    if (!held.isBegun || held.countedFor !== job.carrier.id) this.#uncount(held)
    else this.#count(held, job.text.pdus.length)
    const flow = flowOf(planId, job.route.id)
    if (flow === held.flow) return
    this.#exit(held)
    held.flow = flow
    this.#enter(held)
  }

  /** The message is about to wait in the database, and keeps its room until it does. */
  leave(msgId: string): void {
    const held = this.#messages.get(msgId)
    if (held === undefined) return
    held.job = null
    this.#uncount(held)
  }

  drop(msgId: string): void {
    const held = this.#messages.get(msgId)
    if (held === undefined) return
    this.#messages.delete(msgId)
    this.#uncount(held)
    this.#exit(held)
  }

  #uncount(held: Held): void {
    if (held.countedFor === 0) return
    this.#count(held, 0)
    held.countedFor = 0
    held.isBegun = false
  }

  /** Sets how many PDUs of a message are counted for its carrier. A text of several segments may be a single PDU. */
  #count(held: Held, pdus: number): void {
    const { countedFor } = held
    const more = pdus - held.pdus
    held.pdus = pdus
    this.#countedPdus.set(countedFor, this.countedPdus(countedFor) + more)
    if (more >= 0) return
    if (this.#roomy.size === 0) queueMicrotask(() => this.#announceRoom())
    this.#roomy.add(countedFor)
  }

  #announceRoom(): void {
    const roomy = [...this.#roomy]
    this.#roomy.clear()
    for (const carrierId of roomy) this.#onRoom(carrierId)
  }

  #enter({ flow, isSandbox, places }: Held): void {
    this.#byFlow.add(flow, places)
    if (isSandbox) this.#bySandboxFlow.add(flow, places)
    this.#countByFlow.set(flow, (this.#countByFlow.get(flow) ?? 0) + 1)
  }

  #exit({ flow, isSandbox, places }: Held): void {
    this.#byFlow.release(flow, places)
    if (isSandbox) this.#bySandboxFlow.release(flow, places)
    const left = this.#countByFlow.get(flow)! - 1
    if (left === 0) this.#countByFlow.delete(flow)
    else this.#countByFlow.set(flow, left)
  }

  /** Messages with a job that are selected, grouped by route, carrier and cause. */
  groups(causeOf: (job: SubmitJob) => HeldCause, { only, before }: HeldSelection = {}): HeldGroup[] {
    const groups = new Map<string, HeldGroup & { count: number; oldestMsgId: string }>()
    for (const held of only === undefined ? this.#messages.values() : [this.#messages.get(only)]) {
      const job = held?.job ?? null
      if (job === null || (before !== undefined && job.dispatch.msgId >= before)) continue
      const { msgId } = job.dispatch
      const [routeId, carrierId, cause] = [job.route.id, job.carrier.id, causeOf(job)]
      const key = `${routeId} ${carrierId} ${cause}`
      const group = groups.get(key)
      if (group === undefined) groups.set(key, { routeId, carrierId, cause, count: 1, oldestMsgId: msgId })
      else {
        group.count += 1
        // Ids start with the time, so the smallest is the oldest.
        if (msgId < group.oldestMsgId) group.oldestMsgId = msgId
      }
    }
    return [...groups.values()]
  }
}

/** Both ids in one number: route ids stay far below 2^22, and plan ids have 31 bits. */
function flowOf(planId: number, routeId: number): number {
  return planId * 2 ** 22 + routeId
}
