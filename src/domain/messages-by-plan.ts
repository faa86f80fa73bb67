import { SlotMap } from '../slot-map.ts'
import type { MessageInProgress } from './messages-in-progress.ts'

/** Messages in progress by id and by plan: a list of one plan does not go through those of all. */
export class MessagesByPlan {
  readonly #messages = new SlotMap<string, MessageInProgress>()
  readonly #ofPlans = new SlotMap<number, SlotMap<string, MessageInProgress>>()

  get size(): number {
    return this.#messages.size
  }

  get(msgId: string): MessageInProgress | undefined {
    return this.#messages.get(msgId)
  }

  /** In the order in which they were added last; null: of all plans. */
  of(planId: number | null): Iterable<MessageInProgress> {
    return (planId === null ? this.#messages : this.#ofPlans.get(planId))?.values() ?? []
  }

  /** In place of what it was before. */
  add(message: MessageInProgress): void {
    const { msgId, accepted } = message
    this.delete(msgId)
    this.#messages.set(msgId, message)
    const ofPlan = this.#ofPlans.get(accepted.planId) ?? new SlotMap()
    ofPlan.set(msgId, message)
    this.#ofPlans.set(accepted.planId, ofPlan)
  }

  delete(msgId: string): void {
    const message = this.#messages.get(msgId)
    if (message === undefined) return
    this.#messages.delete(msgId)
    const { planId } = message.accepted
    const ofPlan = this.#ofPlans.get(planId)
    ofPlan?.delete(msgId)
    if (ofPlan?.size === 0) this.#ofPlans.delete(planId)
  }

  clear(): void {
    this.#messages.clear()
    this.#ofPlans.clear()
  }
}
