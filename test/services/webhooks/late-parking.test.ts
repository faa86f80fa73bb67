import { expect, test } from 'vitest'
import { BREAKER_THRESHOLD } from '../../../src/domain/webhooks/retries.ts'
import { withTransaction } from '../../../src/store/database.ts'
import { MAX_TROUBLED_OF_PLAN } from '../../../src/store/webhook-destinations.ts'
import { clockedDeliveries } from '../../support/clocked-deliveries.ts'
import { eventually } from '../../support/eventually.ts'
import type { WebhookExchange } from '../../support/webhook-receiver.ts'

const walk = await clockedDeliveries()
const { db, deliveries } = walk

/** As many requests as it takes to open a breaker. They are answered later. */
async function unanswered(): Promise<readonly WebhookExchange[]> {
  const exchanges: WebhookExchange[] = []
  walk.answerWith((exchange) => exchanges.push(exchange))
  for (let count = 0; count < BREAKER_THRESHOLD; count += 1) await walk.enqueued()
  await eventually(() => exchanges.length === BREAKER_THRESHOLD)
  walk.acknowledge()
  return exchanges
}

function fail(exchanges: readonly WebhookExchange[]): void {
  for (const exchange of exchanges) exchange.respond(502)
}

/** The last failure opened the breaker and its event was parked. It is delivered by the next look, before it is due. */
async function expectFetched(): Promise<void> {
  await eventually(() => walk.deliverer.heldMessages === 0)
  expect((await deliveries()).filter(({ state }) => state === 'parked')).toHaveLength(1)
  await walk.destinations.runOnce()
  await walk.look()
  expect(walk.received).toHaveLength(BREAKER_THRESHOLD + 1)
  expect((await deliveries()).map(({ state }) => state)).toEqual(Array(BREAKER_THRESHOLD - 1).fill('waiting'))
}

test('an event that is parked after its destination has recovered', async () => {
  const exchanges = await unanswered()
  await withTransaction(db, async (locker) => {
    await locker.query('select from event_deliveries for update')
    fail(exchanges)
    await eventually(async () => (await db.query('select from webhook_destinations')).rowCount === 1)
    await db.query('delete from webhook_destinations')
    await walk.destinations.runOnce()
  })
  await expectFetched()
})

test('an event that is parked where the plan has too many destinations in trouble, as others have found', async () => {
  const exchanges = await unanswered()
  await db.query(
    `insert into webhook_destinations (plan_id, destination, state)
     select $1, 'https://' || n || '.example.com', 'paused' from generate_series(1, $2::integer) n`,
    [walk.plan, MAX_TROUBLED_OF_PLAN],
  )
  fail(exchanges)
  await expectFetched()
})
