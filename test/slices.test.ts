import { expect, it } from 'vitest'
import { mapInSlices } from '../src/slices.ts'

it('lets the event loop turn after each piece of work, however short', async () => {
  let turns = 0
  for (const _ of [1, 2, 3]) {
    setImmediate(() => {
      turns += 1
    })
    await mapInSlices(['a'], () => turns)
  }
  expect(turns).toBe(3)
})
