import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CarrierQueue } from '../../../src/services/sending/carrier-queue.ts'
import type { SubmitJob } from '../../../src/services/sending/submit-job.ts'
import { eventually } from '../../support/service.ts'
import { aJob } from '../../support/submit-jobs.ts'

const UNLIMITED = { messagesPerSecond: null, senderMessagesPerSecond: null }

let queue: CarrierQueue
let pumps: number

beforeEach(() => {
  pumps = 0
  queue = new CarrierQueue(() => {
    pumps += 1
  })
})

afterEach(() => queue.stop())

function pushed(count: number, changes: Parameters<typeof aJob>[0] = {}): SubmitJob[] {
  const jobs = Array.from({ length: count }, () => aJob(changes))
  for (const job of jobs) queue.push(job)
  return jobs
}

/** Lets the head begin unless another job has, and sends every PDU of that job. */
function sendHead(): SubmitJob {
  if (queue.next() === null) {
    const head = queue.head()!
    queue.begin(head, performance.now())
    queue.beginCommitted(head)
  }
  const job = queue.next()!
  while (job.progress.next !== null) job.progress.sent()
  queue.remove(job)
  return job
}

describe('turns', () => {
  test('plans take them by segments: after a long message one waits as long', () => {
    const [long] = pushed(1, { planId: 1, body: 'part '.repeat(80) })
    const [next] = pushed(1, { planId: 1 })
    const others = pushed(4, { planId: 2 })
    const order = Array.from({ length: 6 }, sendHead)
    expect(order).toEqual([long, others[0], others[1], others[2], next, others[3]])
  })

  test('what comes back goes before the rest', () => {
    const [first, second] = pushed(2)
    sendHead()
    queue.resume(first!)
    queue.resume(first!)
    expect(queue.next()).toBe(first)
    queue.remove(first!)
    expect(queue.next()).toBeNull()
    expect(sendHead()).toBe(second)
    expect(queue.head()).toBeNull()
  })

  test('one that is taken out is out, at the head and elsewhere', () => {
    const [first, second, third] = pushed(3)
    queue.remove(first!)
    queue.remove(third!)
    queue.remove(third!)
    expect(queue.drain()).toEqual([second])
  })
})

test('its report: what waits, whether it has begun or not, and what was sent', () => {
  pushed(3)
  const head = queue.head()!
  queue.begin(head, performance.now())
  expect(queue.report()).toEqual({ queued: 3, sentLastSecond: 0, measuredRate: null })
  queue.beginCommitted(head)
  queue.throttle.sent(performance.now())
  sendHead()
  expect(queue.report()).toEqual({ queued: 2, sentLastSecond: expect.any(Number), measuredRate: null })
})

describe('rates', () => {
  test('a new one takes the place of what was learned; the same one does not', () => {
    queue.adopt({ ...UNLIMITED, messagesPerSecond: 100 })
    queue.throttle.throttled(performance.now(), performance.now())
    expect(queue.throttle.isReduced).toBe(true)
    queue.adopt({ ...UNLIMITED, messagesPerSecond: 100 })
    expect(queue.throttle.isReduced).toBe(true)
    queue.adopt({ ...UNLIMITED, messagesPerSecond: 50 })
    expect(queue.throttle.isReduced).toBe(false)
  })

  test('congested is what throttles and has more queued than it sends in five seconds', () => {
    queue.adopt({ ...UNLIMITED, messagesPerSecond: 2 })
    pushed(11)
    expect(queue.isCongested).toBe(false)
    queue.throttle.throttled(performance.now(), performance.now())
    expect(queue.isCongested).toBe(true)
    queue.remove(queue.head()!)
    for (let count = 0; count < 6; count += 1) queue.remove(queue.head()!)
    expect(queue.isCongested).toBe(false)
  })

  test('messages that wait for a rate of senders return to the queue in their order when it goes', () => {
    queue.adopt({ ...UNLIMITED, senderMessagesPerSecond: 1 })
    const jobs = pushed(3)
    expect(sendHead()).toBe(jobs[0])
    for (const job of jobs.slice(1)) {
      expect(queue.senderRateLimit!.admit(job, performance.now()).kind).toBe('waits')
      queue.stepAside(job)
    }
    expect(queue.head()).toBeNull()
    queue.adopt(UNLIMITED)
    expect(queue.senderRateLimit).toBeNull()
    expect([sendHead(), sendHead()]).toEqual(jobs.slice(1))
  })
})

test('a pause ends with a look at the queue', async () => {
  queue.pauseFor(10)
  queue.pauseFor(1)
  expect(queue.isPaused).toBe(true)
  await eventually(() => pumps === 1)
  expect(queue.isPaused).toBe(false)
})
