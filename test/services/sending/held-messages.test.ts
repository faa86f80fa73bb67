import { expect, test } from 'vitest'
import type { Dispatch } from '../../../src/domain/journal/messages-in-progress.ts'
import { MAX_BODY_CHARACTERS } from '../../../src/domain/messages/messages.ts'
import { bytesOf } from '../../../src/services/messages/owned-messages.ts'
import { HeldMessages } from '../../../src/services/sending/held-messages.ts'
import { eventually } from '../../support/eventually.ts'
import { aDispatch, aJob } from '../../support/submit-jobs.ts'

/** Takes as many of the plan's as there is room for. */
function fill(held: HeldMessages, planId: number, message: Partial<Dispatch> = {}): number {
  let taken = 0
  while (held.roomFor(planId, 1) > 0) {
    held.add(aDispatch({ ...message, planId }), 1)
    taken += 1
  }
  return taken
}

test('a message is counted once, with or without its job, and no more when it is gone', () => {
  const held = new HeldMessages()
  const job = aJob()
  const { msgId, planId } = job.dispatch
  held.add(job.dispatch, 1)
  held.add(job.dispatch)
  expect([held.size, held.of(planId, 1), held.jobOf(msgId)]).toEqual([1, 1, null])
  held.setJob(job)
  expect([held.size, held.of(planId, 1), held.jobOf(msgId)]).toEqual([1, 1, job])
  held.drop(msgId)
  held.drop(msgId)
  expect([held.size, held.of(planId, 1), held.jobOf(msgId)]).toEqual([0, 0, null])
})

test('a full route of a plan leaves its other routes their room; a message that takes another is counted there', () => {
  const held = new HeldMessages()
  fill(held, 1)
  expect(held.roomFor(1, 1)).toBe(0)
  expect(held.roomFor(1, 2)).toBe(358)
  const job = aJob()
  held.add(job.dispatch, 2)
  held.setJob(job)
  expect([held.of(1, 1), held.of(1, 2)]).toEqual([5_001, 0])
  held.add(job.dispatch)
  expect(held.of(1, 1)).toBe(5_001)
})

test('the longest texts of many plans take no more memory than short ones', () => {
  const held = new HeldMessages()
  const long = { body: '\u4e00'.repeat(MAX_BODY_CHARACTERS), segments: 24 }
  const plans = Array.from({ length: 200 }, (_, index) => index + 1)
  const taken = plans.map((planId) => fill(held, planId, long))
  expect(bytesOf(long) * held.size).toBeLessThan(64 * 1_048_576)
  expect(taken.slice(0, 2)).toEqual([715, 357])
  const job = aJob({ ...long, planId: 1 })
  held.add(job.dispatch)
  held.setJob(job)
  const before = held.of(1, 1)
  held.drop(job.dispatch.msgId)
  expect(held.of(1, 1)).toBe(before - 1)
})

test.each([5, 10, 20, 50, 100])('%i sandbox plans together leave a real plan its room', (count) => {
  const held = new HeldMessages(undefined, (planId) => planId <= count)
  const plans = Array.from({ length: count }, (_, index) => index + 1)
  for (let before = -1; before < held.size; ) {
    before = held.size
    for (const planId of plans) if (held.roomFor(planId, 1) > 0) held.add(aDispatch({ planId }), 1)
  }
  for (const planId of plans)
    expect(held.of(planId, 1)).toBeGreaterThanOrEqual(Math.floor(1_000 / (count + 1)))
  expect(held.size).toBeLessThanOrEqual(1_000)
  expect(fill(held, count + 1)).toBeGreaterThanOrEqual(4_500)
})

test('places of a sandbox plan become free again, even if it is deleted meanwhile', () => {
  const sandboxPlans = new Set([1])
  const held = new HeldMessages(undefined, (planId) => sandboxPlans.has(planId))
  const job = aJob({ planId: 1 })
  held.add(job.dispatch)
  fill(held, 1)
  sandboxPlans.delete(1)
  held.setJob(job)
  held.drop(job.dispatch.msgId)
  sandboxPlans.add(1)
  expect([held.of(1, 1), held.room.taken]).toEqual([500, 500])
  expect(held.roomFor(1, 1)).toBe(0)
})

test('a text that was accepted as several segments and is one PDU takes one place in the window', async () => {
  const roomy: number[] = []
  const held = new HeldMessages((carrierId) => roomy.push(carrierId))
  const job = aJob()
  const { msgId } = job.dispatch
  held.add(job.dispatch)
  held.countBegun(msgId, job.carrier.id, 7)
  held.committed(msgId)
  held.setJob(job)
  expect([held.isBegun(msgId), held.countedPdus(job.carrier.id)]).toEqual([true, 1])
  await eventually(() => roomy.length > 0)
  held.drop(msgId)
  expect([roomy, held.countedPdus(job.carrier.id)]).toEqual([[job.carrier.id], 0])
})
