import { SlotMap } from '../slot-map.ts'
import type { MessageInProgress } from './messages-in-progress.ts'

/** Messages in progress, or values that have one, by id and by plan, so that a list of one plan does not go through all. */
export class MessagesByPlan<Value = MessageInProgress> {
  readonly #messageOf: (value: Value) => MessageInProgress
  readonly #values = new SlotMap<string, Value>()
  readonly #ofPlans = new SlotMap<number, SlotMap<string, Value>>()

  constructor(messageOf: (value: Value) => MessageInProgress) {
    this.#messageOf = messageOf
  }

  get size(): number {
    return this.#values.size
  }

  get(msgId: string): Value | undefined {
    return this.#values.get(msgId)
  }

  /** In the order in which they were last added; null: of all plans. */
  of(planId: number | null): IteratorObject<Value> {
    return (planId === null ? this.#values : this.#ofPlans.get(planId))?.values() ?? Iterator.from([])
  }

  /** Replaces the earlier value. Returns whether there was one. */
  add(value: Value): boolean {
    const { msgId, accepted } = this.#messageOf(value)
    const wasThere = this.delete(msgId)
    this.#values.set(msgId, value)
    const ofPlan = this.#ofPlans.get(accepted.planId) ?? new SlotMap()
    ofPlan.set(msgId, value)
    if (ofPlan.size === 1) this.#ofPlans.set(accepted.planId, ofPlan)
    return wasThere
  }

  /** Returns whether it was there. */
  delete(msgId: string): boolean {
    const value = this.#values.get(msgId)
    if (value === undefined) return false
    this.#values.delete(msgId)
    const { planId } = this.#messageOf(value).accepted
    const ofPlan = this.#ofPlans.get(planId)
    ofPlan?.delete(msgId)
    if (ofPlan?.size === 0) this.#ofPlans.delete(planId)
    return true
  }

  clear(): void {
    this.#values.clear()
    this.#ofPlans.clear()
  }
}
