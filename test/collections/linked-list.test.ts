import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Linked, LinkedList } from '../../src/collections/linked-list.ts'

interface Entry extends Linked<Entry> {
  readonly id: number
}

test('whatever is done, it is as an array; and what was removed holds on to nothing', () => {
  const step = fc.record({ kind: fc.constantFrom('push', 'unshift', 'remove'), at: fc.nat(20) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const list = new LinkedList<Entry>()
      const model: Entry[] = []
      for (const [id, { kind, at }] of steps.entries()) {
        const entry: Entry = { id, next: null, previous: null }
        if (kind === 'remove') {
          const [removed] = model.splice(at % Math.max(model.length, 1), 1)
          if (removed === undefined) continue
          list.remove(removed)
          expect([removed.next, removed.previous]).toEqual([null, null])
        } else {
          list[kind](entry)
          model[kind](entry)
        }
        expect([...list].map((one) => one.id)).toEqual(model.map((one) => one.id))
        expect(list.first).toBe(model[0] ?? null)
      }
    }),
  )
})
