import type { Worker } from 'node:worker_threads'
import { afterAll, expect, test } from 'vitest'
import { clockedDeliveries } from '../../support/clocked-deliveries.ts'
import { eventually } from '../../support/service.ts'
import type { ReceivedWebhook } from '../../support/webhook-receiver.ts'

let thread: Worker
const born = (worker: Worker) => {
  thread = worker
}
process.on('worker', born)
afterAll(() => void process.off('worker', born))

const walk = await clockedDeliveries({ isThreaded: true })

test('an event with which the thread dies waits longer each time; what else the thread had is sent after the first wait', async () => {
  const poisoned = await walk.announced()
  const other = await walk.announced()
  const isPoisoned = ({ headers }: ReceivedWebhook) => String(headers['webhook-id']).startsWith(poisoned)
  let open = 0
  walk.answerWith(() => {
    open += 1
    if (open === 2) void thread.terminate()
  })
  await walk.run()
  expect(await walk.deliveries()).toMatchObject([
    { failedAttempts: 0, held: false },
    { failedAttempts: 0, held: false },
  ])
  walk.answerWith(async (exchange) => {
    if (!isPoisoned(exchange.request)) exchange.respond(200)
    else {
      await eventually(async () => (await walk.deliveries()).every(({ msgId }) => msgId !== other))
      await thread.terminate()
    }
  })
  const waits: number[] = []
  for (let deaths = 2; deaths <= 4; deaths += 1) waits.push((await walk.runNext()).afterMs)
  expect(waits).toEqual([5_000, 10_000, 20_000])
  expect(await walk.deliveries()).toMatchObject([{ msgId: poisoned, failedAttempts: 0, held: false }])
  walk.acknowledge()
  expect((await walk.runNext()).afterMs).toBe(40_000)
  expect(await walk.deliveries()).toEqual([])
})
