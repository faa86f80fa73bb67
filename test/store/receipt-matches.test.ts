import { describe, expect, test } from 'vitest'
import { lowestIdAt } from '../../src/domain/identifiers.ts'
import { UNKNOWN_REVERSIBLE_MS } from '../../src/domain/messages/messages.ts'
import {
  deleteOldParkedReceipts,
  findMatchableReceipts,
  findParkedReceipts,
} from '../../src/store/parked-receipts.ts'
import { createPartition } from '../../src/store/partitions.ts'
import { CARRIER_ID, newId, otherPool } from '../support/installation.ts'
import { recordedMessages } from '../support/recorded-messages.ts'
import {
  announced,
  countOf,
  deliveriesOf,
  eventsOf,
  NOBODY,
  NODE,
  receipt,
  sent,
  statusOf,
  storeMessage,
  submission,
} from '../support/stored-messages.ts'

const OLDEST = { parkedAt: new Date(0).toISOString(), parkedId: 0 }

const { db, connectionString, plan, record, submitted, apply, columns } = await recordedMessages()

describe('one segment', () => {
  test.each([
    ['DELIVERED', '000'],
    ['FAILED', '300'],
    ['UNKNOWN', '600'],
  ] as const)('%s: one event, with what the receipt says', async (outcome, errorCode) => {
    const msgId = await submitted()
    const changed = await apply([receipt(`${msgId}/0`, outcome)])
    expect(changed).toMatchObject([
      {
        msgId,
        planId: plan,
        status: outcome,
        sequence: 2,
        held: false,
        errorCode,
        mccmnc: '310260',
      },
    ])
    expect(await announced(db, msgId)).toEqual(['SENT', outcome])
    expect(await columns(msgId)).toMatchObject({ status: outcome, event_sequence: 2, carrier_code: outcome })
  })

  test('the same receipt again changes nothing', async () => {
    const msgId = await submitted()
    await apply([receipt(`${msgId}/0`, 'DELIVERED')])
    const before = await columns(msgId)
    expect(await apply([receipt(`${msgId}/0`, 'DELIVERED')])).toEqual([])
    expect(await columns(msgId)).toEqual(before)
    expect(await announced(db, msgId)).toEqual(['SENT', 'DELIVERED'])
  })

  test.each([
    ['DELIVERED', 'FAILED'],
    ['DELIVERED', 'UNKNOWN'],
    ['FAILED', 'DELIVERED'],
    ['FAILED', 'UNKNOWN'],
  ] as const)('%s is final: %s after it changes nothing', async (first, second) => {
    const msgId = await submitted()
    await apply([receipt(`${msgId}/0`, first)])
    const before = await columns(msgId)
    expect(await apply([receipt(`${msgId}/0`, second)])).toEqual([])
    expect(await columns(msgId)).toEqual(before)
  })

  test.each(['DELIVERED', 'FAILED'] as const)(
    'UNKNOWN gives way to %s within 72 h, not after',
    async (final) => {
      const [early, late] = [await submitted(), await submitted()]
      await apply([receipt(`${early}/0`, 'UNKNOWN'), receipt(`${late}/0`, 'UNKNOWN')])
      expect(await apply([receipt(`${early}/0`, 'UNKNOWN')])).toEqual([])
      await apply([receipt(`${early}/0`, final)], { inMs: UNKNOWN_REVERSIBLE_MS - 60_000 })
      expect(await announced(db, early)).toEqual(['SENT', 'UNKNOWN', final])
      await apply([receipt(`${late}/0`, final)], { inMs: UNKNOWN_REVERSIBLE_MS + 60_000 })
      expect(await announced(db, late)).toEqual(['SENT', 'UNKNOWN'])
      expect(await statusOf(db, late)).toBe('UNKNOWN')
    },
  )

  test('a network that a later receipt names not is kept', async () => {
    const msgId = await submitted()
    await apply([receipt(`${msgId}/0`, 'UNKNOWN')])
    await apply([receipt(`${msgId}/0`, 'DELIVERED', { mccmnc: null, carrierCode: null })])
    expect(await columns(msgId)).toMatchObject({
      mccmnc: '310260',
      error_code: '000',
      carrier_code: 'UNKNOWN',
    })
  })

  test('no URL anywhere: the change and its event, and nothing to deliver', async () => {
    const msgId = await submitted(1, { callback_url: null })
    expect(await apply([receipt(`${msgId}/0`, 'DELIVERED')])).toMatchObject([{ held: false }])
    expect(await announced(db, msgId)).toEqual(['SENT', 'DELIVERED'])
    expect(await deliveriesOf(db, msgId)).toBe(0)
  })
})

