import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SharedSlots } from '../../src/domain/shared-slots.ts'

function taken(slots: SharedSlots, key: number, tries: number): number {
  return Array.from({ length: tries }, () => slots.take(key)).filter(Boolean).length
}

describe('shared slots', () => {
  it('one alone has half of them, and leaves half of the rest to the next', () => {
    const slots = new SharedSlots(8)
    expect([1, 2, 3, 4, 5].map((key) => taken(slots, key, 100))).toEqual([4, 2, 1, 1, 0])
  })

  it('as many have one each as there are', () => {
    const slots = new SharedSlots(8)
    expect(Array.from({ length: 9 }, (_, key) => slots.take(key))).toEqual([...Array(8).fill(true), false])
  })

  it('what is released can be taken, and only once', () => {
    const slots = new SharedSlots(2)
    expect([slots.take(1), slots.take(1)]).toEqual([true, false])
    slots.release(1)
    slots.release(1)
    slots.release(2)
    expect([taken(slots, 1, 9), taken(slots, 2, 9), taken(slots, 3, 9)]).toEqual([1, 1, 0])
  })

  it('never more than there are, and one that has none is refused only when all are taken', () => {
    const steps = fc.array(fc.tuple(fc.nat(4), fc.boolean()), { maxLength: 100 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), steps, (size, moves) => {
        const slots = new SharedSlots(size)
        const held: number[] = []
        for (const [key, takes] of moves) {
          if (takes) {
            const isNew = !held.includes(key)
            const free = size - held.length
            const given = slots.take(key)
            if (given) held.push(key)
            expect(held.length).toBeLessThanOrEqual(size)
            if (isNew) expect(given).toBe(free > 0)
          } else if (held.includes(key)) {
            slots.release(key)
            held.splice(held.indexOf(key), 1)
          }
        }
      }),
    )
  })
})
