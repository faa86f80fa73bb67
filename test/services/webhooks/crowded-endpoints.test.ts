import { expect, test } from 'vitest'
import { IN_FLIGHT_LIMITS } from '../../../src/domain/webhooks/delivery-scheduler.ts'
import { clockedDeliveries } from '../../support/clocked-deliveries.ts'
import { eventually } from '../../support/service.ts'

/** Of a destination one event is under way and two wait in memory. */
const walk = await clockedDeliveries({ limits: { ...IN_FLIGHT_LIMITS, perEndpoint: 1 }, maxHeld: 8 })
const { enqueued, deliveries, gate, look, runOut } = walk

test('an event that finds no room is fetched as soon as it is parked, also where a look came before that', async () => {
  const answers: (() => void)[] = []
  walk.answerWith((exchange) => answers.push(() => exchange.respond(200)))
  const write = gate('requeue_events')
  for (let count = 0; count < 4; count += 1) await enqueued()
  await eventually(() => answers.length === 1)
  walk.acknowledge()
  answers[0]!()
  await eventually(() => walk.deliverer.heldMessages === 0)
  await look()
  write()
  await eventually(async () => (await deliveries()).every(({ held }) => !held))
  expect(await deliveries()).toMatchObject([{ state: 'parked' }])
  await runOut()
  expect(walk.received).toHaveLength(4)
})
