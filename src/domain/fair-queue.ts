import { SlotMap } from '../slot-map.ts'

/**
 * A queue that several flows share by deficit round robin (Shreedhar and Varghese 1996), in the form that pays
 * afterwards: a flow's turn is one unit of cost, and a flow that has taken more waits as many turns as it owes. So a flow
 * that was idle goes next after at most one item of each other flow, however long their queues, and items of any cost
 * share fairly. Each step is O(1), spread over the cost of what was taken.
 */

interface Flow<T> {
  readonly key: number
  first: Entry<T> | null
  last: Entry<T> | null
  /** What it may still take before others have their turn; negative when it owes. */
  credit: number
  /** Neighbours in the ring of flows that have items, or debts. */
  next: Flow<T>
  previous: Flow<T>
}

interface Entry<T> {
  readonly item: T
  readonly flow: Flow<T>
  next: Entry<T> | null
  previous: Entry<T> | null
}

export class FairQueue<T extends object> {
  #entries = new WeakMap<T, Entry<T>>()
  #size = 0
  readonly #flows = new SlotMap<number, Flow<T>>()
  /** Whose turn it is. */
  #turn: Flow<T> | null = null

  get size(): number {
    return this.#size
  }

  has(item: T): boolean {
    return this.#entries.has(item)
  }

  /** Adds an item behind the others of its flow. An item may be in the queue only once. */
  push(flowKey: number, item: T): void {
    const flow = this.#flowOf(flowKey)
    const entry: Entry<T> = { item, flow, next: null, previous: flow.last }
    if (flow.last === null) flow.first = entry
    else flow.last.next = entry
    flow.last = entry
    this.#entries.set(item, entry)
    this.#size += 1
  }

  /** Adds an item before the others of its flow. */
  pushFront(flowKey: number, item: T): void {
    const flow = this.#flowOf(flowKey)
    const entry: Entry<T> = { item, flow, next: flow.first, previous: null }
    if (flow.first === null) flow.last = entry
    else flow.first.previous = entry
    flow.first = entry
    this.#entries.set(item, entry)
    this.#size += 1
  }

  /** The item whose turn it is; the same until it is taken or removed. */
  peek(): T | null {
    if (this.#size === 0) {
      this.#turn = null
      this.#flows.clear()
      return null
    }
    for (;;) {
      const flow = this.#turn as Flow<T>
      if (flow.first !== null && flow.credit > 0) return flow.first.item
      if (flow.credit <= 0) flow.credit += 1
      if (flow.first === null) {
        if (flow.credit > 0) this.#unlink(flow)
        else this.#turn = flow.next
      } else if (flow.credit <= 0) this.#turn = flow.next
    }
  }

  /** Takes the item that `peek` returns, at the expense of its flow. */
  take(cost: number): T | null {
    const item = this.peek()
    if (item === null) return null
    const { flow } = this.#entries.get(item) as Entry<T>
    this.remove(item)
    flow.credit -= cost
    if (flow.credit <= 0) this.#turn = flow.next
    return item
  }

  /** Takes an item out of wherever it is, at nobody's expense. False when it is not there. */
  remove(item: T): boolean {
    const entry = this.#entries.get(item)
    if (entry === undefined) return false
    const { flow, next, previous } = entry
    if (previous === null) flow.first = next
    else previous.next = next
    if (next === null) flow.last = previous
    else next.previous = previous
    // Once in the old generation of the garbage collector, a removed entry would keep every entry behind it alive.
    entry.next = null
    entry.previous = null
    this.#entries.delete(item)
    this.#size -= 1
    return true
  }

  /** Takes everything out, flow by flow. */
  drain(): T[] {
    const items: T[] = []
    for (const flow of this.#flows.values())
      for (let entry = flow.first; entry !== null; entry = entry.next) items.push(entry.item)
    this.#entries = new WeakMap()
    this.#size = 0
    this.#flows.clear()
    this.#turn = null
    return items
  }

  /** A new flow has the last place in the round. */
  #flowOf(key: number): Flow<T> {
    const known = this.#flows.get(key)
    if (known !== undefined) return known
    const flow = { key, first: null, last: null, credit: 0 } as unknown as Flow<T>
    if (this.#turn === null) {
      flow.next = flow
      flow.previous = flow
      this.#turn = flow
    } else {
      flow.next = this.#turn
      flow.previous = this.#turn.previous
      flow.previous.next = flow
      flow.next.previous = flow
    }
    this.#flows.set(key, flow)
    return flow
  }

  #unlink(flow: Flow<T>): void {
    this.#flows.delete(flow.key)
    flow.previous.next = flow.next
    flow.next.previous = flow.previous
    if (this.#turn === flow) this.#turn = flow.next === flow ? null : flow.next
  }
}
