import { beforeEach, describe, expect, test } from 'vitest'
import { bucketOf } from '../../src/domain/message-ids.ts'
import { sqlState } from '../../src/store/database.ts'
import {
  findByIdempotencyKeys,
  findMessage,
  insertKeyedMessages,
  insertMessages,
  refuseMessages,
  settleLostMessages,
} from '../../src/store/messages.ts'
import { recordSubmissions } from '../../src/store/submissions.ts'
import { installedDatabase, newId, otherPool } from '../support/installation.ts'
import { HOLDER, NODE, newMessage, sent, statusOf } from '../support/stored-messages.ts'

const KEY_LIFETIME_MS = 86_400_000

const { db, connectionString, announcedPlan: plan, silentPlan: otherPlan } = await installedDatabase()

beforeEach(() => db.query('truncate messages, dispatches, idempotency_keys, events, event_deliveries'))

const keyed = (key: string, request = 'request', changes: Parameters<typeof newMessage>[1] = {}) => ({
  ...newMessage(plan, changes),
  key_hash: Buffer.from(key.padEnd(32)).toString('hex'),
  request_hash: Buffer.from(request.padEnd(32)).toString('hex'),
})

async function insertKeyed(rows: ReturnType<typeof keyed>[], pool = db): Promise<string[]> {
  const stored = await insertKeyedMessages(pool, rows, KEY_LIFETIME_MS, '100')
  return stored.map(({ msg_id }) => msg_id)
}

async function dispatched(msgId: string): Promise<boolean> {
  return (await db.query('select 1 from dispatches where msg_id = $1', [msgId])).rows.length === 1
}

describe('storing', () => {
  test('a message as it was accepted, with its dispatch', async () => {
    const row = newMessage(plan, { body: 'Grüße 🚢\n"quoted" \\ back', segments: 2, sender: '__proto__' })
    await insertMessages(db, [row])
    expect(await findMessage(db, [plan], row.msg_id)).toEqual({
      planId: plan,
      msgId: row.msg_id,
      status: 'QUEUED',
      sender: '__proto__',
      recipient: '+15551230000',
      body: 'Grüße 🚢\n"quoted" \\ back',
      segments: 2,
      callbackUrl: 'https://example.com/dlr',
      country: 'US',
      mccmnc: null,
      errorCode: '000',
      price: null,
      ptf: null,
      currency: null,
      sentAt: null,
      updatedAt: new Date(row.created_ms),
      lane: null,
    })
    const { rows } = await db.query(
      `select bucket, holder, attempt, ambiguous, extract(epoch from expires_at - due_at) * 1000 as validity
       from dispatches where msg_id = $1`,
      [row.msg_id],
    )
    expect(rows).toMatchObject([{ bucket: bucketOf(row.msg_id), holder: NODE, attempt: 0, ambiguous: false }])
    expect(Number(rows[0].validity)).toBe(row.validity_ms)
  })

  test('all of a batch or none of it', async () => {
    const good = newMessage(plan)
    const bad = newMessage(plan, { body: 'nul \0' })
    await expect(insertMessages(db, [good, bad])).rejects.toSatisfy((error) =>
      ['22P05', '22021'].includes(sqlState(error) ?? ''),
    )
    expect(await findMessage(db, [plan], good.msg_id)).toBeNull()
    expect(await dispatched(good.msg_id)).toBe(false)
  })

  test('is found under its own plan alone', async () => {
    const row = newMessage(plan)
    await insertMessages(db, [row])
    expect(await findMessage(db, [otherPlan], row.msg_id)).toBeNull()
    expect(await findMessage(db, [], row.msg_id)).toBeNull()
    expect(await findMessage(db, [otherPlan, plan], row.msg_id)).not.toBeNull()
    expect(await findMessage(db, [plan], newId(Date.now()))).toBeNull()
  })
})

