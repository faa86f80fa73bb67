import { afterEach, beforeEach, expect, test } from 'vitest'
import type { IncomingReceipt } from '../../../src/domain/journal/incoming-receipts.ts'
import { MessagesInProgress } from '../../../src/services/messages/messages-in-progress.ts'
import type { ReceiptItem } from '../../../src/services/messages/recorder.ts'
import { type HandedReceipt, SiblingReceipts } from '../../../src/services/receiving/sibling-receipts.ts'
import { aDirectory, aPlan } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { nothingInProgress } from '../../support/in-progress.ts'
import { installedDatabase, newId } from '../../support/installation.ts'
import { quietLog } from '../../support/log.ts'
import { acceptedFact } from '../../support/messages-in-memory.ts'
import { clearTables, HOLDER, NODE, receipt, submission } from '../../support/stored-messages.ts'

const { db, announcedPlan: plan } = await installedDatabase({ poolSize: 4 })
const directory = aDirectory({ plans: [aPlan({ id: plan })] })

let owner: MessagesInProgress
/** Receipts that took the way through the tables. */
let recorded: ReceiptItem[]

beforeEach(async () => {
  await clearTables(db, 'lanes', 'journal', 'messages', 'submissions', 'events', 'event_deliveries')
  recorded = []
  owner = new MessagesInProgress({
    db,
    directory: () => directory,
    clock: Date.now,
    log: quietLog,
    ageMs: 3_600_000,
  })
  owner.heardBy({ eventHolder: () => HOLDER })
  await owner.register(NODE)
})
afterEach(() => owner.stop(1_000))

type Ask = (rows: readonly IncomingReceipt[]) => Promise<readonly (readonly HandedReceipt[])[]>

/** A worker that has no messages, and the owner beside it. */
function workers() {
  const recorder = { addReceipt: (item: ReceiptItem) => void recorded.push(item) }
  const atOwner = new SiblingReceipts({ receiptsHere: owner.receipts, recorder })
  const asked: number[] = []
  const ask: Ask = async (rows) => {
    asked.push(rows.length)
    return [await atOwner.take(rows), rows.map((): HandedReceipt => 'unknown')]
  }
  return { asked, worker: workerThatAsks(ask) }
}

function workerThatAsks(ask: Ask): SiblingReceipts {
  const recorder = { addReceipt: (item: ReceiptItem) => void recorded.push(item) }
  return new SiblingReceipts({ receiptsHere: nothingInProgress(db).receipts, recorder, ask })
}

function answerTo(worker: SiblingReceipts, row: IncomingReceipt): Promise<boolean> {
  return new Promise((done) => expect(worker.handOver({ receipt: row, done })).toBe(true))
}

async function accepted(): Promise<string> {
  const msgId = newId(Date.now())
  expect(
    await owner.accept({ msgId, owner: NODE, accepted: acceptedFact(plan, msgId, { begun: true }) }),
  ).toBe('committed')
  return msgId
}

test('receipts of another worker are committed there, those of one turn together, and then acknowledged', async () => {
  const { asked, worker } = workers()
  const msgIds = [await accepted(), await accepted()]
  for (const msgId of msgIds) owner.addOutcome(submission(plan, msgId, msgId))
  const answers = msgIds.map((msgId) =>
    answerTo(worker, receipt(msgId, 'DELIVERED')).then((answer) => [answer, owner.get(msgId)?.state.status]),
  )
  expect(await Promise.all(answers)).toEqual([
    [true, 'DELIVERED'],
    [true, 'DELIVERED'],
  ])
  expect([asked, recorded]).toEqual([[2], []])
})

test('one that overtakes the answer to its submit_sm by a turn finds its message', async () => {
  const { worker } = workers()
  const msgId = await accepted()
  const answer = answerTo(worker, receipt(msgId, 'DELIVERED'))
  // Behind the offer, which goes out in this phase too.
  setImmediate(() => owner.addOutcome(submission(plan, msgId, msgId)))
  expect(await answer).toBe(true)
  expect(recorded).toEqual([])
})

test('one that the owner cannot take as a fact is recorded by the owner', async () => {
  const { worker } = workers()
  const msgId = await accepted()
  owner.addOutcome(submission(plan, msgId, msgId))
  expect(await answerTo(worker, receipt(msgId, 'DELIVERED'))).toBe(true)
  const again = answerTo(worker, receipt(msgId, 'DELIVERED'))
  const item = await eventually(() => recorded[0])
  item.done?.(false)
  expect([await again, recorded.length]).toEqual([false, 1])
})

test.each<[string, Ask]>([
  ['that nobody knows', async (rows) => [rows.map(() => 'unknown'), rows.map(() => 'unknown')]],
  ['when no worker answers in time', async () => []],
])('a receipt %s takes the way through the tables', async (_name, ask) => {
  const row = receipt('late', 'DELIVERED')
  const answer = answerTo(workerThatAsks(ask), row)
  const item = await eventually(() => recorded[0])
  expect(item.receipt).toBe(row)
  item.done?.(true)
  expect(await answer).toBe(true)
})

test('an intermediate one, which was answered at once, is kept by the owner', async () => {
  const { worker } = workers()
  const msgId = await accepted()
  owner.addOutcome(submission(plan, msgId, msgId))
  expect(worker.handOver({ receipt: receipt(msgId, 'SENT'), done: null })).toBe(true)
  await eventually(() => owner.get(msgId)?.receipts.length === 1)
  expect(await answerTo(worker, receipt(msgId, 'DELIVERED'))).toBe(true)
  expect(recorded).toEqual([])
})

test('intermediate ones without end leave room for final ones', () => {
  const worker = workerThatAsks(() => new Promise(() => undefined))
  const offers = (outcome: 'SENT' | 'DELIVERED') =>
    worker.handOver({ receipt: receipt('flood', outcome), done: null })
  let offered = 0
  while (offers('SENT')) offered += 1
  expect([offered, offers('DELIVERED')]).toEqual([2_500, true])
})

test('one whose id cannot be read yet is not offered', () => {
  const { asked, worker } = workers()
  const isOffered = worker.handOver({
    receipt: receipt('raw', 'DELIVERED', { untranslated: true }),
    done: null,
  })
  expect([isOffered, recorded.length, asked]).toEqual([false, 0, []])
})