test('receipts of a message that is no longer kept, but its submission is, change nothing and harm no other', async () => {
  const [fromMs, toMs] = [Date.UTC(2020, 0, 1), Date.UTC(2020, 0, 2)]
  const day = { name: '20200101', fromMsgId: lowestIdAt(fromMs), toMsgId: lowestIdAt(toMs) }
  await createPartition(db, 'submissions', day)
  await record([], [submission(plan, newId(fromMs), 'too late')])
  const msgId = await submitted(2)
  const late = receipt('too late', 'DELIVERED')
  expect(await apply([late, receipt(`${msgId}/0`, 'FAILED')])).toMatchObject([{ msgId, status: 'FAILED' }])
  expect(await apply([receipt('too late', 'SENT'), receipt(`${msgId}/1`, 'SENT')])).toEqual([])
  const { rows } = await db.query('select msg_id, outcome from receipts where msg_id = $1 or msg_id < $2', [
    msgId,
    day.toMsgId,
  ])
  expect(rows.map(({ outcome }) => outcome).sort()).toEqual(['FAILED', 'SENT'])
})

describe('several segments', () => {
  test('DELIVERED when all are, whatever the order and the batches', async () => {
    const msgId = await submitted(49)
    const at = (n: number) => receipt(`${msgId}/${n}`, 'DELIVERED')
    const order = Array.from({ length: 49 }, (_, n) => (n * 11) % 49)
    expect(await apply(order.slice(0, 20).map(at))).toEqual([])
    expect(await apply(order.slice(10, 48).map(at))).toEqual([])
    expect(await statusOf(db, msgId)).toBe('SENT')
    expect(await apply([at(order[48]!)])).toMatchObject([{ msgId, status: 'DELIVERED', sequence: 2 }])
    expect(await columns(msgId)).toMatchObject({ delivered: String(2n ** 49n - 1n), unknown: '0' })
  })

  test('FAILED as soon as one is, once', async () => {
    const msgId = await submitted(3)
    const batch = [
      receipt(`${msgId}/0`, 'DELIVERED'),
      receipt(`${msgId}/1`, 'FAILED', { errorCode: '302', carrierCode: 'UNDELIV 001' }),
    ]
    expect(await apply(batch)).toMatchObject([{ status: 'FAILED', errorCode: '302' }])
    expect(await apply([receipt(`${msgId}/2`, 'FAILED')])).toEqual([])
    expect(await columns(msgId)).toMatchObject({ carrier_code: 'UNDELIV 001', event_sequence: 2 })
    expect(await announced(db, msgId)).toEqual(['SENT', 'FAILED'])
  })

  test('while later ones may be under way it is not DELIVERED: their number is settled with the submission', async () => {
    const msgId = await storeMessage(db, plan, { segments: 2 })
    const accept = (segments: readonly number[], settled: boolean) =>
      record(
        settled ? [sent(plan, msgId, { segments: 3 })] : [],
        segments.map((n) => submission(plan, msgId, `${msgId}/${n}`, n)),
      )
    await accept([0, 1], false)
    const delivered = (n: number) => receipt(`${msgId}/${n}`, 'DELIVERED')
    expect(await apply([delivered(0), delivered(1)])).toEqual([])
    expect(await accept([2], true)).toMatchObject([{ status: 'SENT', segments: 3 }])
    expect(await apply([delivered(2)])).toMatchObject([{ status: 'DELIVERED', sequence: 2 }])
  })

  test('UNKNOWN when all have an outcome and one is unknown; it gives way when that one is delivered', async () => {
    const msgId = await submitted(2)
    expect(await apply([receipt(`${msgId}/0`, 'UNKNOWN')])).toEqual([])
    expect(await apply([receipt(`${msgId}/1`, 'DELIVERED')])).toMatchObject([
      { status: 'UNKNOWN', sequence: 2 },
    ])
    expect(await apply([receipt(`${msgId}/0`, 'DELIVERED')])).toMatchObject([
      { status: 'DELIVERED', sequence: 3 },
    ])
    expect(await columns(msgId)).toMatchObject({ delivered: '3', unknown: '0' })
  })
})

