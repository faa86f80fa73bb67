import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SlotMap } from '../../src/collections/slot-map.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void

interface Keeper {
  set(key: string, value: object): unknown
  delete(key: string): boolean
}

/** Octets that the old generation grows by while entries of 4 kB pass through, 20 at a time, with a collection after each 40. */
function promoted(map: Keeper): number {
  const pass = (from: number, count: number) => {
    for (let n = from; n < from + count; n += 1) {
      map.set(
        `key ${n}`,
        Array.from({ length: 100 }, (_, index) => ({ index })),
      )
      map.delete(`key ${n - 20}`)
      if (n % 40 === 0) collect({ type: 'minor' })
    }
  }
  pass(0, 1_000)
  collect({ type: 'major' })
  const before = oldOctets()
  pass(1_000, 4_000)
  return oldOctets() - before
}

function oldOctets(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')!.space_used_size
}

describe('SlotMap', () => {
  test('whatever is done, it is as a Map', () => {
    const step = fc.record({
      kind: fc.constantFrom('set', 'set', 'set', 'delete', 'delete', 'clear'),
      key: fc.nat(12),
      value: fc.nat(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const map = new SlotMap<number, number>()
        const model = new Map<number, number>()
        for (const { kind, key, value } of steps) {
          if (kind === 'delete') expect(map.delete(key)).toBe(model.delete(key))
          else if (kind === 'set') {
            map.set(key, value)
            model.set(key, value)
          } else if (value % 10 === 0) {
            map.clear()
            model.clear()
          }
          expect(map.size).toBe(model.size)
          expect([map.has(key), map.get(key)]).toEqual([model.has(key), model.get(key)])
          expect([...map.keys()]).toEqual([...model.keys()])
          expect([...map.values()]).toEqual([...model.values()])
        }
      }),
    )
  })

  test('what is deleted while its values are gone through is left out', () => {
    const map = new SlotMap<string, string>()
    for (const key of ['a', 'b', 'c']) map.set(key, key)
    const seen: string[] = []
    for (const value of map.values()) {
      seen.push(value)
      map.delete(value)
      map.delete('b')
    }
    expect(seen).toEqual(['a', 'c'])
    expect(map.size).toBe(0)
  })

  test('what has left it does not outlive the next collections, as it does in a Map', () => {
    expect(promoted(new SlotMap<string, object>())).toBeLessThan(2_000_000)
    // If this fails, V8 has mended its Map, which does then.
    expect(promoted(new Map<string, object>())).toBeGreaterThan(4_000_000)
  })
})
