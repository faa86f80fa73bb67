import { expect, test } from 'vitest'
import { SenderRateLimit } from '../../../src/services/sending/sender-rate-limit.ts'
import type { SubmitJob } from '../../../src/services/sending/submit-job.ts'
import { eventually } from '../../support/service.ts'
import { aJob } from '../../support/submit-jobs.ts'

/** A rate limit whose resumed jobs are sent at once; `send` asks as the pump does. */
function rateOf(messagesPerSecond: number, clock = () => performance.now()) {
  const sent: SubmitJob[] = []
  const rate = new SenderRateLimit(messagesPerSecond, (job) => send(job))
  const send = (job: SubmitJob) => {
    const admission = rate.admit(job, clock())
    if (admission.kind === 'go') {
      sent.push(job)
      rate.sent(job, clock())
    }
    return admission
  }
  return { rate, send, sent }
}

test('a sender is held to its rate limit; what waits goes in its order', async () => {
  const { send, sent } = rateOf(50)
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
  const { send, rate } = rateOf(1)
  expect(send(aJob()).kind).toBe('go')
  rate.sent(aJob(), performance.now())
  expect(send(aJob()).kind).toBe('waits')
  expect(send(aJob({ sender: 'Other' })).kind).toBe('go')
  expect(send(aJob({ planId: 2 })).kind).toBe('go')
  expect(rate.drain()).toHaveLength(1)
})

test('no more wait than can be sent in two seconds; the rest is requeued, one after the other', () => {
  const nowMs = 1_000_000
  const { send, rate } = rateOf(10, () => nowMs)
  const kinds = Array.from({ length: 30 }, () => send(aJob()))
  const delays = kinds.flatMap((admission) => (admission.kind === 'requeue' ? [admission.delayMs] : []))
  expect(kinds.filter(({ kind }) => kind === 'waits')).toHaveLength(20)
  expect(delays.length).toBeGreaterThan(3)
  expect(delays).toEqual(delays.map((_, index) => 2_000 + 100 * index))
  // A new message of the sender goes behind them.
  expect(rate.delayMs(aJob().dispatch, nowMs)).toBe(delays.at(-1)! + 100)
  expect(rate.delayMs(aJob({ sender: 'Other' }).dispatch, nowMs)).toBeNull()
  rate.drain()
})

test('a message of several segments counts for as many', () => {
  const { rate } = rateOf(10)
  const job = aJob({ body: 'part '.repeat(80) })
  const nowMs = 1_000
  expect(rate.admit(job, nowMs).kind).toBe('go')
  rate.sent(job, nowMs)
  expect(rate.admit(aJob(), nowMs + 150).kind).toBe('waits')
  rate.drain()
})

test('one that leaves unsent lets the next go', async () => {
  const resumed: SubmitJob[] = []
  const rate = new SenderRateLimit(100, (job) => resumed.push(job))
  const [first, second, third] = [aJob(), aJob(), aJob()]
  const nowMs = performance.now()
  rate.sent(aJob(), nowMs)
  rate.sent(aJob(), nowMs)
  for (let count = 0; count < 20; count += 1) rate.sent(aJob(), nowMs)
  for (const job of [first, second, third]) expect(rate.admit(job, performance.now()).kind).toBe('waits')
  rate.remove(second)
  await eventually(() => resumed.length === 1)
  expect(rate.admit(first, performance.now()).kind).toBe('go')
  rate.left(first, performance.now())
  await eventually(() => resumed.length === 2)
  expect(resumed).toEqual([first, third])
  expect(rate.drain()).toEqual([])
})
