import { beforeEach, describe, expect, test } from 'vitest'
import { insertInboundMessages, type NewInboundMessage } from '../../src/store/inbound-messages.ts'
import { databaseOfFile } from '../support/database.ts'
import { newId } from '../support/installation.ts'
import { clearTables } from '../support/stored-messages.ts'
import { makeThreeDays } from '../support/three-days.ts'

const NOW_MS = Date.UTC(2026, 2, 10, 12)
const EVENTS = { nodeId: 3, buckets: [7, 9] }

const { db } = await databaseOfFile()
await makeThreeDays(db, NOW_MS)

beforeEach(() =>
  clearTables(db, 'inbound_messages', 'unowned_inbound_messages', 'events', 'event_deliveries'),
)

function message(given: Partial<NewInboundMessage> = {}): NewInboundMessage {
  return {
    planId: 1,
    msgId: newId(NOW_MS),
    carrierId: 2,
    parts: 2,
    partsExpected: 3,
    sender: '+491701234567',
    recipient: '+49301234567',
    body: 'Grüße 👋',
    keyword: null,
    announced: true,
    occurredAtMs: NOW_MS,
    ...given,
  }
}

async function rowsOf(table: string) {
  return (await db.query(`select * from ${table} order by msg_id`)).rows
}

describe('insertInboundMessages', () => {
  test('stores a message with its event', async () => {
    const row = message({ keyword: 'STOP' })
    expect(await insertInboundMessages(db, [row], EVENTS)).toEqual([row.msgId])
    const { planId, msgId, carrierId, partsExpected, announced: _, occurredAtMs: __, ...stored } = row
    const keys = { plan_id: planId, msg_id: msgId, carrier_id: carrierId, parts_expected: partsExpected }
    expect(await rowsOf('inbound_messages')).toEqual([{ ...keys, ...stored }])
    expect(await rowsOf('event_deliveries')).toMatchObject([
      {
        bucket: 7,
        msg_id: row.msgId,
        sequence: 0,
        plan_id: 1,
        holder: 3,
        failed_attempts: 0,
        state: 'waiting',
        due_at: new Date(NOW_MS),
      },
    ])
    const event = {
      plan_id: 1,
      msg_id: row.msgId,
      sequence: 0,
      status: null,
      error_code: '000',
      delivered_at: null,
    }
    expect(await rowsOf('events')).toMatchObject([{ ...event, occurred_at: new Date(NOW_MS) }])
  })

  test('holds only events of its own buckets', async () => {
    const own = message({ msgId: newId(NOW_MS, 9) })
    const others = message({ msgId: newId(NOW_MS, 8) })
    expect(await insertInboundMessages(db, [others, own], EVENTS)).toEqual([own.msgId])
    const holders = (await rowsOf('event_deliveries')).map(({ bucket, holder }) => [bucket, holder])
    expect(new Map(holders as [number, number | null][])).toEqual(
      new Map([
        [9, 3],
        [8, null],
      ]),
    )
  })

  test('holds nothing without a holder', async () => {
    expect(await insertInboundMessages(db, [message()], { nodeId: null, buckets: [7] })).toEqual([])
  })

  test('keeps a message and its event without a delivery when there is no URL', async () => {
    expect(await insertInboundMessages(db, [message({ announced: false })], EVENTS)).toEqual([])
    expect(await rowsOf('inbound_messages')).toHaveLength(1)
    expect(await rowsOf('events')).toHaveLength(1)
    expect(await rowsOf('event_deliveries')).toEqual([])
  })

  test('keeps what nobody owns apart', async () => {
    const row = message({ planId: null })
    expect(await insertInboundMessages(db, [row], EVENTS)).toEqual([])
    const { msgId, carrierId, parts, partsExpected, sender, recipient, body } = row
    expect(await rowsOf('unowned_inbound_messages')).toEqual([
      { msg_id: msgId, carrier_id: carrierId, parts, parts_expected: partsExpected, sender, recipient, body },
    ])
    expect([...(await rowsOf('inbound_messages')), ...(await rowsOf('events'))]).toEqual([])
  })

  test('stores all of a batch or none', async () => {
    const beyond = message({ msgId: newId(NOW_MS + 365 * 86_400_000) })
    await expect(
      insertInboundMessages(db, [message(), message({ planId: null }), beyond], EVENTS),
    ).rejects.toThrow(/no partition/)
    expect([
      ...(await rowsOf('inbound_messages')),
      ...(await rowsOf('unowned_inbound_messages')),
      ...(await rowsOf('events')),
      ...(await rowsOf('event_deliveries')),
    ]).toEqual([])
  })
})
