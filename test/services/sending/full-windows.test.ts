import { afterEach, beforeEach, expect, test } from 'vitest'
import { CarrierLinks } from '../../../src/services/links/carrier-links.ts'
import { Receiver, type ReceiverOptions } from '../../../src/services/receiving/receiver.ts'
import { pump } from '../../../src/services/sending/carrier-pump.ts'
import { CarrierQueue } from '../../../src/services/sending/carrier-queue.ts'
import type { SubmitJob, SubmitToken } from '../../../src/services/sending/submit-job.ts'
import { aCarrier, aDirectory } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { quietLog } from '../../support/log.ts'
import { type Smsc, startSmsc } from '../../support/smsc.ts'
import { aJob } from '../../support/submit-jobs.ts'

/** When nothing more comes from a carrier before what it said is committed. */

const WINDOW = 3
const nothing = () => undefined

let smsc: Smsc
let links: CarrierLinks<SubmitToken>
let queue: CarrierQueue
/** What waits for its COMMIT. */
let received: (() => void)[]
/** Without an outcome. */
let begun: number
let hurried: number

const hurry = () => {
  hurried += 1
}

function pumpAll(): void {
  pump(queue, 1, {
    links,
    inProgress: { hurry, addBegun: () => true },
    clock: Date.now,
    lease: { alive: true },
    recorder: { isStalled: false, backlog: 0 },
    log: quietLog,
    reconsider: nothing,
    requeue: nothing,
    unsendable: nothing,
    held: {
      countBegun() {
        begun += 1
      },
      countedPdus: () => begun,
      committed: nothing,
      jobOf: () => null,
    },
  })
}

function committed(jobs: readonly SubmitJob[]): void {
  for (const job of jobs) queue.beginCommitted(job)
  pumpAll()
}

beforeEach(async () => {
  smsc = await startSmsc()
  queue = new CarrierQueue(nothing)
  received = []
  begun = 0
  hurried = 0
  links = new CarrierLinks<SubmitToken>({ timings: {}, log: quietLog })
  const carriers = [aCarrier({ id: 1, port: smsc.port, window: WINDOW })]
  const directory = aDirectory({ carriers })
  links.heardBy({
    submitter: {
      onReady: nothing,
      onTimeout: nothing,
      onLateResponse: nothing,
      onLost: nothing,
      onResponse() {
        begun -= 1
        pumpAll()
      },
    },
    receiver: new Receiver({
      directory: () => directory,
      clock: Date.now,
      inProgress: { hurry },
      recorder: { failing: false },
      siblings: { handOver: ({ done }) => received.push(() => done?.(true)) > 0 },
    } as ReceiverOptions),
  })
  links.adopt(directory, () => true)
  await eventually(() => links.canSubmit(1))
})

afterEach(async () => {
  queue.stop()
  await links.stop()
  await smsc[Symbol.asyncDispose]()
})

test('messages that wait to begin are hurried when none is in flight', async () => {
  const answers: (() => void)[] = []
  smsc.answerSubmits((pdu, peer) => answers.push(() => smsc.accept(pdu, peer)))
  const jobs = Array.from({ length: 6 }, () => aJob())
  for (const job of jobs) queue.push(job)
  pumpAll()
  expect([queue.beginning, hurried]).toEqual([WINDOW, 1])
  committed(jobs.slice(0, WINDOW))
  await eventually(() => answers.length === WINDOW)
  for (const answer of answers.slice(0, 2)) answer()
  await eventually(() => queue.beginning === 2)
  expect(hurried).toBe(1)
  answers[2]!()
  await eventually(() => queue.beginning === WINDOW)
  expect(hurried).toBe(2)
})

test('receipts are hurried when they fill the window', async () => {
  const first = Array.from({ length: WINDOW - 1 }, () => smsc.receipt('m', 'DELIVRD'))
  await eventually(() => received.length === WINDOW - 1)
  expect(hurried).toBe(0)
  const last = smsc.receipt('m', 'DELIVRD')
  await eventually(() => received.length === WINDOW)
  expect(hurried).toBe(1)
  for (const answer of received) answer()
  expect(await Promise.all([...first, last])).toEqual([0, 0, 0])
})
