import { expect, test } from 'vitest'
import { UNKNOWN_REVERSIBLE_MS } from '../../src/domain/message-states.ts'
import type { ChangedMessage } from '../../src/domain/messages-in-progress.ts'
import { recordReceipts } from '../../src/operations/record-receipts.ts'
import type { Queryable } from '../../src/store/database.ts'
import { findMessageForOperator } from '../../src/store/messages-admin.ts'
import { findParkedReceipts } from '../../src/store/parked-receipts.ts'
import { noteReceipts, type ReceiptRow, recordPlainReceipts } from '../../src/store/receipts.ts'
import { recordedMessages } from '../support/recorded-messages.ts'
import {
  announced,
  countOf,
  HOLDER,
  NEWEST,
  receipt,
  sent,
  storeMessage,
  submission,
} from '../support/stored-messages.ts'

const { db, plan, changedAt, record, submitted } = await recordedMessages()

const how = { unknownReversibleMs: UNKNOWN_REVERSIBLE_MS, events: HOLDER, newestMsgId: NEWEST }
const plain = (receipts: readonly ReceiptRow[]) =>
  recordPlainReceipts(db, { receipts, changedAt: changedAt(), ...how })

test('plain receipts need no closer look; whatever is not plain is left for it', async () => {
  const [one, two, long, other, ended] = [
    await submitted(),
    await submitted(),
    await submitted(2),
    await submitted(),
    await submitted(),
  ]
  await plain([receipt(`${ended}/0`, 'DELIVERED')])
  const { changed, rest } = await plain([
    receipt(`${one}/0`, 'DELIVERED'),
    receipt(`${ended}/0`, 'DELIVERED'),
    receipt(`${long}/1`, 'DELIVERED'),
    receipt(`${two}/0`, 'FAILED', { addresses: [] }),
    receipt(`${other}/0`, 'FAILED', { addresses: ['4670123'] }),
    receipt('unheard of', 'FAILED'),
  ])
  expect(changed.map(({ msgId, status }) => `${msgId} ${status}`).sort()).toEqual(
    [`${one} DELIVERED`, `${two} FAILED`].sort(),
  )
  expect(rest).toEqual([1, 2, 4])
  expect(await countOf(db, 'parked_receipts')).toBe(1)
  await db.query('delete from parked_receipts')
})

test('two receipts for one message in a batch are both looked at closely', async () => {
  const msgId = await submitted()
  const { changed, rest } = await plain([
    receipt(`${msgId}/0`, 'UNKNOWN', { addresses: ['1'] }),
    receipt(`${msgId}/0`, 'DELIVERED'),
  ])
  expect({ changed, rest }).toEqual({ changed: [], rest: [0, 1] })
})

test('all kinds in one batch: each message changes once, with one event', async () => {
  const [one, long] = [await submitted(), await submitted(2)]
  const early = await storeMessage(db, plan)
  await recordReceipts(db, {
    ...how,
    changedAt,
    onChanged: () => {},
    receipts: [receipt('early', 'FAILED')],
  })
  const { rows: parked } = await db.query('select id from parked_receipts')
  await record([sent(plan, early)], [submission(plan, early, 'early')])
  const changed: ChangedMessage[] = []
  await recordReceipts(db, {
    ...how,
    changedAt,
    onChanged: (messages) => changed.push(...messages),
    receipts: [
      receipt(`${long}/0`, 'DELIVERED'),
      receipt('early', 'FAILED', { parked_id: parked[0].id }),
      receipt(`${one}/0`, 'DELIVERED'),
      receipt(`${long}/1`, 'DELIVERED'),
      receipt('unread', 'DELIVERED', { unread: true }),
    ],
  })
  expect(changed.map(({ msgId, status, held }) => `${msgId} ${status} ${held}`).sort()).toEqual(
    [`${one} DELIVERED true`, `${long} DELIVERED true`, `${early} FAILED true`].sort(),
  )
  expect(await announced(db, long)).toEqual(['SENT', 'DELIVERED'])
  const { rows: left } = await db.query('select carrier_message_id as id, unread from parked_receipts')
  expect(left).toEqual([{ id: 'unread', unread: true }])
})

