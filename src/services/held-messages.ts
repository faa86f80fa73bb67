import type { SubmitJob } from './submit-job.ts'

/** Messages in memory; those beyond stay in the database, in the order they became due. */
const MAX_HELD = 10_000

/**
 * The messages this node has in memory: promised room, queued or under way. A plan may fill what the others leave free
 * (a dynamic threshold: Choudhury and Hahne 1998), so one alone fills half, and one that comes new always finds room.
 */
export class HeldMessages {
  /** The job of each; its plan while it has none. */
  readonly #messages = new Map<string, SubmitJob | number>()
  readonly #byPlan = new Map<number, number>()
  /** Room for what is being read from the database. */
  reserved = 0

  get size(): number {
    return this.#messages.size + this.reserved
  }

  /** How many more there is room for. */
  get room(): number {
    return MAX_HELD - this.size
  }

  of(planId: number): number {
    return this.#byPlan.get(planId) ?? 0
  }

  /** How many more of the plan there is room for: with them it has no more than is free then. */
  roomFor(planId: number): number {
    return Math.ceil((this.room - this.of(planId)) / 2)
  }

  has(msgId: string): boolean {
    return this.#messages.has(msgId)
  }

  jobOf(msgId: string): SubmitJob | null {
    const held = this.#messages.get(msgId)
    return typeof held === 'object' ? held : null
  }

  /** A message without a job, or no longer with one. */
  add(msgId: string, planId: number): void {
    if (!this.#messages.has(msgId)) this.#byPlan.set(planId, this.of(planId) + 1)
    this.#messages.set(msgId, planId)
  }

  /** Of a message that was added. */
  setJob(job: SubmitJob): void {
    this.#messages.set(job.dispatch.msgId, job)
  }

  delete(msgId: string): void {
    const held = this.#messages.get(msgId)
    if (held === undefined) return
    this.#messages.delete(msgId)
    const planId = typeof held === 'number' ? held : held.dispatch.planId
    const left = this.of(planId) - 1
    if (left > 0) this.#byPlan.set(planId, left)
    else this.#byPlan.delete(planId)
  }
}
