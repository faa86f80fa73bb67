import { beforeEach, describe, expect, test } from 'vitest'
import { bucketOf } from '../../src/domain/identifiers.ts'
import { sqlState, withTransaction } from '../../src/store/database.ts'
import { findMessage } from '../../src/store/messages.ts'
import { decideUncertainMessages, writeRecords } from '../../src/store/records.ts'
import { eventually } from '../support/eventually.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { lockWaits } from '../support/lock-waits.ts'
import {
  clearTables,
  insertMessages,
  type NewMessage,
  newMessage,
  recordOf,
  statusOf,
} from '../support/stored-messages.ts'

const { db, announcedPlan: plan, silentPlan: otherPlan } = await installedDatabase()

beforeEach(() => clearTables(db, 'messages', 'dispatches', 'events', 'event_deliveries'))

const accepted = (row: NewMessage) => {
  const { msgId, accepted: contents } = recordOf(row).message
  return { msgId, accepted: contents }
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
      `select bucket, failed_attempts, ambiguous, extract(epoch from expires_at - due_at) * 1000 as validity
       from dispatches where msg_id = $1`,
      [row.msg_id],
    )
    expect(rows).toMatchObject([{ bucket: bucketOf(row.msg_id), failed_attempts: 0, ambiguous: false }])
    expect(Number(rows[0].validity)).toBe(row.validity_ms)
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

describe('a COMMIT whose answer was lost', () => {
  test('settling: what is there stays, the rest is FAILED and can never be QUEUED', async () => {
    const [there, gone] = [newMessage(plan), newMessage(plan)]
    await insertMessages(db, [there])
    expect(await decideUncertainMessages(db, [there, gone].map(accepted), '100')).toEqual(
      new Set([gone.msg_id]),
    )
    expect([await statusOf(db, there.msg_id), await statusOf(db, gone.msg_id)]).toEqual(['QUEUED', 'FAILED'])
    expect([await dispatched(there.msg_id), await dispatched(gone.msg_id)]).toEqual([true, false])
    await expect(insertMessages(db, [gone])).rejects.toSatisfy((error) => sqlState(error) === '23505')
    expect(await dispatched(gone.msg_id)).toBe(false)
    expect(await findMessage(db, [plan], gone.msg_id)).toMatchObject({ errorCode: '100' })
  })

  test('settling waits for the transaction that is still in flight', async () => {
    const row = newMessage(plan)
    const stored = Promise.withResolvers<void>()
    const committing = Promise.withResolvers<void>()
    const writing = withTransaction(db, async (tx) => {
      await writeRecords(tx, [recordOf(row)], null)
      stored.resolve()
      await committing.promise
    })
    await stored.promise
    const settled = decideUncertainMessages(db, [accepted(row)], '100')
    await eventually(() => lockWaits(db))
    committing.resolve()
    await writing
    expect(await settled).toEqual(new Set())
    expect(await statusOf(db, row.msg_id)).toBe('QUEUED')
  })
})
