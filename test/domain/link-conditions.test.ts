import { expect, test } from 'vitest'
import { bestConditions, isAsGood, LINK_CONDITIONS } from '../../src/domain/link-conditions.ts'

test('conditions are ordered, the best first', () => {
  const order = LINK_CONDITIONS.map((a) => LINK_CONDITIONS.filter((b) => isAsGood(a, b)).length)
  expect(order).toEqual([4, 3, 2, 1])
})

test('several nodes can do what the best of them can', () => {
  const best = bestConditions([
    { 1: 'silent', 2: 'usable' },
    { 1: 'throttled', 3: 'silent' },
    { 1: 'silent', 2: 'throttled' },
  ])
  expect([...best].toSorted()).toEqual([
    [1, 'throttled'],
    [2, 'usable'],
    [3, 'silent'],
  ])
  expect(bestConditions([]).size).toBe(0)
})
