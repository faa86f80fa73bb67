import { expect, test } from 'vitest'
import { BoundedMap } from '../../src/collections/bounded-map.ts'

test('the entry that was set longest ago makes room', () => {
  const map = new BoundedMap<string, number>(3)
  for (const key of ['a', 'b', 'c']) map.set(key, 1)
  map.set('a', 2).set('d', 1)
  expect([...map]).toEqual([
    ['c', 1],
    ['a', 2],
    ['d', 1],
  ])
})

test('reading an entry does not keep it, and a deleted one leaves its place', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 1)
  map.get('a')
  map.set('c', 1)
  expect([...map.keys()]).toEqual(['b', 'c'])
  map.delete('c')
  map.set('d', 1)
  expect([...map.keys()]).toEqual(['b', 'd'])
})
