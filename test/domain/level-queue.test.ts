import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LevelQueue, NOT_QUEUED, type Queued } from '../../src/domain/level-queue.ts'

interface Named extends Queued<Named> {
  readonly name: string
}

function named(name: string): Named {
  return { name, ...NOT_QUEUED }
}

function drained(queue: LevelQueue<Named>): string {
  const names: string[] = []
  for (let entry = queue.first(); entry !== null; entry = queue.first()) {
    names.push(entry.name)
    queue.remove(entry)
  }
  return names.join(' ')
}

describe('LevelQueue', () => {
  test('the lowest level first, and within one who came first', () => {
    const queue = new LevelQueue<Named>()
    for (const [name, level] of [
      ['a', 2],
      ['b', 0],
      ['c', 2],
      ['d', 7],
      ['e', 0],
    ] as const)
      queue.add(named(name), level)
    expect(queue.size).toBe(5)
    expect(drained(queue)).toBe('b e a c d')
    expect(queue.size).toBe(0)
    queue.add(named('again'), 1)
    expect(drained(queue)).toBe('again')
  })

  test('an entry is in one place of one queue', () => {
    const [one, other] = [new LevelQueue<Named>(), new LevelQueue<Named>()]
    const [a, b] = [named('a'), named('b')]
    one.add(a, 0)
    one.add(b, 0)
    one.add(a, 0)
    expect(one.first()).toBe(b)
    expect(one.size).toBe(2)
    other.add(b, 3)
    expect([one.has(b), other.has(b)]).toEqual([false, true])
    one.remove(b)
    expect(drained(other)).toBe('b')
    expect(drained(one)).toBe('a')
  })

  test('whatever is done, it is as a sorted list', () => {
    const step = fc.record({ add: fc.boolean(), entry: fc.nat(7), level: fc.nat(5) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = new LevelQueue<Named>()
        const entries = Array.from({ length: 8 }, (_, index) => named(String(index)))
        let model: { entry: Named; level: number }[] = []
        for (const { add, entry: index, level } of steps) {
          const entry = entries[index]!
          model = model.filter((one) => one.entry !== entry)
          if (add) {
            queue.add(entry, level)
            model.push({ entry, level })
          } else queue.remove(entry)
          const lowest = Math.min(...model.map((one) => one.level))
          expect(queue.first()).toBe(model.find((one) => one.level === lowest)?.entry ?? null)
          expect(queue.size).toBe(model.length)
        }
        const sorted = model.toSorted((a, b) => a.level - b.level)
        expect(drained(queue)).toBe(sorted.map((one) => one.entry.name).join(' '))
      }),
    )
  })
})
