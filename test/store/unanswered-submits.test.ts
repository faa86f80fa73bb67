import { beforeEach, expect, test } from 'vitest'
import type { UnansweredSubmit } from '../../src/domain/journal/messages-in-doubt.ts'
import { closeLane, openLane } from '../../src/store/journal.ts'
import { registerNode, removeNode } from '../../src/store/nodes.ts'
import { type ParkedPlace, parkReceipts } from '../../src/store/parked-receipts.ts'
import {
  addUnansweredSubmits,
  areSubmitsKnown,
  deleteAnsweredSubmits,
  deleteOldUnansweredSubmits,
  findReceiptsByAddress,
} from '../../src/store/unanswered-submits.ts'
import { CARRIER_ID, installedDatabase, newId } from '../support/installation.ts'
import { receipt, recordOutcomes, storeMessage, submission } from '../support/stored-messages.ts'

const { db, announcedPlan: plan } = await installedDatabase()
const OLDEST: ParkedPlace = { parkedAt: new Date(0).toISOString(), parkedId: 0 }
const HOUR_MS = 3_600_000

beforeEach(() => db.query('truncate parked_receipts, submissions, unanswered_submits'))

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
    const page = await findReceiptsByAddress(db, { after, waitMs: 0, withinMs: 72 * HOUR_MS, limit })
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

test('nothing is matched while a lane is not recovered, or nothing is in doubt', async () => {
  expect(await areSubmitsKnown(db)).toBe(false)
  await submitted(newId(Date.now()))
  expect(await areSubmitsKnown(db)).toBe(true)
  const nodeId = await registerNode(db, 'dead')
  const lane = await openLane(db, nodeId!)
  expect(await areSubmitsKnown(db)).toBe(true)
  await removeNode(db, nodeId!)
  expect(await areSubmitsKnown(db)).toBe(false)
  await closeLane(db, lane)
  expect(await areSubmitsKnown(db)).toBe(true)
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
