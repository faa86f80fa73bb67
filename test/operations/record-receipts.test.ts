import { expect, test } from 'vitest'
import { recordFacts } from '../../src/operations/record-facts.ts'
import { recordReceipts } from '../../src/operations/record-receipts.ts'
import type { Database } from '../../src/store/database.ts'
import { findMessageForOperator } from '../../src/store/messages.ts'
import { findParkedReceipts } from '../../src/store/parked-receipts.ts'
import { CARRIER_ID } from '../support/installation.ts'
import { recordedMessages } from '../support/recorded-messages.ts'
import {
  announced,
  receipt,
  receiptOptions,
  sent,
  storeMessage,
  submission,
} from '../support/stored-messages.ts'

const { db, plan, record, submitted, apply } = await recordedMessages()

test('all kinds in one batch: each message changes once, with one event', async () => {
  const [one, long] = [await submitted(), await submitted(2)]
  const early = await storeMessage(db, plan)
  await apply([receipt('early', 'FAILED')])
  const { rows: parked } = await db.query('select id from parked_receipts')
  await record([sent(plan, early)], [submission(plan, early, 'early')])
  await db.query('delete from event_deliveries')
  const changed = await apply([
    receipt(`${long}/0`, 'DELIVERED'),
    receipt('early', 'FAILED', { parkedId: parked[0].id }),
    receipt(`${one}/0`, 'DELIVERED'),
    receipt(`${long}/1`, 'DELIVERED'),
    receipt('untranslated', 'DELIVERED', { untranslated: true }),
  ])
  expect(changed.map(({ msgId, status, held }) => `${msgId} ${status} ${held}`).sort()).toEqual(
    [`${one} DELIVERED true`, `${long} DELIVERED true`, `${early} FAILED true`].sort(),
  )
  expect(await announced(db, long)).toEqual(['SENT', 'DELIVERED'])
  const { rows: left } = await db.query('select carrier_message_id as id, untranslated from parked_receipts')
  expect(left).toEqual([{ id: 'untranslated', untranslated: true }])
})

test('on several servers: a receipt waits among the parked ones until the record of its message shows', async () => {
  const msgId = await submitted()
  const sharded: Database = Object.create(db, { sharded: { value: true } })
  const told = receipt(`${msgId}/0`, 'DELIVERED')
  const key = { carrierId: CARRIER_ID, carrierMessageId: told.carrierMessageId }
  await db.query('create table hidden as select * from messages where msg_id = $1', [msgId])
  await db.query('delete from messages where msg_id = $1', [msgId])
  expect(await apply([told], { pool: sharded })).toEqual([])
  const [parked] = await findParkedReceipts(db, [key])
  expect(await apply([parked!], { pool: sharded })).toEqual([])
  expect(await findParkedReceipts(db, [key])).toEqual([parked])
  await db.query('insert into messages select * from hidden')
  expect(await apply([parked!], { pool: sharded })).toMatchObject([{ msgId, status: 'DELIVERED' }])
  expect(await findParkedReceipts(db, [key])).toEqual([])
})

test('nothing to do: nothing is asked of the database', async () => {
  const nobody = { connect: () => Promise.reject(new Error('asked')) } as unknown as Database
  await recordReceipts(nobody, [], receiptOptions())
  await recordFacts(nobody, [], receiptOptions())
})

