/** What is to be committed on a worker and on the coordinator, when only one of them does. */
import { expect, test } from 'vitest'
import { encodeEntry } from '../../src/domain/journal/entries.ts'
import { loadedMessage } from '../../src/domain/journal/messages-in-progress.ts'
import { recordReceipts } from '../../src/operations/record-receipts.ts'
import { withTransaction } from '../../src/store/database.ts'
import { type AttemptRow, recordAttempts } from '../../src/store/event-deliveries.ts'
import { appendEntry, openLane } from '../../src/store/journal.ts'
import { withKindsNoted } from '../../src/store/message-kinds.ts'
import type { LoadedMessage } from '../../src/store/messages-at-rest.ts'
import { projectMessages } from '../../src/store/projection.ts'
import { redeliverOne } from '../../src/store/redeliveries.ts'
import { eventually } from '../support/eventually.ts'
import { newId } from '../support/installation.ts'
import {
  NODE,
  receipt,
  receiptOptions,
  recordOutcomes,
  sent,
  storeMessage,
  submission,
} from '../support/stored-messages.ts'
import { requestFor, takeDue } from '../support/taken.ts'
import { createPlans, migrated, ownCluster, SHARDS, workerOf } from './cluster.ts'

const cluster = await ownCluster()
const db = await migrated(cluster, 4)
const plans = await createPlans(db, 8)
const planId = plans[0]!
const worker = await workerOf(cluster, db, planId)

/** At the COMMIT of what the worker has changed in this table, `then` (PL/pgSQL) is done. */
async function atCommit(table: string, then: string) {
  const { rows } = await worker.run(
    ...SHARDS,
    `create function at_commit() returns trigger language plpgsql as $$ begin ${then}; return null; end $$`,
    `select relname as shard from pg_class where relname ~ '^${table}_[0-9]{6}$' and relkind in ('r', 'p')`,
  )
  const shards = rows.map(({ shard }): string => shard)
  const onEach = (statement: (shard: string) => string) => worker.run(...SHARDS, ...shards.map(statement))
  await onEach(
    (shard) => `
      create constraint trigger at_commit after insert or update on ${shard} deferrable initially deferred
      for each row execute function at_commit()`,
  )
  return {
    async [Symbol.asyncDispose]() {
      await onEach((shard) => `drop trigger at_commit on ${shard}`)
      await worker.run(...SHARDS, 'drop function at_commit()')
    },
  }
}

const refuse = `raise exception 'no room' using errcode = '53100'`
const countOf = async (of: string, ...values: unknown[]) =>
  (await db.query(`select count(*)::integer as n from ${of}`, values)).rows[0].n

test('kinds that a worker does not commit are noted again', async () => {
  const kind = { ...{ planId, msgId: newId(Date.now()), sender: 'Rare' }, ...{ country: 'US', mccmnc: null } }
  const note = () => withKindsNoted(db, [{ ...kind, status: 'QUEUED' }], async () => undefined)
  {
    await using _ = await atCommit('message_kinds', refuse)
    await expect(note()).rejects.toThrow('no room')
  }
  await note()
  expect(await countOf('message_kinds where plan_id = $1 and sender = $2', planId, 'Rare')).toBe(1)
})

const attemptOf = (msgId: string, changes: Partial<AttemptRow>): AttemptRow => ({
  ...{ planId, msgId, sequence: 1, holder: NODE, failedAttempts: 1, attempt: 1, latencyMs: 12 },
  ...{ attemptedAt: new Date().toISOString(), responseStatus: 500, error: null, responseHead: null },
  ...{ destination: 'https://example.com', waited: false, decision: 'again', delayMs: 1_000 },
  ...changes,
})

