import { afterAll, expect, test } from 'vitest'
import { recordReceipts } from '../../src/operations/record-receipts.ts'
import { serversOfPlans } from '../../src/store/citus.ts'
import { withTransaction } from '../../src/store/database.ts'
import { lockDueDispatches, takeDispatches } from '../../src/store/dispatches.ts'
import { takeDueEvents, takeParkedEvents, takeProbes } from '../../src/store/due-deliveries.ts'
import { type AttemptRow, recordAttempts, requeueEvents } from '../../src/store/event-deliveries.ts'
import { feedEnd, readFeed } from '../../src/store/event-feed.ts'
import { insertInboundMessages } from '../../src/store/inbound-messages.ts'
import { listMessages } from '../../src/store/message-list.ts'
import { findMessage } from '../../src/store/messages.ts'
import { openBreaker } from '../../src/store/webhook-destinations.ts'
import { signalAll } from '../faults/postgres-server.ts'
import { newId } from '../support/installation.ts'
import { LaneWriter, received, settled } from '../support/lane-writer.ts'
import { NO_FILTERS } from '../support/list-walks.ts'
import {
  HOLDER,
  insertMessages,
  NOBODY,
  NODE,
  newMessage,
  receipt,
  receiptOptions,
  recordOutcomes,
  sent,
  storeMessage,
  submission,
} from '../support/stored-messages.ts'
import { createPlans, migrated, ownCluster, workerOf } from './cluster.ts'

const DESTINATION = 'https://example.com'

const cluster = await ownCluster()
const db = await migrated(cluster, 4)
const plans = await createPlans(db, 8)
const servers = await serversOfPlans(db)
const away = plans.filter((planId) => servers.get(planId) === servers.get(plans[0]!))
const [one, other] = plans.filter((planId) => !away.includes(planId)) as [number, number]
const node = await LaneWriter.open(db, NODE)
const [inMemory = ''] = await node.accept(one)
const msgId = await storeMessage(db, one)
const taker = { nodeId: NODE, buckets: HOLDER.buckets, limit: 10 }
db.awayPlans = new Set(away)

const worker = await workerOf(cluster, db, plans[0]!)
signalAll(worker.pids, 'SIGSTOP')
afterAll(() => signalAll(worker.pids, 'SIGCONT'))

const attempt = (changes: Partial<AttemptRow>): AttemptRow => ({
  planId: one,
  msgId,
  sequence: 1,
  holder: NODE,
  failedAttempts: 1,
  attempt: 1,
  attemptedAt: new Date().toISOString(),
  latencyMs: 12,
  responseStatus: 500,
  error: null,
  responseHead: null,
  destination: DESTINATION,
  waited: true,
  decision: 'parked',
  delayMs: null,
  ...changes,
})

/** In this order: each is about what those before it have left. */
test.each<[string, () => Promise<unknown>, unknown?]>([
  ['messages are accepted into the records', () => insertMessages(db, [newMessage(one), newMessage(other)])],
  [
    'what is due is taken',
    () =>
      withTransaction(db, async (tx) => {
        const room = { room: 1, routes: {} }
        const due = await lockDueDispatches(tx, {
          ...{ buckets: HOLDER.buckets, plans: new Map([...away, other].map((id) => [id, room])) },
          ...{ closedRoutes: [], carriers: [1] },
          ...{ limit: 10, expired: false, overdueMs: 0 },
        })
        return await takeDispatches(db, tx, node.lane, due)
      }),
    [{ accepted: { planId: other } }],
  ],
  [
    'answers are recorded',
    () => recordOutcomes(db, [submission(one, msgId, msgId), sent(one, msgId)], NOBODY),
    [{ msgId, status: 'SENT' }],
  ],
  [
    'receipts are recorded',
    () => recordReceipts(db, [receipt(msgId, 'DELIVERED')], receiptOptions({ holder: NOBODY })),
    { changed: [{ msgId, status: 'DELIVERED' }] },
  ],
  [
    'receipts that come again are looked at closely',
    () => recordReceipts(db, [receipt(msgId, 'DELIVERED')], receiptOptions()),
    { changed: [] },
  ],
  [
    'records are written of what was in memory',
    async () => {
      await node.write([settled(inMemory), received(inMemory)])
      await node.project([inMemory])
      return node.size
    },
    0,
  ],
  ['due events are taken', () => takeDueEvents(db, { ...taker, limit: 1 }), [{ msgId, sequence: 1 }]],
  ['events are parked', () => recordAttempts(db, [attempt({})])],
  [
    'parked events are taken',
    () => takeParkedEvents(db, taker, { planId: one, destination: DESTINATION }),
    [{ msgId, sequence: 1 }],
  ],
  ['they are parked again', () => recordAttempts(db, [attempt({ attempt: 2 })])],
  [
    'breakers are opened',
    () => openBreaker(db, { planId: one, destination: DESTINATION, error: 'status 500', probeAfterMs: 0 }),
  ],
  ['probes are taken', () => takeProbes(db, taker, 1_000), [{ probe: { msgId } }]],
  [
    'events are put back',
    () =>
      requeueEvents(db, [{ planId: one, msgId, sequence: 1, holder: NODE, delayMs: 0, destination: null }]),
  ],
  [
    'events are delivered',
    async () => {
      await takeDueEvents(db, { ...taker, limit: 1 })
      await recordAttempts(db, [attempt({ decision: 'delivered', responseStatus: 200, attempt: 3 })])
    },
  ],
  [
    'inbound messages are recorded',
    () =>
      insertInboundMessages(
        db,
        [
          {
            ...{ planId: one, msgId: newId(Date.now()), carrierId: 1, parts: 1, partsExpected: 1 },
            ...{ sender: '+491701234567', recipient: '+49301234567', body: 'hello', keyword: null },
            ...{ announced: true, occurredAtMs: Date.now() },
          },
        ],
        NOBODY,
      ),
  ],
  [
    'messages are listed',
    async () =>
      (await listMessages(db, { planId: one, filters: NO_FILTERS, after: null, limit: 100 })).length,
    3,
  ],
  ['a message is looked up', () => findMessage(db, [one], msgId), { status: 'DELIVERED' }],
  [
    'the feed is read',
    async () => {
      const page = { planId: one, filters: { since: null }, after: null, limit: 100 }
      return (await readFeed(db, page, await feedEnd(db, one))).length
    },
    5,
  ],
])('while a worker hangs, for plans of the other: %s', async (_, work, expected) => {
  const result = await work()
  if (Array.isArray(expected)) expect(result).toMatchObject(expected)
  else if (typeof expected === 'object') expect(result).toMatchObject(expected as object)
  else if (expected !== undefined) expect(result).toBe(expected)
})
