import { expect, test } from 'vitest'
import { clockedDeliveries } from '../../support/clocked-deliveries.ts'
import { eventually } from '../../support/eventually.ts'
import type { WebhookExchange } from '../../support/webhook-receiver.ts'

/** One request at a time. With fewer events than CROWD, each to another destination, a plan has all the memory it may have. */
const limits = { perEndpoint: 1, perDestination: 1, perPlan: 1, perNode: 1 }
const CROWD = 40
const walk = await clockedDeliveries({ limits, maxHeld: 40 })

test('a probe is sent although its plan has no room in memory', async () => {
  const held: WebhookExchange[] = []
  walk.answerWith((exchange) => held.push(exchange))
  const probed = await walk.announced('dead')
  const { rows } = await walk.db.query<{ destination: string }>(
    `update event_deliveries d set state = 'parked', due_at = now() + interval '1 day',
       destination = substring(m.callback_url from '^https://[^/]*')
     from messages m where m.msg_id = d.msg_id returning d.destination`,
  )
  await walk.db.query(
    `insert into webhook_destinations (plan_id, destination, state, probe_at) values ($1, $2, 'open', now() + interval '1 minute')`,
    [walk.plan, rows[0]!.destination],
  )
  await walk.destinations.runOnce()
  for (let host = 0; host < CROWD; host += 1) await walk.announced(`host-${host}`)
  let full = 0
  for (; walk.deliverer.heldMessages > full || full === 0; await walk.deliverer.due.runOnce())
    full = walk.deliverer.heldMessages
  expect(full).toBeLessThan(CROWD)
  await walk.db.query('update webhook_destinations set probe_at = now()')
  await walk.deliverer.due.runOnce()
  expect(walk.deliverer.heldMessages).toBe(full + 1)
  await eventually(() => held.length === 1)
  walk.acknowledge()
  held[0]!.respond(200)
  await eventually(() => walk.received.some(({ msgId }) => msgId === probed))
})
