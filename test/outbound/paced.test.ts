import { expect, test } from 'vitest'
import { paced } from '../../src/outbound/paced.ts'

test('runs once for all that comes before it, and again for what comes after', async () => {
  const flushed: number[] = []
  let given = 0
  let next = Promise.withResolvers<void>()
  const plan = paced(() => {
    flushed.push(given)
    given = 0
    next.resolve()
  })
  for (const count of [3, 2, 1]) {
    next = Promise.withResolvers()
    for (let index = 0; index < count; index += 1) {
      given += 1
      plan()
    }
    expect(given).toBe(count)
    await next.promise
  }
  expect(flushed).toEqual([3, 2, 1])
})
