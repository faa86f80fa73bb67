import { expect, test } from 'vitest'
import { OwnWrites } from '../../../src/services/node/own-writes.ts'

test('every statement counts as a write, except the polls of an idle node', () => {
  const writes = new OwnWrites()
  let told = 0
  writes.onWrite(() => {
    told += 1
  })
  for (const poll of ['heartbeat', 'find_waiting_plans', 'find_waiting_events']) writes.noted(poll)
  expect(told).toBe(0)
  // A COMMIT has no name.
  for (const name of [null, 'take_dispatches', 'of_a_later_version']) writes.noted(name)
  expect(told).toBe(3)
})