test('every receipt is kept: the one that ends a message of one segment in its event, any other in a row of its own', async () => {
  const [one, long] = [await submitted(), await submitted(2)]
  const told = (text: string) => ({ receipt: { text, tlvs: { message_state: '2' } } })
  await apply([receipt(`${one}/0`, 'UNKNOWN', told('first'))])
  await apply([receipt(`${one}/0`, 'UNKNOWN', told('again'))])
  await apply([
    receipt(`${one}/0`, 'DELIVERED', told('last')),
    receipt(`${long}/0`, 'DELIVERED', told('part')),
  ])
  await apply([receipt(`${one}/0`, 'FAILED', told('late'))])
  await apply([receipt(`${long}/1`, 'SENT', told('on its way')), receipt('unheard of', 'SENT')])
  const { rows } = await db.query(
    `select msg_id, 'event ' || sequence as place, receipt->>'text' as text from events where receipt is not null
     union all select msg_id, 'row ' || outcome, receipt->>'text' from receipts order by 1, 2`,
  )
  const kept = (msgId: string) =>
    rows.flatMap((row) => (row.msg_id === msgId ? [`${row.place}: ${row.text}`] : []))
  expect(kept(one)).toEqual(['event 2: first', 'event 3: last', 'row FAILED: late', 'row UNKNOWN: again'])
  expect(kept(long)).toEqual(['row DELIVERED: part', 'row SENT: on its way'])
  const parked = await findParkedReceipts(db, [{ carrierId: CARRIER_ID, carrierMessageId: 'unheard of' }])
  expect(parked).toEqual([])
  const story = await findMessageForOperator(db, one)
  expect(story!.receipts.map(({ outcome, receipt }) => [outcome, receipt])).toEqual([
    ['UNKNOWN', told('first').receipt],
    ['UNKNOWN', told('again').receipt],
    ['DELIVERED', told('last').receipt],
    ['FAILED', told('late').receipt],
  ])
})

test('receipts of one message in one batch take effect one after the other', async () => {
  const one = await submitted()
  await db.query('delete from event_deliveries')
  const changed = await apply([
    receipt(`${one}/0`, 'UNKNOWN'),
    receipt(`${one}/0`, 'DELIVERED'),
    receipt(`${one}/0`, 'FAILED'),
  ])
  expect(changed.map(({ status, sequence, held }) => [status, sequence, held])).toEqual([
    ['UNKNOWN', 2, true],
    ['DELIVERED', 3, true],
  ])
  expect(await announced(db, one)).toEqual(['SENT', 'UNKNOWN', 'DELIVERED'])
  const { receipts } = (await findMessageForOperator(db, one))!
  expect(receipts.map(({ outcome }) => outcome).sort()).toEqual(['DELIVERED', 'FAILED', 'UNKNOWN'])
})

test('two parked receipts of one message that came within a millisecond are both kept', async () => {
  const msgId = await storeMessage(db, plan)
  const second = new Date(Date.now() - 60_000).toISOString().slice(0, -'.000Z'.length)
  const times = ['123456', '123457'].map((us) => `${second}.${us}Z`)
  await apply(times.map((receivedAt) => receipt('twice', 'DELIVERED', { receivedAt })))
  await record([sent(plan, msgId)], [submission(plan, msgId, 'twice', 0)])
  const found = await findParkedReceipts(db, [{ carrierId: CARRIER_ID, carrierMessageId: 'twice' }])
  expect(found.map(({ receivedAt }) => receivedAt)).toEqual(times)
  await apply(found)
  const { receipts } = (await findMessageForOperator(db, msgId))!
  expect(receipts.map(({ outcome }) => outcome)).toEqual(['DELIVERED', 'DELIVERED'])
})

test('a parked receipt keeps what was received', async () => {
  const msgId = await storeMessage(db, plan)
  const receivedAt = new Date(Date.now() - 60_000).toISOString()
  const parked = receipt('parked', 'FAILED', { receivedAt, receipt: { text: 'as it came', tlvs: {} } })
  await apply([parked])
  await record([sent(plan, msgId)], [submission(plan, msgId, 'parked', 0)])
  const found = await findParkedReceipts(db, [{ carrierId: parked.carrierId, carrierMessageId: 'parked' }])
  await apply(found)
  const story = await findMessageForOperator(db, msgId)
  expect(story!.receipts).toEqual([
    {
      receivedAt: parked.receivedAt,
      matchedAt: story!.updatedAt.toISOString(),
      carrier: null,
      carrierMessageId: 'parked',
      outcome: 'FAILED',
      errorCode: '300',
      receipt: parked.receipt,
    },
  ])
})
