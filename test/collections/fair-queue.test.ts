import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FairQueue, type Flowing } from '../../src/collections/fair-queue.ts'

interface Item<Value> extends Flowing<Item<Value>> {
  readonly value: Value
}

function itemOf<Value>(value: Value): Item<Value> {
  return { value, flow: null, next: null, previous: null }
}

/** Items by their names, each with a name once. */
class NamedQueue {
  readonly #queue = new FairQueue<Item<string>>()
  readonly #items = new Map<string, Item<string>>()

  get size(): number {
    return this.#queue.size
  }

  push(flow: number, name: string): void {
    this.#queue.push(flow, this.#itemOf(name))
  }

  pushFront(flow: number, name: string): void {
    this.#queue.pushFront(flow, this.#itemOf(name))
  }

  has(name: string): boolean {
    return this.#queue.has(this.#itemOf(name))
  }

  remove(name: string): boolean {
    return this.#queue.remove(this.#itemOf(name))
  }

  peek(): string | null {
    return this.#queue.peek()?.value ?? null
  }

  take(cost: number): string | null {
    return this.#queue.take(cost)?.value ?? null
  }

  drain(): string[] {
    return this.#queue.drain().map(({ value }) => value)
  }

  #itemOf(name: string): Item<string> {
    const item = this.#items.get(name) ?? itemOf(name)
    this.#items.set(name, item)
    return item
  }
}

function filled(items: Record<string, number>): NamedQueue {
  const queue = new NamedQueue()
  for (const [name, count] of Object.entries(items))
    for (let index = 0; index < count; index += 1) queue.push(name.charCodeAt(0), `${name}${index}`)
  return queue
}

function takeAll(queue: NamedQueue, cost = 1): string {
  const taken: string[] = []
  for (let item = queue.take(cost); item !== null; item = queue.take(cost)) taken.push(item)
  return taken.join(' ')
}

describe('FairQueue', () => {
  test('one flow is first in, first out', () => {
    expect(takeAll(filled({ a: 4 }))).toBe('a0 a1 a2 a3')
  })

  test('flows take turns', () => {
    expect(takeAll(filled({ a: 4, b: 2, c: 3 }))).toBe('a0 b0 c0 a1 b1 c1 a2 c2 a3')
  })

  test('one that comes new goes after at most one of each other', () => {
    const queue = filled({ a: 1_000, b: 1_000 })
    for (let count = 0; count < 7; count += 1) queue.take(1)
    queue.push(99, 'new')
    const next = [queue.take(1), queue.take(1), queue.take(1)]
    expect(next).toContain('new')
  })

  test('one that takes much waits as long', () => {
    const queue = new NamedQueue()
    for (let index = 0; index < 3; index += 1) queue.push(1, `long${index}`)
    for (let index = 0; index < 12; index += 1) queue.push(2, `s${index}`)
    const order: string[] = []
    for (let item = queue.peek(); item !== null; item = queue.peek())
      order.push(queue.take(item.startsWith('long') ? 5 : 1)!)
    expect(order.join(' ')).toBe('long0 s0 s1 s2 s3 s4 long1 s5 s6 s7 s8 s9 long2 s10 s11')
  })

  test('and cannot shake its debt off by being empty', () => {
    const queue = filled({ b: 10 })
    queue.push(1, 'long0')
    queue.take(1)
    expect(queue.take(5)).toBe('long0')
    queue.push(1, 'long1')
    const next = Array.from({ length: 5 }, () => queue.take(1))
    expect(next).not.toContain('long1')
    expect(queue.take(5)).toBe('long1')
  })

  test('what was put back to the front goes before the rest of its flow', () => {
    const queue = filled({ a: 2, b: 1 })
    expect(queue.take(1)).toBe('a0')
    queue.pushFront('a'.charCodeAt(0), 'a0')
    expect(takeAll(queue)).toBe('b0 a0 a1')
    queue.pushFront(7, 'only')
    expect(takeAll(queue)).toBe('only')
  })

  test('peek tells what take gives, and stays with it', () => {
    const queue = filled({ a: 2, b: 2 })
    const first = queue.peek()
    queue.push(1, 'new')
    queue.pushFront('b'.charCodeAt(0), 'front')
    expect(queue.peek()).toBe(first)
    expect(queue.take(1)).toBe(first)
  })

  test('items leave from the middle, and everything at once', () => {
    const queue = filled({ a: 4, b: 2 })
    expect(queue.remove('a1')).toBe(true)
    expect(queue.remove('a1')).toBe(false)
    expect(queue.remove('b0')).toBe(true)
    expect(queue.has('b0')).toBe(false)
    queue.pushFront('a'.charCodeAt(0), 'first')
    expect(queue.size).toBe(5)
    expect(queue.drain()).toEqual(['first', 'a0', 'a2', 'a3', 'b1'])
    expect(queue.size).toBe(0)
    expect(queue.peek()).toBeNull()
    queue.push(1, 'again')
    expect(takeAll(queue)).toBe('again')
  })

  test('whatever is done: nothing is lost or doubled, each flow keeps its order, and shares are even', () => {
    const step = fc.record({
      kind: fc.constantFrom('push', 'push', 'take', 'remove'),
      flow: fc.nat(4),
      cost: fc.integer({ min: 1, max: 10 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const queue = new FairQueue<Item<number>>()
        const model = new Map<number, Item<number>[]>()
        for (const { kind, flow, cost } of steps) {
          const list = model.get(flow) ?? []
          model.set(flow, list)
          if (kind === 'push') {
            const item = itemOf(flow)
            queue.push(flow, item)
            list.push(item)
          } else if (kind === 'remove') {
            const item = list.splice(list.length >> 1, 1)[0]
            if (item !== undefined) expect(queue.remove(item)).toBe(true)
          } else {
            const peeked = queue.peek()
            const item = queue.take(cost)
            expect(item).toBe(peeked)
            if (item !== null) expect(model.get(item.value)!.shift()).toBe(item)
          }
          expect(queue.size).toBe([...model.values()].reduce((sum, one) => sum + one.length, 0))
        }
      }),
    )
  })

  test('over all, busy flows get the same whatever their items cost', () => {
    const costs = [1, 2, 7, 49]
    const queue = new FairQueue<Item<{ flow: number; cost: number }>>()
    const taken = costs.map(() => 0)
    for (let round = 0; round < 6_000; round += 1)
      for (const [flow, cost] of costs.entries()) queue.push(flow, itemOf({ flow, cost }))
    for (let total = 0; total < 10_000; ) {
      const { flow, cost } = queue.peek()!.value
      queue.take(cost)
      taken[flow]! += cost
      total += cost
    }
    for (const sum of taken) expect(Math.abs(sum - 2_500)).toBeLessThanOrEqual(100)
  })
})
