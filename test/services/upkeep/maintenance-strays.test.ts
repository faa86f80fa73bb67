import { beforeEach, expect, test } from 'vitest'
import { registerNode } from '../../../src/store/nodes.ts'
import { newId } from '../../support/installation.ts'
import { maintainedDatabase, NOW_MS } from '../../support/maintenance.ts'
import { clearTables } from '../../support/stored-messages.ts'

const DESTINATION = 'https://example.com'

const { db, announcedPlan, maintenance } = await maintainedDatabase()

beforeEach(async () => {
  await clearTables(db, 'event_deliveries')
  await db.query('delete from webhook_destinations')
})

/** A delivery that nobody would look at before three days are over. */
async function addDelivery(msgId: string, sequence: number, destination: string | null): Promise<void> {
  await db.query(
    `insert into event_deliveries (plan_id, msg_id, sequence, bucket, due_at, began_at, state, destination)
     values ($1, $2, $3, 7, now() + interval '3 days', now(), $4, $5)`,
    [announcedPlan, msgId, sequence, destination === null ? 'waiting' : 'parked', destination],
  )
}

/** What is due now, as `sequence`. */
async function due(): Promise<number[]> {
  const { rows } = await db.query<{ sequence: number }>(
    'select sequence from event_deliveries where due_at <= now() order by sequence',
  )
  return rows.map(({ sequence }) => sequence)
}

test('what is parked where there is no trouble, and what waits behind nothing, is due', async () => {
  await addDelivery(newId(NOW_MS), 1, DESTINATION)
  await addDelivery(newId(NOW_MS), 2, null)
  await maintenance().runOnce()
  expect(await due()).toEqual([1, 2])
})

test('what a node held that is no more is due', async () => {
  const living = await registerNode(db, 'living')
  for (const [index, holder] of [living + 1, living].entries()) {
    const msgId = newId(NOW_MS)
    await addDelivery(msgId, index + 1, DESTINATION)
    await db.query('update event_deliveries set holder = $2 where msg_id = $1', [msgId, holder])
  }
  await maintenance().runOnce()
  expect(await due()).toEqual([1])
})

test('not what is parked at an open breaker, nor what waits behind it', async () => {
  await db.query(`insert into webhook_destinations (plan_id, destination, state) values ($1, $2, 'open')`, [
    announcedPlan,
    DESTINATION,
  ])
  const msgId = newId(NOW_MS)
  await addDelivery(msgId, 1, DESTINATION)
  await addDelivery(msgId, 2, null)
  await maintenance().runOnce()
  expect(await due()).toEqual([])
})
