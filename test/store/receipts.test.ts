import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { InstantSource } from '../../src/domain/instants.ts'
import { UNKNOWN_REVERSIBLE_MS } from '../../src/domain/message-states.ts'
import { recordReceipts } from '../../src/operations/record-receipts.ts'
import { ensurePartitions } from '../../src/services/day-partitions.ts'
import type { Database } from '../../src/store/database.ts'
import {
  deleteOldParkedReceipts,
  findMatchableReceipts,
  findParkedReceipts,
} from '../../src/store/parked-receipts.ts'
import type { ReceiptRow } from '../../src/store/receipts.ts'
import { type ChangedMessage, type EventHolder, recordSubmissions } from '../../src/store/submissions.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { newId, otherPool, seedInstallation } from '../support/installation.ts'
import {
  announced,
  CARRIER_ID,
  countOf,
  eventsOf,
  HOLDER,
  NOBODY,
  NODE,
  receipt,
  sent,
  statusOf,
  storeMessage,
  submission,
} from '../support/stored-messages.ts'

/** Above every id a test makes. */
const NEWEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const OLDEST = { received_at: new Date(0).toISOString(), parked_id: 0 }

let database: FreshDatabase
let db: Database
let plan: number
const instants = new InstantSource()

beforeAll(async () => {
  database = await freshDatabase()
  db = database.db
  plan = (await seedInstallation(db)).announcedPlan
  await ensurePartitions(db, Date.now())
})

afterAll(() => database[Symbol.asyncDispose]())

async function apply(
  receipts: readonly ReceiptRow[],
  { pool = db, events = HOLDER, inMs = 0 }: { pool?: Database; events?: EventHolder; inMs?: number } = {},
): Promise<ChangedMessage[]> {
  const source = inMs === 0 ? instants : new InstantSource()
  const changed: ChangedMessage[] = []
  await recordReceipts(pool, {
    receipts,
    changedAt: () => source.next(Date.now() + inMs),
    unknownReversibleMs: UNKNOWN_REVERSIBLE_MS,
    newestMsgId: NEWEST,
    events,
    onChanged: (messages) => changed.push(...messages),
  })
  return changed
}

/** A message whose segments were accepted under the ids `<msgId>/<segment>`. */
async function submitted(segments = 1, changes: Parameters<typeof storeMessage>[2] = {}): Promise<string> {
  const msgId = await storeMessage(db, plan, { segments, ...changes })
  await recordSubmissions(db, {
    settlements: [sent(plan, msgId)],
    submissions: Array.from({ length: segments }, (_, n) => submission(plan, msgId, `${msgId}/${n}`, n)),
    changedAt: instants.next(Date.now()),
    events: HOLDER,
  })
  return msgId
}

async function columns(msgId: string) {
  const { rows } = await db.query(
    `select status, event_seq, error_code, carrier_code, mccmnc, delivered_segments::text as delivered,
            unknown_segments::text as unknown, updated_at from messages where msg_id = $1`,
    [msgId],
  )
  return rows[0]
}

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
        seq: 2,

        held: true,
        errorCode,
        mccmnc: '310260',
      },
    ])
    expect(await announced(db, msgId)).toEqual(['SENT', outcome])
    expect(await columns(msgId)).toMatchObject({ status: outcome, event_seq: 2, carrier_code: outcome })
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
    await apply([receipt(`${msgId}/0`, 'DELIVERED', { mccmnc: null, carrier_code: null })])
    expect(await columns(msgId)).toMatchObject({
      mccmnc: '310260',
      error_code: '000',
      carrier_code: 'UNKNOWN',
    })
  })

  test('no URL anywhere: the change, and no event', async () => {
    const msgId = await submitted(1, { callback_url: null })
    expect(await apply([receipt(`${msgId}/0`, 'DELIVERED')])).toMatchObject([{ held: false }])
    expect(await eventsOf(db, msgId)).toEqual([])
  })
})

