import { type Linked, LinkedList } from './linked-list.ts'
import { SlotMap } from './slot-map.ts'

/** An item of at most one `FairQueue`; only the queue writes these fields. */
export interface Flowing<Self extends Flowing<Self>> extends Linked<Self> {
  flow: Flow<Self> | null
}

interface Flow<Item extends Flowing<Item>> extends Linked<Flow<Item>> {
  readonly key: number
  readonly queue: FairQueue<Item>
  readonly items: LinkedList<Item>
  /** What it may still take before others have their turn; negative when it owes. */
  credit: number
}

/**
 * A queue that several flows share by deficit round robin (Shreedhar and Varghese 1996), in the form that pays
 * afterwards: a flow's turn is one unit of cost, and a flow that has taken more waits as many turns as it owes. So a flow
 * that was idle goes next after at most one item of each other flow, however long their queues, and items of any cost
 * share fairly. Each step is O(1), spread over the cost of what was taken.
 */
export class FairQueue<Item extends Flowing<Item>> {
  #size = 0
  readonly #flows = new SlotMap<number, Flow<Item>>()
  /** The flows that have items, or debts. It is the turn of the first. */
  #round = new LinkedList<Flow<Item>>()

  get size(): number {
    return this.#size
  }

  has(item: Item): boolean {
    return item.flow?.queue === this
  }

  /** Adds an item behind the others of its flow. An item may be in the queue only once. */
  push(flowKey: number, item: Item): void {
    this.#enter(flowKey, item).items.push(item)
  }

  /** Adds an item before the others of its flow. */
  pushFront(flowKey: number, item: Item): void {
    this.#enter(flowKey, item).items.unshift(item)
  }

  /** The item whose turn it is; the same until it is taken or removed. */
  peek(): Item | null {
    if (this.#size === 0) {
      // A Map that is cleared gets a new table, even if it was empty, and all of those become old.
      if (this.#flows.size > 0) this.#clear()
      return null
    }
    for (;;) {
      const flow = this.#round.first as Flow<Item>
      const { first } = flow.items
      if (first !== null && flow.credit > 0) return first
      if (flow.credit <= 0) flow.credit += 1
      if (flow.credit <= 0) this.#endTurn(flow)
      else if (first === null) {
        this.#round.remove(flow)
        this.#flows.delete(flow.key)
      }
    }
  }

  /** Takes the item that `peek` returns, at the expense of its flow. */
  take(cost: number): Item | null {
    const item = this.peek()
    if (item === null) return null
    const flow = item.flow as Flow<Item>
    this.remove(item)
    flow.credit -= cost
    if (flow.credit <= 0) this.#endTurn(flow)
    return item
  }

  /** Takes an item out of wherever it is, at nobody's expense. False when it is not there. */
  remove(item: Item): boolean {
    const { flow } = item
    if (flow?.queue !== this) return false
    flow.items.remove(item)
    item.flow = null
    this.#size -= 1
    return true
  }

  /** Takes everything out, flow by flow. */
  drain(): Item[] {
    const items = [...this.#flows.values()].flatMap((flow) => [...flow.items])
    for (const item of items) this.remove(item)
    this.#clear()
    return items
  }

  #enter(key: number, item: Item): Flow<Item> {
    const flow = this.#flows.get(key) ?? this.#addFlow(key)
    item.flow = flow
    this.#size += 1
    return flow
  }

  /** A new flow has the last place in the round. */
  #addFlow(key: number): Flow<Item> {
    const flow = { key, queue: this, items: new LinkedList<Item>(), credit: 0, next: null, previous: null }
    this.#flows.set(key, flow)
    this.#round.push(flow)
    return flow
  }

  #endTurn(flow: Flow<Item>): void {
    this.#round.remove(flow)
    this.#round.push(flow)
  }

  #clear(): void {
    this.#flows.clear()
    this.#round = new LinkedList()
  }
}