test.each<[string, string, Partial<AttemptRow>]>([
  ['an event was taken', 'events', { decision: 'delivered', responseStatus: 200 }],
  ['an attempt failed', 'webhook_attempts', {}],
])('that %s is not recorded where the worker does not commit it', async (_, table, changes) => {
  const msgId = await storeMessage(db, planId)
  await recordOutcomes(db, [submission(planId, msgId, msgId), sent(planId, msgId)])
  const record = () => recordAttempts(db, [attemptOf(msgId, changes)])
  const held = 'event_deliveries where msg_id = $1 and holder is not null'
  {
    await using _ = await atCommit(table, refuse)
    await expect(record()).rejects.toThrow('no room')
    expect(await countOf(held, msgId)).toBe(1)
  }
  await record()
  expect(await countOf(held, msgId)).toBe(0)
})

test('an event is not redelivered where the worker does not commit what is known of its first attempt', async () => {
  const msgId = await storeMessage(db, planId)
  await recordOutcomes(db, [submission(planId, msgId, msgId), sent(planId, msgId)])
  await recordAttempts(db, [attemptOf(msgId, { decision: 'delivered', responseStatus: 200 })])
  const redeliver = () => redeliverOne(db, planId, { msgId, sequence: 1 })
  {
    await using _ = await atCommit('webhook_attempts', refuse)
    await expect(redeliver()).rejects.toThrow('no room')
    expect(await countOf('event_deliveries where msg_id = $1', msgId)).toBe(0)
  }
  expect(await redeliver()).toBe('queued')
  expect(await countOf('webhook_attempts where msg_id = $1 and plan_id = $2', msgId, planId)).toBe(1)
})

test('a message is not lost when the coordinator is killed while a worker commits that it is at rest', async () => {
  const msgId = await storeMessage(db, planId)
  const lane = await openLane(db, NODE)
  const [loaded] = await withTransaction(db, async (tx): Promise<LoadedMessage[]> => {
    const taken = await takeDue(db, tx, lane.lane, { ...requestFor(planId), limit: 100 })
    const its = taken.filter((one) => one.msgId === msgId)
    await appendEntry(
      tx,
      lane,
      1,
      encodeEntry(its.map((one) => ({ msgId, fact: { kind: 'loaded', ...one } }))),
    )
    return its
  })
  const message = loadedMessage(msgId, loaded!)
  const project = () => projectMessages(db, lane, [{ message, holder: null, delivers: false }], 1)
  const waiting = `select from pg_stat_activity where wait_event = 'advisory'`
  const holder = await worker.connect()
  await holder.query('select pg_advisory_lock(1)')
  {
    await using _ = await atCommit('messages', 'perform pg_advisory_lock(1); perform pg_advisory_unlock(1)')
    const projected = project().catch((error: unknown) => error)
    await eventually(async () => (await holder.query(waiting)).rowCount === 1)
    await cluster.coordinator.kill()
    expect(await projected).toBeInstanceOf(Error)
    await holder.query('select pg_advisory_unlock(1)')
    await eventually(async () => (await holder.query(`${waiting} or query like 'COMMIT%'`)).rowCount === 0)
    await holder.end()
    await cluster.coordinator.start()
    await db.query('select recover_prepared_transactions()')
  }
  expect(await project()).toBe('written')
  expect(await countOf('dispatches where msg_id = $1', msgId)).toBe(1)
})

/** A take names its lane in the messages first, in a transaction of its own. */
test('a receipt is recorded for a message whose take has failed', async () => {
  const msgId = await storeMessage(db, planId)
  await recordOutcomes(db, [submission(planId, msgId, msgId)])
  const { lane } = await openLane(db, NODE)
  const taken = withTransaction(db, async (tx) => {
    await takeDue(db, tx, lane, requestFor(planId))
    throw new Error('the entry is not appended')
  })
  await expect(taken).rejects.toThrow('the entry is not appended')
  const recorded = await recordReceipts(db, [receipt(msgId, 'DELIVERED')], receiptOptions())
  expect(recorded.changed).toMatchObject([{ msgId, status: 'DELIVERED' }])
  expect(await countOf('parked_receipts')).toBe(0)
})
