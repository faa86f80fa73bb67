import { describe, expect, test } from 'vitest'
import { findParkedReceipts } from '../../src/store/parked-receipts.ts'
import { CARRIER_ID, newId } from '../support/installation.ts'
import { recordedMessages } from '../support/recorded-messages.ts'
import {
  announced,
  countOf,
  receipt,
  sent,
  startingOver,
  statusOf,
  storeMessage,
  submission,
} from '../support/stored-messages.ts'

const { db, plan, record, submitted, apply, columns } = await recordedMessages()

/** What the rows of a message's segments keep, in their order. */
async function kept(msgId: string) {
  const { rows } = await db.query(
    'select outcome, error_code, carrier_code, receipt_at from submissions where msg_id = $1 order by segment',
    [msgId],
  )
  return rows
}

describe('what is kept of each segment', () => {
  test('its outcome, codes and time, where there are several', async () => {
    const msgId = await submitted(2)
    const receivedAt = new Date(Date.now() - 5_000).toISOString()
    await apply([
      receipt(`${msgId}/1`, 'FAILED', { errorCode: '302', carrierCode: 'UNDELIV 001', receivedAt }),
    ])
    expect(await kept(msgId)).toEqual([
      { outcome: null, error_code: null, carrier_code: null, receipt_at: null },
      {
        outcome: 'FAILED',
        error_code: '302',
        carrier_code: 'UNDELIV 001',
        receipt_at: new Date(receivedAt),
      },
    ])
    // The message has ended; its other segment is told all the same.
    await apply([receipt(`${msgId}/0`, 'DELIVERED')])
    expect((await kept(msgId)).map(({ outcome }) => outcome)).toEqual(['DELIVERED', 'FAILED'])
  })

  test('nothing where there is one: the message says it, and no row is written twice', async () => {
    const msgId = await submitted()
    await apply([receipt(`${msgId}/0`, 'DELIVERED')])
    expect((await kept(msgId)).map(({ outcome }) => outcome)).toEqual([null])
  })

  test.each([
    ['DELIVERED', 'FAILED', 'DELIVERED'],
    ['FAILED', 'DELIVERED', 'FAILED'],
    ['DELIVERED', 'UNKNOWN', 'DELIVERED'],
    ['UNKNOWN', 'DELIVERED', 'DELIVERED'],
    ['UNKNOWN', 'FAILED', 'FAILED'],
  ] as const)('%s, then %s: %s', async (first, second, outcome) => {
    const msgId = await submitted(2)
    await apply([receipt(`${msgId}/0`, first)])
    await apply([receipt(`${msgId}/0`, second)])
    expect((await kept(msgId))[0].outcome).toBe(outcome)
  })

  test('a segment that was delivered cannot fail any more: the message waits for the other', async () => {
    const msgId = await submitted(2)
    await apply([receipt(`${msgId}/0`, 'DELIVERED')])
    expect(await apply([receipt(`${msgId}/0`, 'FAILED')])).toEqual([])
    expect(await apply([receipt(`${msgId}/1`, 'DELIVERED')])).toMatchObject([{ status: 'DELIVERED' }])
  })
})

describe('one id for all segments', () => {
  async function together(segments: number): Promise<string> {
    const msgId = await storeMessage(db, plan, { segments })
    await record(
      [sent(plan, msgId)],
      Array.from({ length: segments }, (_, n) => submission(plan, msgId, `all-${msgId}`, n)),
    )
    return msgId
  }

  test.each(['DELIVERED', 'FAILED', 'UNKNOWN'] as const)('a receipt speaks for all: %s', async (outcome) => {
    const msgId = await together(3)
    expect(await apply([receipt(`all-${msgId}`, outcome)])).toMatchObject([{ msgId, status: outcome }])
    expect((await kept(msgId)).map((row) => row.outcome)).toEqual([outcome, outcome, outcome])
    expect(await apply([receipt(`all-${msgId}`, outcome)])).toEqual([])
    expect(await announced(db, msgId)).toEqual(['SENT', outcome])
  })

  test('two ids for three segments: DELIVERED when both are', async () => {
    const msgId = await storeMessage(db, plan, { segments: 3 })
    await record(
      [sent(plan, msgId)],
      [0, 1, 2].map((n) => submission(plan, msgId, `${msgId}-${n >> 1}`, n)),
    )
    expect(await apply([receipt(`${msgId}-0`, 'DELIVERED')])).toEqual([])
    expect(await apply([receipt(`${msgId}-1`, 'DELIVERED')])).toMatchObject([{ status: 'DELIVERED' }])
  })
})