describe('matching', () => {
  test('receipts of another carrier are not ours', async () => {
    const msgId = await submitted()
    await apply([receipt(`${msgId}/0`, 'DELIVERED', { carrierId: CARRIER_ID + 1 })])
    expect(await statusOf(db, msgId)).toBe('SENT')
    await db.query('delete from parked_receipts')
  })

  test('an id that the carrier used twice means the newest message', async () => {
    const [first, second] = [await storeMessage(db, plan), await storeMessage(db, plan)]
    await record(
      [sent(plan, first), sent(plan, second)],
      [submission(plan, first, 'reused'), submission(plan, second, 'reused')],
    )
    await apply([receipt('reused', 'DELIVERED')])
    const [newest, oldest] = [first, second].sort().toReversed()
    expect(await statusOf(db, newest!)).toBe('DELIVERED')
    expect(await statusOf(db, oldest!)).toBe('SENT')
  })

  test('an unknown id is parked, found by its submission, and gone once applied', async () => {
    await apply([receipt('unheard-of', 'DELIVERED'), receipt('never', 'FAILED')])
    expect(await countOf(db, 'parked_receipts')).toBe(2)
    expect((await findMatchableReceipts(db, OLDEST, 10)).receipts).toEqual([])
    const msgId = await storeMessage(db, plan)
    await record([sent(plan, msgId)], [submission(plan, msgId, 'unheard-of')])
    const found = await findParkedReceipts(db, [{ carrierId: CARRIER_ID, carrierMessageId: 'unheard-of' }])
    expect(found).toMatchObject([{ carrierMessageId: 'unheard-of', outcome: 'DELIVERED' }])
    expect((await findMatchableReceipts(db, OLDEST, 10)).receipts).toEqual(found)
    expect(await apply(found)).toMatchObject([{ msgId, status: 'DELIVERED' }])
    expect(await countOf(db, 'parked_receipts')).toBe(1)
    expect(await apply(found)).toEqual([])
    expect(await deleteOldParkedReceipts(db, 60_000, 10)).toBe(0)
    expect(await deleteOldParkedReceipts(db, -60_000, 10)).toBe(1)
  })

  test('one that still matches nothing stays parked, once', async () => {
    await apply([receipt('patient', 'DELIVERED')])
    const parked = await findParkedReceipts(db, [{ carrierId: CARRIER_ID, carrierMessageId: 'patient' }])
    await apply(parked)
    expect(await countOf(db, 'parked_receipts')).toBe(1)
    await db.query('delete from parked_receipts')
  })
})

