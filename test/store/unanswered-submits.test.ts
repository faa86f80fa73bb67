import { beforeEach, expect, test } from 'vitest'
import { lowestIdAt } from '../../src/domain/identifiers.ts'
import type { UnansweredSubmit } from '../../src/domain/journal/messages-in-doubt.ts'
import { appendEntry, closeLane, cutJournal, EMPTY_GROUP, openLane } from '../../src/store/journal.ts'
import { type ParkedPlace, parkReceipts } from '../../src/store/parked-receipts.ts'
import {
  addUnansweredSubmits,
  areInRecords,
  deleteAnsweredSubmits,
  deleteOldUnansweredSubmits,
  findAwaited,
  findReceiptsByAddress,
  isAnyUnanswered,
  readLaneEnds,
} from '../../src/store/unanswered-submits.ts'
import { CARRIER_ID, installedDatabase, newId } from '../support/installation.ts'
import { clearTables, receipt, recordOutcomes, storeMessage, submission } from '../support/stored-messages.ts'

const { db, announcedPlan: plan } = await installedDatabase()
const OLDEST: ParkedPlace = { parkedAt: new Date(0).toISOString(), parkedId: 0 }
const HOUR_MS = 3_600_000

beforeEach(() => clearTables(db, 'parked_receipts', 'submissions', 'unanswered_submits'))

async function submitted(msgId: string, changes: Partial<UnansweredSubmit> = {}): Promise<void> {
  const addresses = { recipient: '15551230000', sender: 'Aldis' }
  const submit = { planId: plan, msgId, ...addresses, carrierId: CARRIER_ID, sentAtMs: Date.now() - 60_000 }
  await addUnansweredSubmits(db, [{ ...submit, ...changes }])
}

function park(id: string, changes: Parameters<typeof receipt>[2] & { msgId?: string } = {}): Promise<void> {
  return parkReceipts(db, [{ ...receipt(id, 'DELIVERED', changes), msgId: changes.msgId ?? null }])
}

/** What is found, as `<id of the receipt> <copies>` by message. */
async function found(limit = 100): Promise<string[]> {
  const all: string[] = []
  for (let after: ParkedPlace | null = OLDEST; after !== null; ) {
    const page = await findReceiptsByAddress(db, {
      after,
      before: 'infinity',
      waitMs: 0,
      withinMs: 72 * HOUR_MS,
      limit,
    })
    all.push(
      ...page.found.map(({ receipt: { carrierMessageId }, copies }) => `${carrierMessageId} ${copies}`),
    )
    after = page.last
  }
  return all
}

test('a receipt is of the only message with its carrier, sender and recipient', async () => {
  const msgId = newId(Date.now() - 60_000)
  await submitted(msgId)
  await submitted(newId(Date.now()), { recipient: '15551239999' })
  await submitted(newId(Date.now()), { sender: 'Other' })
  await submitted(newId(Date.now()), { carrierId: CARRIER_ID + 1 })
  await submitted(newId(Date.now()), { sentAtMs: Date.now() + 60_000 })
  await submitted(newId(Date.now()), { sentAtMs: Date.now() - 73 * HOUR_MS })
  for (let n = 0; n < 5; n += 1) await park(`of-others-${n}`, { addresses: ['1'] })
  await park('its')
  await park('translated-later', { untranslated: true })
  await park('of-a-message-in-memory', { msgId: newId(Date.now()) })
  expect(await found()).toEqual(['its 1'])
  expect(await found(2)).toEqual(['its 1'])
  await submitted(msgId, { carrierId: null, sentAtMs: Date.now() - 90_000 })
  expect(await found()).toEqual(['its 2'])
  await submitted(newId(Date.now()), { carrierId: null })
  expect(await found()).toEqual([])
})

test('a number as sender is known by its digits, in either place', async () => {
  await submitted(newId(Date.now()), { sender: '4930123' })
  await park('its', { addresses: ['4930123', '15551230000'], senderName: null })
  expect(await found()).toEqual(['its 1'])
})

test('a receipt whose id a message has is of that one', async () => {
  await submitted(newId(Date.now()))
  const other = await storeMessage(db, plan)
  await recordOutcomes(db, [submission(plan, other, 'known')])
  await park('known')
  expect(await found()).toEqual([])
})

test('the ends of lanes are in the records once their journal is cut there, or they are gone', async () => {
  expect(await isAnyUnanswered(db)).toBe(false)
  await submitted(newId(Date.now()))
  expect(await isAnyUnanswered(db)).toBe(true)
  const [one, other, idle] = [await openLane(db, 1), await openLane(db, 2), await openLane(db, 3)]
  for (const lane of [one, other]) await appendEntry(db, lane, 1, EMPTY_GROUP)
  const read = await readLaneEnds(db)
  expect(read.ends).toEqual([one, other].map(({ lane }) => ({ lane, n: 1 })))
  await appendEntry(db, one, 2, EMPTY_GROUP)
  expect(await areInRecords(db, read)).toBe(false)
  await cutJournal(db, one, 1)
  expect(await areInRecords(db, read)).toBe(false)
  await cutJournal(db, other, 1)
  expect(await areInRecords(db, read)).toBe(true)
  await cutJournal(db, one, 2)
  for (const lane of [one, other, idle]) await closeLane(db, lane)
  expect(await areInRecords(db, read)).toBe(true)
  expect((await readLaneEnds(db)).ends).toEqual([])
})

test('a message is awaited while a lane has it in progress', async () => {
  const msgId = await storeMessage(db, plan, { recipient: '+15551230001' })
  const awaited = (lowest: string) => findAwaited(db, ['15551230001', '1'], lowest)
  expect(await awaited(lowestIdAt(0))).toEqual(new Set())
  await db.query('update messages set lane = 1 where msg_id = $1', [msgId])
  expect(await awaited(lowestIdAt(0))).toEqual(new Set(['15551230001']))
  expect(await awaited(lowestIdAt(Date.now() + 1_000))).toEqual(new Set())
})

test('a submit is written once, and deleted when it is answered or old', async () => {
  const msgId = newId(Date.now())
  const sentAtMs = Date.now() - 73 * HOUR_MS
  for (const atMs of [sentAtMs, sentAtMs, sentAtMs + 1_000, Date.now()])
    await submitted(msgId, { sentAtMs: atMs })
  const left = async () => (await db.query('select from unanswered_submits')).rowCount
  expect(await left()).toBe(3)
  await deleteAnsweredSubmits(db, [{ recipient: '15551230000', msgId }])
  expect(await left()).toBe(2)
  expect(await deleteOldUnansweredSubmits(db, 72 * HOUR_MS, 10)).toBe(1)
  expect(await left()).toBe(1)
})