describe('several segments', () => {
  test('DELIVERED when all are, whatever the order and the batches', async () => {
    const msgId = await submitted(49)
    const at = (n: number) => receipt(`${msgId}/${n}`, 'DELIVERED')
    const order = Array.from({ length: 49 }, (_, n) => (n * 11) % 49)
    expect(await apply(order.slice(0, 20).map(at))).toEqual([])
    expect(await apply(order.slice(10, 48).map(at))).toEqual([])
    expect(await statusOf(db, msgId)).toBe('SENT')
    expect(await apply([at(order[48]!)])).toMatchObject([{ msgId, status: 'DELIVERED', seq: 2 }])
    expect(await columns(msgId)).toMatchObject({ delivered: String(2n ** 49n - 1n), unknown: '0' })
  })

  test('FAILED as soon as one is, once', async () => {
    const msgId = await submitted(3)
    const batch = [
      receipt(`${msgId}/0`, 'DELIVERED'),
      receipt(`${msgId}/1`, 'FAILED', { error_code: '302', carrier_code: 'UNDELIV 001' }),
    ]
    expect(await apply(batch)).toMatchObject([{ status: 'FAILED', errorCode: '302' }])
    expect(await apply([receipt(`${msgId}/2`, 'FAILED')])).toEqual([])
    expect(await columns(msgId)).toMatchObject({ carrier_code: 'UNDELIV 001', event_seq: 2 })
    expect(await announced(db, msgId)).toEqual(['SENT', 'FAILED'])
  })

  test('while later ones may be under way it is not DELIVERED: their number is settled with the submission', async () => {
    const msgId = await storeMessage(db, plan, { segments: 2 })
    const record = (segments: readonly number[], settled: boolean) =>
      recordSubmissions(db, {
        settlements: settled ? [sent(plan, msgId, { segments: 3 })] : [],
        submissions: segments.map((n) => submission(plan, msgId, `${msgId}/${n}`, n)),
        changedAt: instants.next(Date.now()),
        events: HOLDER,
      })
    await record([0, 1], false)
    const delivered = (n: number) => receipt(`${msgId}/${n}`, 'DELIVERED')
    expect(await apply([delivered(0), delivered(1)])).toEqual([])
    expect(await record([2], true)).toMatchObject([{ status: 'SENT', segments: 3 }])
    expect(await apply([delivered(2)])).toMatchObject([{ status: 'DELIVERED', seq: 2 }])
  })

  test('UNKNOWN when all have an outcome and one is unknown; it gives way when that one is delivered', async () => {
    const msgId = await submitted(2)
    expect(await apply([receipt(`${msgId}/0`, 'UNKNOWN')])).toEqual([])
    expect(await apply([receipt(`${msgId}/1`, 'DELIVERED')])).toMatchObject([{ status: 'UNKNOWN', seq: 2 }])
    expect(await apply([receipt(`${msgId}/0`, 'DELIVERED')])).toMatchObject([{ status: 'DELIVERED', seq: 3 }])
    expect(await columns(msgId)).toMatchObject({ delivered: '3', unknown: '0' })
  })
})

describe('matching', () => {
  test('receipts of another carrier are not ours', async () => {
    const msgId = await submitted()
    await apply([receipt(`${msgId}/0`, 'DELIVERED', { carrier_id: CARRIER_ID + 1 })])
    expect(await statusOf(db, msgId)).toBe('SENT')
    await db.query('delete from parked_receipts')
  })

  test('an id that the carrier used twice means the newest message', async () => {
    const [first, second] = [await storeMessage(db, plan), await storeMessage(db, plan)]
    await recordSubmissions(db, {
      settlements: [sent(plan, first), sent(plan, second)],
      submissions: [submission(plan, first, 'reused'), submission(plan, second, 'reused')],
      changedAt: instants.next(Date.now()),
      events: HOLDER,
    })
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
    await recordSubmissions(db, {
      settlements: [sent(plan, msgId)],
      submissions: [submission(plan, msgId, 'unheard-of')],
      changedAt: instants.next(Date.now()),
      events: HOLDER,
    })
    const found = await findParkedReceipts(db, [{ carrier_id: CARRIER_ID, carrier_message_id: 'unheard-of' }])
    expect(found).toMatchObject([{ carrier_message_id: 'unheard-of', outcome: 'DELIVERED' }])
    expect((await findMatchableReceipts(db, OLDEST, 10)).receipts).toEqual(found)
    expect(await apply(found)).toMatchObject([{ msgId, status: 'DELIVERED' }])
    expect(await countOf(db, 'parked_receipts')).toBe(1)
    expect(await apply(found)).toEqual([])
    expect(await deleteOldParkedReceipts(db, 60_000, 10)).toBe(0)
    expect(await deleteOldParkedReceipts(db, -60_000, 10)).toBe(1)
  })

  test('one that still matches nothing stays parked, once', async () => {
    await apply([receipt('patient', 'DELIVERED')])
    const parked = await findParkedReceipts(db, [{ carrier_id: CARRIER_ID, carrier_message_id: 'patient' }])
    await apply(parked)
    expect(await countOf(db, 'parked_receipts')).toBe(1)
    await db.query('delete from parked_receipts')
  })
})

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
    const received_at = new Date(Date.now() - 5_000).toISOString()
    await apply([
      receipt(`${msgId}/1`, 'FAILED', { error_code: '302', carrier_code: 'UNDELIV 001', received_at }),
    ])
    expect(await kept(msgId)).toEqual([
      { outcome: null, error_code: null, carrier_code: null, receipt_at: null },
      {
        outcome: 'FAILED',
        error_code: '302',
        carrier_code: 'UNDELIV 001',
        receipt_at: new Date(received_at),
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
    await recordSubmissions(db, {
      settlements: [sent(plan, msgId)],
      submissions: Array.from({ length: segments }, (_, n) => submission(plan, msgId, `all-${msgId}`, n)),
      changedAt: instants.next(Date.now()),
      events: HOLDER,
    })
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
    await recordSubmissions(db, {
      settlements: [sent(plan, msgId)],
      submissions: [0, 1, 2].map((n) => submission(plan, msgId, `${msgId}-${n >> 1}`, n)),
      changedAt: instants.next(Date.now()),
      events: HOLDER,
    })
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
      await recordSubmissions(db, {
        settlements: [sent(plan, msg_id)],
        submissions: [submission(plan, msg_id, id)],
        changedAt: instants.next(Date.now()),
        events: HOLDER,
      })
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
    const parked = await findParkedReceipts(db, [{ carrier_id: CARRIER_ID, carrier_message_id: id }])
    expect(parked).toMatchObject([{ addresses: [BEN.slice(1)], outcome: 'FAILED' }])
    const msgId = await storeMessage(db, plan, { recipient: BEN })
    await recordSubmissions(db, {
      settlements: [sent(plan, msgId)],
      submissions: [submission(plan, msgId, id)],
      changedAt: instants.next(Date.now()),
      events: HOLDER,
    })
    expect(await apply(parked)).toMatchObject([{ msgId, status: 'FAILED' }])
    expect(await countOf(db, 'parked_receipts')).toBe(0)
  })

  test('for one of several segments each: the bits are those of the chosen message', async () => {
    const older = await storeMessage(db, plan, { segments: 2, recipient: ANNA })
    const newer = await storeMessage(db, plan, { recipient: BEN })
    await recordSubmissions(db, {
      settlements: [sent(plan, older), sent(plan, newer)],
      submissions: [submission(plan, older, 'mixed', 1), submission(plan, newer, 'mixed', 0)],
      changedAt: instants.next(Date.now()),
      events: HOLDER,
    })
    expect(await apply([receipt('mixed', 'DELIVERED', to(ANNA))])).toEqual([])
    expect(await columns(older)).toMatchObject({ status: 'SENT', delivered: '2' })
    expect(await statusOf(db, newer)).toBe('SENT')
  })
})