test('should the closer look fail, what is recorded is told all the same', async () => {
  const [one, two] = [await submitted(), await submitted()]
  await recordReceipts(db, {
    ...how,
    changedAt,
    onChanged: () => {},
    receipts: [receipt(`${two}/0`, 'DELIVERED')],
  })
  const told: string[] = []
  const failing: Queryable = {
    query: (statement: { name?: string }, ...rest: unknown[]) => {
      if (statement.name === 'record_receipts') throw new Error('connection lost')
      return (db.query as (...args: unknown[]) => unknown)(statement, ...rest)
    },
  } as unknown as Queryable
  const receipts = [receipt(`${one}/0`, 'DELIVERED'), receipt(`${two}/0`, 'DELIVERED')]
  const onChanged = (messages: readonly ChangedMessage[]) => told.push(...messages.map(({ msgId }) => msgId))
  await expect(recordReceipts(failing, { ...how, changedAt, onChanged, receipts })).rejects.toThrow(
    'connection lost',
  )
  await recordReceipts(db, { ...how, changedAt, onChanged, receipts })
  expect(told).toEqual([one])
})

test('nothing to do: nothing is asked of the database', async () => {
  const nobody = { query: () => Promise.reject(new Error('asked')) } as unknown as Queryable
  await recordReceipts(nobody, { ...how, changedAt, onChanged: () => {}, receipts: [] })
})

test('every receipt is kept: the one that ends a message of one segment in its event, any other in a row of its own', async () => {
  const [one, long] = [await submitted(), await submitted(2)]
  const told = (text: string) => ({ receipt: { text, tlvs: { message_state: '2' } } })
  const apply = (receipts: readonly ReceiptRow[]) =>
    recordReceipts(db, { ...how, receipts, changedAt, onChanged: () => undefined })
  await apply([receipt(`${one}/0`, 'UNKNOWN', told('first'))])
  await apply([receipt(`${one}/0`, 'UNKNOWN', told('again'))])
  await apply([
    receipt(`${one}/0`, 'DELIVERED', told('last')),
    receipt(`${long}/0`, 'DELIVERED', told('part')),
  ])
  await apply([receipt(`${one}/0`, 'FAILED', told('late'))])
  await noteReceipts(
    db,
    [
      { ...receipt(`${long}/1`, 'DELIVERED', told('on its way')), outcome: 'SENT' },
      { ...receipt('unheard of', 'DELIVERED'), outcome: 'SENT' },
    ],
    NEWEST,
  )
  const { rows } = await db.query(
    `select msg_id, 'event ' || seq as place, receipt->>'text' as text from events where receipt is not null
     union all select msg_id, 'row ' || outcome, receipt->>'text' from receipts order by 1, 2`,
  )
  const kept = (msgId: string) =>
    rows.flatMap((row) => (row.msg_id === msgId ? [`${row.place}: ${row.text}`] : []))
  expect(kept(one)).toEqual(['event 2: first', 'event 3: last', 'row FAILED: late', 'row UNKNOWN: again'])
  expect(kept(long)).toEqual(['row DELIVERED: part', 'row SENT: on its way'])
  const story = await findMessageForOperator(db, one)
  expect(story!.receipts.map(({ outcome, receipt }) => [outcome, receipt])).toEqual([
    ['UNKNOWN', told('first').receipt],
    ['UNKNOWN', told('again').receipt],
    ['DELIVERED', told('last').receipt],
    ['FAILED', told('late').receipt],
  ])
})

test('a parked receipt keeps what was received', async () => {
  const msgId = await storeMessage(db, plan)
  const parked = receipt('parked', 'FAILED', { receipt: { text: 'as it came', tlvs: {} } })
  await recordReceipts(db, { ...how, receipts: [parked], changedAt, onChanged: () => undefined })
  await record([sent(plan, msgId)], [submission(plan, msgId, 'parked', 0)])
  const found = await findParkedReceipts(db, [
    { carrier_id: parked.carrier_id, carrier_message_id: 'parked' },
  ])
  await recordReceipts(db, { ...how, receipts: found, changedAt, onChanged: () => undefined })
  const story = await findMessageForOperator(db, msgId)
  expect(story!.receipts).toEqual([
    {
      receivedAt: parked.received_at,
      carrier: null,
      carrierMessageId: 'parked',
      outcome: 'FAILED',
      errorCode: '300',
      receipt: parked.receipt,
    },
  ])
})
