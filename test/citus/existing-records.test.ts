import { expect, test } from 'vitest'
import type { Database } from '../../src/store/database.ts'
import { feedEnd, readFeed } from '../../src/store/event-feed.ts'
import { listMessages } from '../../src/store/message-list.ts'
import { migrate } from '../../src/store/migrate.ts'
import { LaneWriter, received, settled } from '../support/lane-writer.ts'
import { NO_FILTERS } from '../support/list-walks.ts'
import { createPlans, migrated, unjoinedServers } from './cluster.ts'

const PLANS = 6
const OF_PLAN = 20

async function record(db: Database, plans: readonly number[]): Promise<void> {
  const node = await LaneWriter.open(db, 1)
  for (const planId of plans)
    for (let n = 0; n < OF_PLAN; n += 1) {
      const [msgId = ''] = await node.accept(planId)
      await node.write([settled(msgId), received(msgId)])
    }
  await node.project([...node.all()].map(({ msgId }) => msgId))
}

/** What customers read of each plan. */
const readAll = (db: Database, plans: readonly number[]) =>
  Promise.all(
    plans.map(async (planId) => ({
      messages: await listMessages(db, { planId, filters: NO_FILTERS, after: null, limit: 100 }),
      bySender: await listMessages(db, {
        ...{ planId, filters: { ...NO_FILTERS, from: 'Aldis', status: 'DELIVERED' as const } },
        ...{ after: null, limit: 100 },
      }),
      feed: await readFeed(
        db,
        { planId, filters: { since: null }, after: null, limit: 100 },
        await feedEnd(db, planId),
      ),
    })),
  )

test('a database that has records is distributed with them, and goes on', async () => {
  const servers = await unjoinedServers()
  const before = await migrated(servers, 4)
  const plans = await createPlans(before, PLANS)
  await record(before, plans)
  const records = await readAll(before, plans)
  expect(
    records.map(({ messages, bySender, feed }) => [messages.length, bySender.length, feed.length]),
  ).toEqual(plans.map(() => [OF_PLAN, OF_PLAN, 2 * OF_PLAN]))
  await before.end()

  await servers.join()
  const distributing = async () => {
    const lines: string[] = []
    await migrate({ connectionString: servers.connectionString, log: (line) => lines.push(line) })
    return lines.filter((line) => line.startsWith('distributed over the workers: messages, '))
  }
  expect(await distributing()).toHaveLength(1)
  const db = servers.open(4)
  expect(await readAll(db, plans)).toEqual(records)
  const { rows } = await db.query('select count(distinct nodeport)::integer as servers from citus_shards')
  expect(rows).toEqual([{ servers: 2 }])
  // A second time there is nothing left to do.
  expect(await distributing()).toEqual([])

  await record(db, plans)
  const more = await readAll(db, plans)
  expect(more.map(({ messages, feed }) => [messages.length, feed.length])).toEqual(
    plans.map(() => [2 * OF_PLAN, 4 * OF_PLAN]),
  )
  expect(more.map(({ feed }) => feed.slice(0, 2 * OF_PLAN))).toEqual(records.map(({ feed }) => feed))
})