describe('an id that is given again', () => {
  let used = 0
  const ANNA = '+15551230001'
  const BEN = '+15551230002'
  const to = (recipient: string) => ({ addresses: [recipient.slice(1)] })

  /** Messages to these recipients under one id, the oldest first. */
  async function sharing(...recipients: string[]): Promise<{ id: string; msgIds: string[] }> {
    used += 1
    const id = `again-${used}`
    const msgIds: string[] = []
    for (const [index, recipient] of recipients.entries()) {
      const msg_id = newId(Date.now() - (recipients.length - index) * 1_000)
      msgIds.push(await storeMessage(db, plan, { msg_id, recipient }))
      await record([sent(plan, msg_id)], [submission(plan, msg_id, id)])
    }
    return { id, msgIds }
  }

  const statuses = (msgIds: readonly string[]) => Promise.all(msgIds.map((msgId) => statusOf(db, msgId)))

  test('the receipt is of the message to its address, the older one too', async () => {
    const { id, msgIds } = await sharing(ANNA, BEN)
    await apply([receipt(id, 'FAILED', to(ANNA))])
    expect(await statuses(msgIds)).toEqual(['FAILED', 'SENT'])
    await apply([receipt(id, 'DELIVERED', to(BEN))])
    expect(await statuses(msgIds)).toEqual(['FAILED', 'DELIVERED'])
  })

  test('both in one batch, with the addresses swapped', async () => {
    const { id, msgIds } = await sharing(ANNA, BEN)
    const addresses = (recipient: string) => ({ addresses: ['12345', recipient.slice(1)] })
    await apply([receipt(id, 'DELIVERED', addresses(BEN)), receipt(id, 'FAILED', addresses(ANNA))])
    expect(await statuses(msgIds)).toEqual(['FAILED', 'DELIVERED'])
  })

  test('to one recipient: the newest that has not ended', async () => {
    const { id, msgIds } = await sharing(ANNA, ANNA, ANNA)
    await apply([receipt(id, 'DELIVERED', to(ANNA))])
    expect(await statuses(msgIds)).toEqual(['SENT', 'SENT', 'DELIVERED'])
    await apply([receipt(id, 'FAILED', to(ANNA))])
    expect(await statuses(msgIds)).toEqual(['SENT', 'FAILED', 'DELIVERED'])
  })

  test('a repeated receipt of one that has ended is not of another recipient\u2019s message', async () => {
    const { id, msgIds } = await sharing(ANNA, BEN)
    await apply([receipt(id, 'DELIVERED', to(BEN))])
    await apply([receipt(id, 'DELIVERED', to(BEN))])
    expect(await statuses(msgIds)).toEqual(['SENT', 'DELIVERED'])
    expect(await countOf(db, 'parked_receipts')).toBe(0)
  })

  test.each([
    ['no address', { addresses: [] }],
    ['addresses in a form of the carrier\u2019s own', { addresses: ['5551230001', '99'] }],
  ])('%s: the newest that has not ended', async (_name, how) => {
    const { id, msgIds } = await sharing(ANNA, BEN)
    await apply([receipt(id, 'DELIVERED', how)])
    expect(await statuses(msgIds)).toEqual(['SENT', 'DELIVERED'])
    await apply([receipt(id, 'DELIVERED', how)])
    expect(await statuses(msgIds)).toEqual(['DELIVERED', 'DELIVERED'])
  })

  test('to a thousand messages: only of the recipient\u2019s own, of which the newest are looked at', async () => {
    const { id, msgIds } = await sharing(ANNA)
    await db.query(
      `with more as (
         select *, (substr($2, 1, 14) || '7' || substr($2, 16, 9) || lpad(to_hex(g), 12, '0'))::uuid as msg_id
         from generate_series(1, 1000) g
       ), stored as (
         insert into messages (plan_id, msg_id, status, segments, updated_at, sender, recipient, body)
         select $1, msg_id, 'SENT', 1, now(), 'Aldis', '+1666' || lpad(g::text, 7, '0'), 'hello' from more
       )
       insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, segment)
       select $3, $4, msg_id, $1, 0 from more`,
      [plan, newId(Date.now()), CARRIER_ID, id],
    )
    const [changed] = await apply([receipt(id, 'DELIVERED', { addresses: ['16660000005'] })])
    expect(changed).toMatchObject({ recipient: '+16660000005', status: 'DELIVERED' })
    expect(await apply([receipt(id, 'DELIVERED', to(ANNA))])).toEqual([])
    expect(await statuses(msgIds)).toEqual(['SENT'])
    expect(await countOf(db, 'parked_receipts')).toBe(1)
    await db.query('delete from parked_receipts')
  })

  test('before the new one is recorded: it waits for it, and does not touch one that has ended', async () => {
    const { id, msgIds } = await sharing(ANNA)
    await apply([receipt(id, 'DELIVERED', to(ANNA))])
    await apply([receipt(id, 'FAILED', to(BEN))])
    expect(await statuses(msgIds)).toEqual(['DELIVERED'])
    const parked = await findParkedReceipts(db, [{ carrierId: CARRIER_ID, carrierMessageId: id }])
    expect(parked).toMatchObject([{ addresses: [BEN.slice(1)], outcome: 'FAILED' }])
    const msgId = await storeMessage(db, plan, { recipient: BEN })
    await record([sent(plan, msgId)], [submission(plan, msgId, id)])
    expect(await apply(parked)).toMatchObject([{ msgId, status: 'FAILED' }])
    expect(await countOf(db, 'parked_receipts')).toBe(0)
  })

  test('for one of several segments each: the bits are those of the chosen message', async () => {
    const older = await storeMessage(db, plan, { segments: 2, recipient: ANNA })
    const newer = await storeMessage(db, plan, { recipient: BEN })
    await record(
      [sent(plan, older), sent(plan, newer)],
      [submission(plan, older, 'mixed', 1), submission(plan, newer, 'mixed', 0)],
    )
    expect(await apply([receipt('mixed', 'DELIVERED', to(ANNA))])).toEqual([])
    expect(await columns(older)).toMatchObject({ status: 'SENT', delivered: '2' })
    expect(await statusOf(db, newer)).toBe('SENT')
  })
})

