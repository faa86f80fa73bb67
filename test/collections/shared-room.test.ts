import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SharedRoom, SharedSlots } from '../../src/collections/shared-room.ts'

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

  it('one is given room up to a bound of its own', () => {
    const room = new SharedRoom(10, { mostOfOne: 3 })
    expect([room.share, room.roomFor(0), room.roomFor(3)]).toEqual([3, 2, 0])
    room.change(9)
    expect([room.share, room.roomFor(0), room.roomFor(1)]).toEqual([1, 1, 0])
  })

  it('whatever is taken, released and read: never more than there is, and who has none finds room while any is free', () => {
    const kinds = fc.constantFrom('take', 'take all', 'release', 'reserve')
    const steps = fc.array(fc.record({ key: fc.nat(4), kind: kinds }), { maxLength: 100 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), steps, (most, moves) => {
        const slots = new SharedSlots(most)
        const held: number[] = []
        let reserved = 0
        for (const { key, kind } of moves) {
          const own = held.filter((one) => one === key).length
          const free = most - held.length - reserved
          expect([slots.of(key), slots.free]).toEqual([own, free])
          if (own === 0) expect(slots.roomFor(own) > 0).toBe(free > 0)
          if (kind === 'take' && slots.take(key)) {
            expect(own).toBeLessThan(free)
            held.push(key)
          } else if (kind === 'take all') {
            const room = Math.max(slots.roomFor(own), 0)
            for (let count = 0; count < room; count += 1) slots.add(key)
            held.push(...Array<number>(room).fill(key))
            expect(slots.of(key)).toBeLessThanOrEqual(Math.max(own, slots.free + 1))
          } else if (kind === 'release' && own > 0) {
            slots.release(key)
            held.splice(held.indexOf(key), 1)
          } else if (kind === 'reserve') {
            const wanted = reserved > 0 ? 0 : slots.free
            slots.reserve(wanted - reserved)
            reserved = wanted
          }
          expect(slots.free).toBeGreaterThanOrEqual(0)
        }
      }),
    )
  })
})
