import { describe, expect, test } from 'vitest'
import { CARRIER_ID, newId, otherPool } from '../support/installation.ts'
import { recordedMessages } from '../support/recorded-messages.ts'
import {
  announced,
  eventsOf,
  NODE,
  sent,
  statusOf,
  storeMessage,
  submission,
} from '../support/stored-messages.ts'

const { db, connectionString, plan, record } = await recordedMessages()

async function waits(msgId: string): Promise<boolean> {
  return (await db.query('select 1 from dispatches where msg_id = $1', [msgId])).rows.length > 0
}

describe('a settlement', () => {
  test('SENT: status, sentAt, the carrier, one event, and the dispatch is gone', async () => {
    const msgId = await storeMessage(db, plan)
    const [changed] = await record([sent(plan, msgId)], [submission(plan, msgId, 'id-1')])
    expect(changed).toMatchObject({
      msgId,
      status: 'SENT',
      sequence: 1,

      held: true,
      errorCode: '000',
    })
    expect(changed!.sentAt).toEqual(changed!.updatedAt)
    expect(await waits(msgId)).toBe(false)
    expect(await eventsOf(db, msgId)).toEqual([{ sequence: 1, status: 'SENT', holder: NODE }])
    const { rows } = await db.query('select carrier_message_id, segment from submissions where msg_id = $1', [
      msgId,
    ])
    expect(rows).toEqual([{ carrier_message_id: 'id-1', segment: 0 }])
  })

  test.each([
    ['FAILED', '301', '0x0000000b'],
    ['UNKNOWN', '103', null],
  ] as const)('%s: no sentAt', async (status, errorCode, carrierCode) => {
    const msgId = await storeMessage(db, plan)
    const changed = await record([sent(plan, msgId, { status, errorCode, carrierCode })])
    expect(changed).toMatchObject([{ msgId, status, sentAt: null, errorCode }])
    expect(await announced(db, msgId)).toEqual([status])
    expect(await waits(msgId)).toBe(false)
  })

  test('of a message that has moved on ends its dispatch and changes nothing', async () => {
    const msgId = await storeMessage(db, plan)
    await record([sent(plan, msgId, { status: 'FAILED', errorCode: '301' })])
    await db.query(
      `insert into dispatches (bucket, msg_id, plan_id, due_at, expires_at)
       values (get_byte(uuid_send($1), 15), $1, $2, now(), now())`,
      [msgId, plan],
    )
    expect(await record([sent(plan, msgId)])).toEqual([])
    expect(await statusOf(db, msgId)).toBe('FAILED')
    expect(await announced(db, msgId)).toEqual(['FAILED'])
    expect(await waits(msgId)).toBe(false)
  })

  test('repeated, by two nodes at once too: one event', async () => {
    await using other = otherPool(connectionString)
    const ids = (await Promise.all(Array.from({ length: 20 }, () => storeMessage(db, plan)))).toSorted()
    const settlements = ids.map((msgId) => sent(plan, msgId))
    const submissions = ids.map((msgId) => submission(plan, msgId, `twice-${msgId}`))
    const changed = await Promise.all([
      record(settlements, submissions),
      record(settlements, submissions, other.db),
    ])
    expect(changed.flat()).toHaveLength(20)
    for (const msgId of ids) expect(await announced(db, msgId)).toEqual(['SENT'])
    expect(await record(settlements, submissions)).toEqual([])
  })

  test('of a message that a receipt has ended already gives it what is missing, and no event', async () => {
    const msgId = await storeMessage(db, plan, { segments: 2 })
    await db.query(
      `update messages set status = 'FAILED', event_sequence = 1, error_code = '302', carrier_code = 'UNDELIV 001'
       where msg_id = $1`,
      [msgId],
    )
    const { rows: before } = await db.query('select updated_at from messages where msg_id = $1', [msgId])
    const known = {
      charge: { price: '0.015', ptf: '0.001', currency: 'EUR' },
      mccmnc: '24001',
      routeReason: 'the only one',
    }
    const changed = await record([sent(plan, msgId, { ...known, segments: 3, routeId: 5 })])
    expect(changed).toEqual([])
    const { rows } = await db.query(
      `select status, event_sequence, error_code, carrier_code, carrier_id, route_id, route_reason, segments, mccmnc,
              price::float8, ptf::float8, currency, sent_at is not null as sent, updated_at
       from messages where msg_id = $1`,
      [msgId],
    )
    expect(rows).toEqual([
      {
        status: 'FAILED',
        event_sequence: 1,
        error_code: '302',
        carrier_code: 'UNDELIV 001',
        carrier_id: CARRIER_ID,
        route_id: 5,
        route_reason: 'the only one',
        mccmnc: '24001',
        price: 0.015,
        ptf: 0.001,
        currency: 'EUR',
        segments: 3,
        sent: true,
        updated_at: before[0].updated_at,
      },
    ])
    expect(await announced(db, msgId)).toEqual([])
    // A second settlement, late or of another node, finds nothing missing.
    await record([sent(plan, msgId, { charge: { ...known.charge, price: '9' }, segments: 1 })])
    const { rows: after } = await db.query('select price::float8, segments from messages where msg_id = $1', [
      msgId,
    ])
    expect(after).toEqual([{ price: 0.015, segments: 3 }])
  })

  test('that counts fewer segments than were accepted, all of them delivered already: DELIVERED', async () => {
    const msgId = await storeMessage(db, plan, { segments: 3 })
    await db.query('update messages set delivered_bits = 3 where msg_id = $1', [msgId])
    const changed = await record([sent(plan, msgId, { segments: 2 })])
    expect(changed).toMatchObject([{ status: 'DELIVERED', segments: 2, sequence: 1, errorCode: '000' }])
    expect(changed[0]!.sentAt).not.toBeNull()
    expect(await announced(db, msgId)).toEqual(['DELIVERED'])
  })

  test('UNKNOWN, of a message all of whose segments were delivered: DELIVERED', async () => {
    const msgId = await storeMessage(db, plan, { segments: 2 })
    await db.query('update messages set delivered_bits = 3 where msg_id = $1', [msgId])
    const unknown = { status: 'UNKNOWN', errorCode: '103', carrierId: null } as const
    expect(await record([sent(plan, msgId, unknown)])).toMatchObject([
      { status: 'DELIVERED', errorCode: '000', sequence: 1 },
    ])
  })

  test('SENT over a carrier that nobody knows, of a message that a receipt has ended: what it cost', async () => {
    const msgId = await storeMessage(db, plan)
    await db.query(`update messages set status = 'DELIVERED', event_sequence = 1 where msg_id = $1`, [msgId])
    const settlement = sent(plan, msgId, {
      carrierId: null,
      charge: { price: '0.01', ptf: '0', currency: 'EUR' },
    })
    expect(await record([settlement])).toEqual([])
    const { rows } = await db.query(
      'select status, event_sequence, price::float8, sent_at is not null as sent from messages where msg_id = $1',
      [msgId],
    )
    expect(rows).toEqual([{ status: 'DELIVERED', event_sequence: 1, price: 0.01, sent: true }])
  })

  test('one id for several segments: a row for each, and again changes nothing', async () => {
    const msgId = await storeMessage(db, plan, { segments: 3 })
    const submissions = [0, 1, 2].map((n) => submission(plan, msgId, `shared-${msgId}`, n))
    await record([sent(plan, msgId)], submissions)
    await record([], submissions)
    const { rows } = await db.query('select segment from submissions where msg_id = $1 order by segment', [
      msgId,
    ])
    expect(rows.map(({ segment }) => segment)).toEqual([0, 1, 2])
  })

  test('of a message that is not there changes nothing', async () => {
    expect(await record([sent(plan, newId(Date.now()))])).toEqual([])
  })
})

describe('the event', () => {
  test('none without a URL; one with the account\u2019s default', async () => {
    const without = await storeMessage(db, plan, { callback_url: null })
    expect(await record([sent(plan, without)])).toMatchObject([{ held: false }])
    await db.query(`update accounts set default_dlr_url = 'https://example.com/default'`)
    const byDefault = await storeMessage(db, plan, { callback_url: null })
    expect(await record([sent(plan, byDefault)])).toMatchObject([{ callbackUrl: null }])
    await db.query('update accounts set default_dlr_url = null')
  })

  test('is held only in buckets of this node', async () => {
    const [mine, other] = [newId(Date.now(), 3), newId(Date.now(), 4)]
    for (const msg_id of [mine, other]) await storeMessage(db, plan, { msg_id })
    const settlements = [sent(plan, mine), sent(plan, other)]
    const changed = await record(settlements, [], db, { nodeId: NODE, buckets: [3] })
    expect(new Map(changed.map(({ msgId, held }) => [msgId, held]))).toEqual(
      new Map([
        [mine, true],
        [other, false],
      ]),
    )
    expect(await eventsOf(db, other)).toEqual([{ sequence: 1, status: 'SENT', holder: null }])
  })
})