describe('storing under keys', () => {
  test('a live key is not taken twice; the first message is found by it', async () => {
    const [first, second, other] = [keyed('a'), keyed('a', 'changed'), keyed('b')]
    expect(await insertKeyed([first])).toEqual([first.msg_id])
    expect(await insertKeyed([second, other])).toEqual([other.msg_id])
    expect(await findMessage(db, [plan], second.msg_id)).toBeNull()
    expect(await dispatched(second.msg_id)).toBe(false)
    const found = await findByIdempotencyKeys(db, [second])
    expect(found).toMatchObject([
      { msgId: first.msg_id, keyHash: first.key_hash, requestHash: first.request_hash, status: 'QUEUED' },
    ])
  })

  test('plans have keys of their own', async () => {
    const [one, two] = [keyed('same'), { ...keyed('same'), plan_id: otherPlan }]
    expect(new Set(await insertKeyed([one, two]))).toEqual(new Set([one.msg_id, two.msg_id]))
  })

  test('an old key is taken over', async () => {
    const old = keyed('old', 'request', { created_ms: Date.now() - KEY_LIFETIME_MS - 1_000 })
    const young = keyed('old')
    await insertKeyed([old])
    expect(await insertKeyed([young])).toEqual([young.msg_id])
    expect(await findByIdempotencyKeys(db, [young])).toMatchObject([{ msgId: young.msg_id }])
  })

  test('of two nodes at once one wins', async () => {
    await using other = otherPool(connectionString)
    for (let round = 0; round < 10; round += 1) {
      const [one, two] = [keyed(`race ${round}`), keyed(`race ${round}`)]
      const stored = await Promise.all([insertKeyed([one]), insertKeyed([two], other.db)])
      expect(stored.flat()).toHaveLength(1)
      expect(await findByIdempotencyKeys(db, [one])).toMatchObject([{ msgId: stored.flat()[0] }])
    }
  })
})

describe('a COMMIT whose answer was lost', () => {
  test('settling: what is there stays, the rest is FAILED and can never be QUEUED', async () => {
    const [there, gone] = [newMessage(plan), newMessage(plan)]
    await insertMessages(db, [there])
    expect(await settleLostMessages(db, [there, gone], '100')).toEqual([gone.msg_id])
    expect([await statusOf(db, there.msg_id), await statusOf(db, gone.msg_id)]).toEqual(['QUEUED', 'FAILED'])
    expect([await dispatched(there.msg_id), await dispatched(gone.msg_id)]).toEqual([true, false])
    await expect(insertMessages(db, [gone])).rejects.toSatisfy((error) => sqlState(error) === '23505')
    expect(await dispatched(gone.msg_id)).toBe(false)
    expect(await findMessage(db, [plan], gone.msg_id)).toMatchObject({ errorCode: '100' })
  })

  test('settling waits for the statement that is still under way', async () => {
    const row = newMessage(plan)
    const client = await db.connect()
    await client.query('begin')
    await insertMessages(client, [row])
    const settled = settleLostMessages(db, [row], '100')
    await client.query('commit')
    client.release()
    expect(await settled).toEqual([])
    expect(await statusOf(db, row.msg_id)).toBe('QUEUED')
  })

  test('refusing: FAILED and not dispatched, stored or not; what has gone on is left', async () => {
    const [there, gone, beyond] = [newMessage(plan), newMessage(plan), newMessage(plan)]
    await insertMessages(db, [there, beyond])
    await recordSubmissions(db, {
      settlements: [sent(plan, beyond.msg_id)],
      submissions: [],
      changedAt: new Date().toISOString(),
      events: HOLDER,
    })
    await refuseMessages(db, [there, gone, beyond], '100')
    await refuseMessages(db, [there, gone, beyond], '100')
    const statuses = [there, gone, beyond].map(({ msg_id }) => statusOf(db, msg_id))
    expect(await Promise.all(statuses)).toEqual(['FAILED', 'FAILED', 'SENT'])
    expect(await dispatched(there.msg_id)).toBe(false)
  })
})
