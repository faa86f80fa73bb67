/** When a parked receipt may be matched by its addresses: what became of every submit from before it is in the records. */
import { beforeEach, expect, test } from 'vitest'
import { receiptsByAddress } from '../../../src/services/receiving/receipts-by-address.ts'
import type { Database } from '../../../src/store/database.ts'
import { appendEntry, cutJournal, EMPTY_GROUP, openLane } from '../../../src/store/journal.ts'
import { parkReceipts } from '../../../src/store/parked-receipts.ts'
import { addUnansweredSubmits } from '../../../src/store/unanswered-submits.ts'
import { aDirectory, aPlan } from '../../support/directory.ts'
import { gatedDatabase } from '../../support/gated-database.ts'
import { CARRIER_ID, installedDatabase } from '../../support/installation.ts'
import { strictLog } from '../../support/log.ts'
import { clearTables, NOBODY, NODE, receipt, storeMessage } from '../../support/stored-messages.ts'

const { db, announcedPlan: plan } = await installedDatabase()
const directory = aDirectory({ plans: [aPlan({ id: plan })] })

let inDoubt: string

beforeEach(async () => {
  await clearTables(db, 'messages', 'dispatches', 'submissions', 'events', 'parked_receipts')
  await clearTables(db, 'unanswered_submits', 'lanes', 'journal')
  inDoubt = await storeMessage(db, plan)
  await noted(inDoubt)
  await parkReceipts(db, [{ ...receipt('nobody-knows', 'DELIVERED'), msgId: null }])
})

/** The message's submit was not answered. */
async function noted(msgId: string): Promise<void> {
  await db.query('update dispatches set ambiguous = true where msg_id = $1', [msgId])
  const addresses = { recipient: '15551230000', sender: 'Aldis' }
  const submit = { planId: plan, msgId, ...addresses, carrierId: CARRIER_ID, sentAtMs: Date.now() - 60_000 }
  await addUnansweredSubmits(db, [submit])
}

/** Enough looks for a receipt that may be matched: the lanes' ends are read, then found in the records. */
async function look(using: Database = db): Promise<void> {
  const task = receiptsByAddress({
    ...{ db: using, directory: () => directory, clock: Date.now, log: strictLog, responseTimeoutMs: 1 },
    writeEvents: (write) => write(NOBODY),
    onChanged: () => undefined,
  })
  for (let runs = 3; runs > 0; runs -= 1) {
    await task.startNow()
    await task.stop()
  }
}

async function statusOf(msgId: string): Promise<string> {
  const { rows } = await db.query('select status from messages where msg_id = $1', [msgId])
  return rows[0].status
}

async function inLane(msgId: string, lane: number | null): Promise<void> {
  await db.query('update messages set lane = $2 where msg_id = $1', [msgId, lane])
}

test('once all lanes are in the records as far as they went: the receipt is of the message in doubt', async () => {
  const lane = await openLane(db, NODE)
  // Of a message that was submitted, and has no record yet.
  await appendEntry(db, lane, 1, EMPTY_GROUP)
  await look()
  expect(await statusOf(inDoubt)).toBe('QUEUED')
  await cutJournal(db, lane, 1)
  await look()
  expect(await statusOf(inDoubt)).toBe('DELIVERED')
})

test('a message to the same recipient is in progress: its submit may have no answer yet', async () => {
  const awaited = await storeMessage(db, plan, { sender: 'Aldis' })
  await inLane(awaited, 1)
  await look()
  expect(await statusOf(inDoubt)).toBe('QUEUED')
  await inLane(awaited, null)
  await look()
  expect(await statusOf(inDoubt)).toBe('DELIVERED')
})

test('it was in progress at first, and is in doubt too when the others are asked for: it may be of either', async () => {
  const awaited = await storeMessage(db, plan)
  await inLane(awaited, 1)
  const finds: unknown[] = []
  const between = gatedDatabase(db, async (name, run) => {
    const result = await run()
    if (name === 'find_receipts_by_address' && finds.push(result) === 1) {
      await noted(awaited)
      await inLane(awaited, null)
    }
    return result
  })
  await look(between)
  expect(finds.length).toBeGreaterThan(1)
  for (const msgId of [inDoubt, awaited]) expect(await statusOf(msgId)).toBe('QUEUED')
})

test('a server with records is away: nothing is matched, because its messages are not seen', async () => {
  db.awayPlans = new Set([plan + 1])
  await look()
  db.awayPlans = undefined
  expect(await statusOf(inDoubt)).toBe('QUEUED')
})
