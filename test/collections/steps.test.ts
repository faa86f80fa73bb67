import fc from 'fast-check'
import { expect, test } from 'vitest'
import { atOnce, mapInSteps, mapOfInSteps, type Steps, sortInSteps } from '../../src/collections/steps.ts'

const byKey = (a: { key: number }, b: { key: number }) => a.key - b.key

test('sorts as toSorted does, and keeps the order of equal items', () => {
  const keys = fc.array(fc.nat(50), { maxLength: 3_000, size: 'max' })
  fc.assert(
    fc.property(keys, (all) => {
      const items = all.map((key, index) => ({ key, index }))
      expect(atOnce(sortInSteps(items, byKey))).toEqual(items.toSorted(byKey))
    }),
    { numRuns: 50 },
  )
})

test('maps as arrays and maps do', () => {
  expect(atOnce(mapInSteps([1, 2, 3], (one) => one * 2))).toEqual([2, 4, 6])
  expect(atOnce(mapOfInSteps(['a', 'b', 'a'], (one) => [one, 1]))).toEqual(
    new Map([
      ['a', 1],
      ['b', 1],
    ]),
  )
})

test('may pause at every item, or every few hundred of a sort', () => {
  const items = Array.from({ length: 10_000 }, (_, key) => ({ key: -key }))
  const pauses = (work: Steps<unknown>) => [...work].length
  expect(pauses(mapInSteps(items, (one) => one))).toBe(10_000)
  expect(pauses(sortInSteps(items, byKey))).toBeGreaterThan(10_000)
})