describe('a message that has started over', () => {
  const segmentation = 'sar GSM7 2'

  /** Its first part was accepted as `<msgId>/old` and delivered; then it was divided anew, and its first part accepted so. */
  async function startedOver(): Promise<string> {
    const msgId = await storeMessage(db, plan, { segments: 2 })
    await record([], [submission(plan, msgId, `${msgId}/old`)])
    await apply([receipt(`${msgId}/old`, 'DELIVERED')])
    await record([startingOver(plan, msgId, segmentation)])
    await record([], [submission(plan, msgId, `${msgId}/0`, 0, segmentation)])
    return msgId
  }

  const settle = (msgId: string, segments = 2) =>
    record(
      [sent(plan, msgId, { segments, segmentation })],
      [submission(plan, msgId, `${msgId}/1`, segments - 1, segmentation)],
    )

  test('is DELIVERED by the parts of the new segmentation only', async () => {
    const msgId = await startedOver()
    await settle(msgId)
    await apply([receipt(`${msgId}/1`, 'DELIVERED')])
    expect(await statusOf(db, msgId)).toBe('SENT')
    await apply([receipt(`${msgId}/0`, 'DELIVERED')])
    expect(await statusOf(db, msgId)).toBe('DELIVERED')
  })

  test('what was delivered of the new segmentation before it was settled counts, though it is told again', async () => {
    const msgId = await startedOver()
    await apply([receipt(`${msgId}/0`, 'DELIVERED')])
    await record([startingOver(plan, msgId, segmentation)])
    await settle(msgId)
    await apply([receipt(`${msgId}/1`, 'DELIVERED')])
    expect(await statusOf(db, msgId)).toBe('DELIVERED')
  })

  test.each([2, 1])(
    'a receipt of the earlier segmentation changes nothing, and is not parked: %i parts',
    async (segments) => {
      const msgId = await startedOver()
      const before = await columns(msgId)
      await apply([receipt(`${msgId}/old`, 'FAILED')])
      expect(await columns(msgId)).toEqual(before)
      await settle(msgId, segments)
      const settled = await columns(msgId)
      for (const outcome of ['UNKNOWN', 'FAILED', 'DELIVERED'] as const)
        expect(await apply([receipt(`${msgId}/old`, outcome)])).toEqual([])
      expect(await columns(msgId)).toEqual(settled)
      const old = { carrierId: CARRIER_ID, carrierMessageId: `${msgId}/old` }
      expect(await findParkedReceipts(db, [old])).toEqual([])
    },
  )

  test('settled in a segmentation that nobody told of before: what was delivered of another does not count', async () => {
    const msgId = await storeMessage(db, plan, { segments: 2 })
    await record([], [submission(plan, msgId, `${msgId}/old`)])
    await apply([receipt(`${msgId}/old`, 'DELIVERED')])
    expect(await settle(msgId, 1)).toMatchObject([{ status: 'SENT', segments: 1 }])
    await apply([receipt(`${msgId}/1`, 'DELIVERED')])
    expect(await statusOf(db, msgId)).toBe('DELIVERED')
  })
})