describe('who delivers the event', () => {
  test('this node, when the one before is delivered', async () => {
    const msgId = await submitted()
    await db.query('delete from event_deliveries where msg_id = $1', [msgId])
    expect(await apply([receipt(`${msgId}/0`, 'DELIVERED')])).toMatchObject([{ held: true }])
    expect((await eventsOf(db, msgId))[1]).toMatchObject({ status: 'DELIVERED', holder: NODE })
  })

  test.each([
    ['the one before waits in the database', 'holder = null'],
    ['another node has the one before', 'holder = 77'],
    ['this node has the one before', `holder = ${NODE}`],
  ])('nobody yet, when %s', async (_name, change) => {
    const msgId = await submitted()
    await db.query(`update event_deliveries set ${change} where msg_id = $1`, [msgId])
    expect(await apply([receipt(`${msgId}/0`, 'DELIVERED')])).toMatchObject([{ held: false }])
    expect((await eventsOf(db, msgId))[1]).toMatchObject({ status: 'DELIVERED', holder: null })
  })

  test('this node, when the one before is given up', async () => {
    const msgId = await submitted()
    await db.query(`update event_deliveries set holder = null, state = 'failed' where msg_id = $1`, [msgId])
    expect(await apply([receipt(`${msgId}/0`, 'DELIVERED')])).toMatchObject([{ held: true }])
  })

  test('nobody yet, when the bucket is another node\u2019s', async () => {
    const msgId = await submitted()
    expect(
      await apply([receipt(`${msgId}/0`, 'DELIVERED')], { holder: { nodeId: NODE, buckets: [] } }),
    ).toMatchObject([{ held: false }])
    const other = await submitted()
    expect(await apply([receipt(`${other}/0`, 'DELIVERED')], { holder: NOBODY })).toMatchObject([
      { held: false },
    ])
  })
})

describe('two nodes at once', () => {
  test('the segments of one message, recorded by both: DELIVERED once', async () => {
    await using other = otherPool(connectionString)
    for (let round = 0; round < 10; round += 1) {
      const messages = await Promise.all(Array.from({ length: 8 }, () => submitted(4)))
      const half = (segments: number[]) =>
        messages.toSorted().flatMap((msgId) => segments.map((n) => receipt(`${msgId}/${n}`, 'DELIVERED')))
      const changed = await Promise.all([
        apply(half([0, 1, 2])),
        apply(half([1, 2, 3]), { pool: other.db, holder: NOBODY }),
      ])
      expect(
        changed
          .flat()
          .map(({ msgId }) => msgId)
          .sort(),
      ).toEqual(messages.toSorted())
      for (const msgId of messages) expect(await announced(db, msgId)).toEqual(['SENT', 'DELIVERED'])
    }
  })

  test('contradictory receipts: one of them wins, with one event', async () => {
    await using other = otherPool(connectionString)
    for (let round = 0; round < 10; round += 1) {
      const msgId = await submitted()
      const changed = await Promise.all([
        apply([receipt(`${msgId}/0`, 'DELIVERED')]),
        apply([receipt(`${msgId}/0`, 'FAILED')], { pool: other.db }),
      ])
      expect(changed.flat()).toHaveLength(1)
      const status = await statusOf(db, msgId)
      expect(await announced(db, msgId)).toEqual(['SENT', status])
      expect(await columns(msgId)).toMatchObject({
        event_sequence: 2,
        error_code: status === 'DELIVERED' ? '000' : '300',
      })
    }
  })

  test('a submission and its receipt: the receipt is applied or parked, never lost', async () => {
    await using other = otherPool(connectionString)
    for (let round = 0; round < 20; round += 1) {
      const msgId = await storeMessage(db, plan)
      await Promise.all([
        record([sent(plan, msgId)], [submission(plan, msgId, `race-${round}`)]),
        apply([receipt(`race-${round}`, 'DELIVERED')], { pool: other.db }),
      ])
      const parked = (await findMatchableReceipts(db, OLDEST, 10)).receipts
      if (parked.length > 0) await apply(parked)
      expect(await announced(db, msgId)).toEqual(
        (await columns(msgId)).event_sequence === 1 ? ['DELIVERED'] : ['SENT', 'DELIVERED'],
      )
      expect(await countOf(db, 'parked_receipts')).toBe(0)
    }
  })
})
