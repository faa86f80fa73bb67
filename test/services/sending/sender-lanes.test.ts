import { expect, test } from 'vitest'
import { SenderLanes } from '../../../src/services/sending/sender-lanes.ts'
import type { SubmitJob } from '../../../src/services/sending/submit-job.ts'
import { eventually } from '../../support/service.ts'
import { aJob } from '../../support/submit-jobs.ts'

/** Lanes whose released jobs are sent at once; `send` asks as the pump does. */
function lanesOf(messagesPerSecond: number, nowMs = () => performance.now()) {
  const sent: SubmitJob[] = []
  const lanes = new SenderLanes(messagesPerSecond, (job) => send(job))
  const send = (job: SubmitJob) => {
    const admission = lanes.admit(job, nowMs())
    if (admission.kind === 'go') {
      sent.push(job)
      lanes.sent(job, nowMs())
    }
    return admission
  }
  return { lanes, send, sent }
}

test('a sender is held to its rate; what waits goes in its order', async () => {
  const { send, sent } = lanesOf(50)
  const jobs = Array.from({ length: 20 }, () => aJob())
  const started = performance.now()
  for (const job of jobs) send(job)
  expect(sent.length).toBeLessThan(20)
  await eventually(() => sent.length === 20)
  expect(sent).toEqual(jobs)
  // 20 in 20 ms each, less the time that may be made up for.
  expect(performance.now() - started).toBeGreaterThan(250)
})

test('senders, and plans that use the same one, do not hold each other up', () => {
  const { send, lanes } = lanesOf(1)
  expect(send(aJob()).kind).toBe('go')
  lanes.sent(aJob(), performance.now())
  expect(send(aJob()).kind).toBe('waits')
  expect(send(aJob({ sender: 'Other' })).kind).toBe('go')
  expect(send(aJob({ planId: 2 })).kind).toBe('go')
  expect(lanes.drain()).toHaveLength(1)
})

test('no more wait than can be sent in two seconds; the rest is put off, one after the other', () => {
  const nowMs = 1_000_000
  const { send, lanes } = lanesOf(10, () => nowMs)
  const kinds = Array.from({ length: 30 }, () => send(aJob()))
  const delays = kinds.flatMap((admission) => (admission.kind === 'put-off' ? [admission.delayMs] : []))
  expect(kinds.filter(({ kind }) => kind === 'waits')).toHaveLength(20)
  expect(delays.length).toBeGreaterThan(3)
  expect(delays).toEqual(delays.map((_, index) => 2_000 + 100 * index))
  // A new message of the sender goes behind them.
  expect(lanes.delayMs(aJob().dispatch, nowMs)).toBe(delays.at(-1)! + 100)
  expect(lanes.delayMs(aJob({ sender: 'Other' }).dispatch, nowMs)).toBeNull()
  lanes.drain()
})

test('a message of several segments counts for as many', () => {
  const { lanes } = lanesOf(10)
  const job = aJob({ body: 'part '.repeat(80) })
  const nowMs = 1_000
  expect(lanes.admit(job, nowMs).kind).toBe('go')
  lanes.sent(job, nowMs)
  expect(lanes.admit(aJob(), nowMs + 150).kind).toBe('waits')
  lanes.drain()
})

test('one that leaves unsent lets the next go', async () => {
  const released: SubmitJob[] = []
  const lanes = new SenderLanes(100, (job) => released.push(job))
  const [first, second, third] = [aJob(), aJob(), aJob()]
  const nowMs = performance.now()
  lanes.sent(aJob(), nowMs)
  lanes.sent(aJob(), nowMs)
  for (let count = 0; count < 20; count += 1) lanes.sent(aJob(), nowMs)
  for (const job of [first, second, third]) expect(lanes.admit(job, performance.now()).kind).toBe('waits')
  lanes.remove(second)
  await eventually(() => released.length === 1)
  expect(lanes.admit(first, performance.now()).kind).toBe('go')
  lanes.left(first, performance.now())
  await eventually(() => released.length === 2)
  expect(released).toEqual([first, third])
  expect(lanes.drain()).toEqual([])
})
