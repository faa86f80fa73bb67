import { expect, test } from 'vitest'
import { HeldMessages } from '../../../src/services/sending/held-messages.ts'
import { aJob } from '../../support/submit-jobs.ts'

/** Takes as many of the plan's as there is room for. */
function fill(held: HeldMessages, planId: number): number {
  let taken = 0
  while (held.roomFor(planId, 1) > 0) {
    held.add(`${planId}-${held.size}`, planId, 1)
    taken += 1
  }
  return taken
}

test('a message is counted once, with or without its job, and no more when it is gone', () => {
  const held = new HeldMessages()
  const job = aJob()
  const { msgId, planId } = job.dispatch
  held.add(msgId, planId, 1)
  held.add(msgId, planId)
  expect([held.size, held.of(planId, 1), held.jobOf(msgId)]).toEqual([1, 1, null])
  held.setJob(job)
  expect([held.size, held.of(planId, 1), held.jobOf(msgId)]).toEqual([1, 1, job])
  held.delete(msgId)
  held.delete(msgId)
  expect([held.size, held.of(planId, 1), held.has(msgId)]).toEqual([0, 0, false])
})

test('a full route of a plan leaves its other routes their room; a message that takes another is counted there', () => {
  const held = new HeldMessages()
  fill(held, 1)
  expect(held.roomFor(1, 1)).toBe(0)
  expect(held.roomFor(1, 2)).toBe(2_500)
  const job = aJob()
  held.add(job.dispatch.msgId, 1, 2)
  held.setJob(job)
  expect([held.of(1, 1), held.of(1, 2)]).toEqual([5_001, 0])
  held.add(job.dispatch.msgId, 1)
  expect(held.of(1, 1)).toBe(5_001)
})
