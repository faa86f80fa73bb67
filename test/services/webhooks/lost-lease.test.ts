import { afterEach, expect, test, vi } from 'vitest'
import { CLOCKED_LEASE_MS, clockedDeliveries } from '../../support/clocked-deliveries.ts'
import { eventually } from '../../support/eventually.ts'
import type { WebhookExchange } from '../../support/webhook-receiver.ts'

/** Half of it is one endpoint's. */
const limits = { perEndpoint: 4, perDestination: 4, perPlan: 4, perNode: 4 }
const walk = await clockedDeliveries({ limits })

afterEach(() => void vi.restoreAllMocks())

/** As if this process had been stopped for as long as its lease lasts. */
function standStill(): void {
  const clock = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => clock() + CLOCKED_LEASE_MS)
}

/** Another node has found the lease over, and this one learns of it. */
async function loseLease(): Promise<void> {
  await walk.db.query('delete from nodes where node_id = $1', [walk.lease.nodeId])
  await walk.lease.runOnce()
}

/** The receiver keeps requests, up to `most`, unanswered. */
function heldRequests(most: number): WebhookExchange[] {
  const held: WebhookExchange[] = []
  walk.answerWith((exchange) => {
    if (held.length < most) held.push(exchange)
    else exchange.respond(200)
  })
  return held
}

test('nothing is sent while the lease may be over, and everything once it is renewed', async () => {
  const held = heldRequests(2)
  for (let count = 0; count < 3; count += 1) await walk.enqueued()
  await eventually(() => held.length === 2)
  standStill()
  for (const exchange of held) exchange.respond(200)
  await eventually(() => walk.deliverer.inFlight === 0 && walk.deliverer.heldMessages === 1)
  expect(walk.received).toHaveLength(2)
  await walk.lease.runOnce()
  await walk.settled()
  expect(walk.received).toHaveLength(3)
})

test('behind an event that was under way when the lease was lost, nothing is sent from memory', async () => {
  const held = heldRequests(1)
  await walk.enqueued({ delivered: true })
  await eventually(() => held.length === 1)
  await loseLease()
  expect(walk.deliverer.heldMessages).toBe(0)
  held[0]!.respond(200)
  await eventually(() => walk.deliverer.inFlight === 0)
  expect([walk.deliverer.heldMessages, walk.received.length]).toEqual([0, 1])
})

test('the answer to a request of a lost lease ends nothing that was read again', async () => {
  const held = heldRequests(2)
  const msgId = await walk.enqueued({ delivered: true })
  await eventually(() => held.length === 1)
  await loseLease()
  await walk.db.query('update event_deliveries set holder = null, due_at = now()')
  await walk.deliverer.due.runOnce()
  await eventually(() => held.length === 2)
  held[0]!.respond(200)
  await eventually(() => walk.deliverer.inFlight === 1)
  expect(await walk.deliveries()).toMatchObject([
    { msgId, sequence: 1, held: true },
    { msgId, sequence: 2 },
  ])
  held[1]!.respond(200)
  await walk.settled()
  await walk.runOut()
  expect(walk.received.map(({ headers }) => headers['aldis-sequence'])).toEqual(['1', '1', '2'])
})

test('an event that was written before the lease was lost is not sent from memory after it', async () => {
  heldRequests(0)
  await walk.enqueued({ meanwhile: loseLease })
  await eventually(() => walk.deliverer.heldMessages === 0)
  expect(walk.received).toEqual([])
  await walk.db.query('update event_deliveries set holder = null, due_at = now()')
  await walk.runOut()
  expect(walk.received).toHaveLength(1)
})