describe('who delivers the event', () => {
  test('this node, when it holds the one before', async () => {
    const msgId = await submitted()
    expect(await apply([receipt(`${msgId}/0`, 'DELIVERED')])).toMatchObject([{ held: true }])
    expect(await eventsOf(db, msgId)).toMatchObject([{ holder: NODE }, { holder: NODE }])
  })

  test.each([
    ['the one before waits in the database', 'holder = null'],
    ['another node has the one before', 'holder = 77'],
  ])('nobody yet, when %s', async (_name, change) => {
    const msgId = await submitted()
    await db.query(`update webhook_events set ${change} where msg_id = $1`, [msgId])
    expect(await apply([receipt(`${msgId}/0`, 'DELIVERED')])).toMatchObject([{ held: false }])
    expect((await eventsOf(db, msgId))[1]).toMatchObject({ status: 'DELIVERED', holder: null })
  })

  test('this node, when the one before is abandoned', async () => {
    const msgId = await submitted()
    await db.query(`update webhook_events set holder = null, due_at = 'infinity' where msg_id = $1`, [msgId])
    expect(await apply([receipt(`${msgId}/0`, 'DELIVERED')])).toMatchObject([{ held: true }])
  })

  test('nobody yet, when the bucket is another node\u2019s', async () => {
    const msgId = await submitted()
    expect(
      await apply([receipt(`${msgId}/0`, 'DELIVERED')], { events: { holder: NODE, buckets: [] } }),
    ).toMatchObject([{ held: false }])
    const other = await submitted()
    expect(await apply([receipt(`${other}/0`, 'DELIVERED')], { events: NOBODY })).toMatchObject([
      { held: false },
    ])
  })
})

describe('two nodes at once', () => {
  test('the segments of one message, recorded by both: DELIVERED once', async () => {
    await using other = otherPool(database.connectionString)
    for (let round = 0; round < 10; round += 1) {
      const messages = await Promise.all(Array.from({ length: 8 }, () => submitted(4)))
      const half = (segments: number[]) =>
        messages.toSorted().flatMap((msgId) => segments.map((n) => receipt(`${msgId}/${n}`, 'DELIVERED')))
      const changed = await Promise.all([
        apply(half([0, 1, 2])),
        apply(half([1, 2, 3]), { pool: other.db, events: NOBODY }),
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
    await using other = otherPool(database.connectionString)
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
        event_seq: 2,
        error_code: status === 'DELIVERED' ? '000' : '300',
      })
    }
  })

  test('a submission and its receipt: the receipt is applied or parked, never lost', async () => {
    await using other = otherPool(database.connectionString)
    for (let round = 0; round < 20; round += 1) {
      const msgId = await storeMessage(db, plan)
      await Promise.all([
        recordSubmissions(db, {
          settlements: [sent(plan, msgId)],
          submissions: [submission(plan, msgId, `race-${round}`)],
          changedAt: instants.next(Date.now()),
          events: HOLDER,
        }),
        apply([receipt(`race-${round}`, 'DELIVERED')], { pool: other.db }),
      ])
      const parked = (await findMatchableReceipts(db, OLDEST, 10)).receipts
      if (parked.length > 0) await apply(parked)
      expect(await announced(db, msgId)).toEqual(
        (await columns(msgId)).event_seq === 1 ? ['DELIVERED'] : ['SENT', 'DELIVERED'],
      )
      expect(await countOf(db, 'parked_receipts')).toBe(0)
    }
  })
})
