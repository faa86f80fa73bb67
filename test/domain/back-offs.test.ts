import { expect, test } from 'vitest'
import { BackOffs } from '../../src/domain/back-offs.ts'

test('nobody is backed off but who was named, and until then', () => {
  const backOffs = new BackOffs(10)
  expect(backOffs.leftMs('a', 0)).toBe(0)
  backOffs.set('a', 500)
  expect(backOffs.leftMs('a', 100)).toBe(400)
  expect(backOffs.leftMs('b', 100)).toBe(0)
  expect(backOffs.leftMs('a', 500)).toBe(0)
  expect(backOffs.size).toBe(0)
})

test('may be set anew, and cleared', () => {
  const backOffs = new BackOffs(10)
  backOffs.set('a', 500)
  backOffs.set('a', 300)
  expect(backOffs.leftMs('a', 100)).toBe(200)
  backOffs.clear('a')
  backOffs.clear('never set')
  expect(backOffs.leftMs('a', 100)).toBe(0)
})

test('are bounded: the one set longest ago makes room', () => {
  const backOffs = new BackOffs(3)
  for (const key of ['a', 'b', 'c']) backOffs.set(key, 1_000)
  backOffs.set('a', 2_000)
  backOffs.set('d', 1_000)
  expect(backOffs.size).toBe(3)
  expect(backOffs.leftMs('b', 0)).toBe(0)
  expect(backOffs.leftMs('a', 0)).toBe(2_000)
})
