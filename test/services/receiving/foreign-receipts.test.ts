import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PeriodicTask } from '../../../src/services/loops/periodic-task.ts'
import { IdRules } from '../../../src/services/messages/id-rules.ts'
import { MessagesInProgress } from '../../../src/services/messages/messages-in-progress.ts'
import { Recorder } from '../../../src/services/messages/recorder.ts'
import { foreignReceipts } from '../../../src/services/receiving/foreign-receipts.ts'
import { withTransaction } from '../../../src/store/database.ts'
import { lockMessages } from '../../../src/store/messages-at-rest.ts'
import { parkReceipts } from '../../../src/store/parked-receipts.ts'
import { writeRecords } from '../../../src/store/records.ts'
import { aDirectory, aPlan } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { gatedDatabase } from '../../support/gated-database.ts'
import { nothingInProgress } from '../../support/in-progress.ts'
import { CARRIER_ID, installedDatabase, newId } from '../../support/installation.ts'
import { strictLog } from '../../support/log.ts'
import { acceptedFact, inMemory, projected, submittedFact } from '../../support/messages-in-memory.ts'
import {
  announced,
  clearTables,
  countOf,
  HOLDER,
  NOBODY,
  NODE,
  receipt,
  sent,
  submission,
} from '../../support/stored-messages.ts'

const { db, announcedPlan: plan } = await installedDatabase({ poolSize: 6 })
const directory = aDirectory({ plans: [aPlan({ id: plan })] })
const idRules = new IdRules({
  isAlone: () => true,
  db,
  directory: () => directory,
  clock: Date.now,
  log: strictLog,
})
const shared = {
  ...{ db, idRules, directory: () => directory, clock: Date.now, onChanged: () => undefined },
  log: strictLog,
}

let isAlone: boolean
let looks: string[]
let owner: MessagesInProgress
let ofOwner: Recorder
let foreign: PeriodicTask
/** Another node, over whose link the receipts come. */
const ofOther = new Recorder({
  ...shared,
  inProgress: nothingInProgress(db),
  writeEvents: (write) => write(NOBODY),
})

beforeEach(async () => {
  await clearTables(db, 'messages', 'submissions', 'events', 'event_deliveries', 'parked_receipts')
  isAlone = false
  looks = []
  owner = new MessagesInProgress({ ...shared, ageMs: 3_600_000 })
  owner.heardBy({
    eventHolder: () => HOLDER,
    onProjected: (submissions) => ofOwner.lookUpParked(submissions),
  })
  ofOwner = new Recorder({ ...shared, inProgress: owner, writeEvents: (write) => write(HOLDER) })
  await owner.register(NODE)
  const watched = gatedDatabase(db, (name, run) => {
    looks.push(name ?? '')
    return run()
  })
  const lease = {
    get isAlone() {
      return isAlone
    },
  }
  foreign = foreignReceipts({ ...shared, db: watched, lease, recorder: ofOwner })
  foreign.start()
})

afterEach(async () => {
  await foreign.stop()
  await ofOwner.drain(1_000)
  await owner.stop(1_000)
})

/** A message in the memory of its owner. */
async function accept(): Promise<string> {
  const msgId = newId(Date.now())
  expect(
    await owner.accept({ msgId, owner: NODE, accepted: acceptedFact(plan, msgId, { begun: true }) }),
  ).toBe('committed')
  return msgId
}

function submit(msgId: string): void {
  ofOwner.addOutcome(submission(plan, msgId, msgId))
  ofOwner.addOutcome(sent(plan, msgId))
}

const received = (msgId: string) =>
  new Promise((done) => ofOther.addReceipt({ receipt: receipt(msgId, 'DELIVERED'), done }))

test('a receipt over the link of another node delivers a message that its owner has in memory', async () => {
  const msgId = await accept()
  submit(msgId)
  expect(await received(msgId)).toBe(true)
  await eventually(async () => (await announced(db, msgId)).at(-1) === 'DELIVERED')
  expect([await announced(db, msgId), await countOf(db, 'parked_receipts')]).toEqual([
    ['SENT', 'DELIVERED'],
    0,
  ])
})

test('none is missed among many that are parked at once, however late', async () => {
  const msgId = await accept()
  submit(msgId)
  const nowMs = Date.now()
  const others = Array.from({ length: 2_500 }, (_, index) => ({
    ...receipt(`other-${index}`, 'DELIVERED'),
    receivedAt: new Date(nowMs).toISOString(),
    msgId: null,
  }))
  const own = {
    ...receipt(msgId, 'DELIVERED'),
    receivedAt: new Date(nowMs - 5_000).toISOString(),
    msgId: null,
  }
  await parkReceipts(db, [own, ...others])
  await eventually(async () => (await announced(db, msgId)).at(-1) === 'DELIVERED')
})

test('so does one that comes before the answer to the submit', async () => {
  const msgId = await accept()
  expect(await received(msgId)).toBe(true)
  const seen = looks.length
  await eventually(() => looks.length > seen + 1)
  submit(msgId)
  await eventually(async () => (await announced(db, msgId)).at(-1) === 'DELIVERED')
})

test('what has been parked for a message that is not here is left alone', async () => {
  const msgId = newId(Date.now())
  await received(msgId)
  const seen = looks.length
  await eventually(() => looks.length > seen + 1)
  expect(await countOf(db, 'parked_receipts')).toBe(1)
  expect(owner.receipts.isKnown({ carrierId: CARRIER_ID, carrierMessageId: msgId })).toBe(false)
})

test('a node that is alone reads none', async () => {
  isAlone = true
  const seen = looks.length
  const msgId = await accept()
  await received(msgId)
  submit(msgId)
  await owner.project([msgId])
  await eventually(async () => (await announced(db, msgId)).at(-1) === 'DELIVERED')
  expect(looks.slice(seen + 1)).toEqual([])
})

/** A message of two segments that its owner has taken out of its record to submit the second. */
async function loadHalfSubmitted(): Promise<string> {
  const message = inMemory(plan, (id) => [submittedFact(`${id}/0`)], { segments: 2 })
  const { msgId } = message
  await withTransaction(db, (tx) => writeRecords(tx, [projected(message)], null))
  await owner.load(NODE, async (tx) => {
    const { messages } = await lockMessages(tx, [{ planId: plan, msgId }])
    const { accepted, loaded } = messages.get(msgId)!
    await tx.query('update messages set lane = $2 where msg_id = $1', [msgId, owner.lane])
    await tx.query('delete from dispatches where msg_id = $1', [msgId])
    return [{ msgId, accepted, ...loaded! }]
  })
  return msgId
}

async function deliveredBits(msgId: string): Promise<string | undefined> {
  const { rows } = await db.query(
    'select delivered_bits::text as bits from messages where msg_id = $1 and lane is null',
    [msgId],
  )
  return rows[0]?.bits
}

test('a segment that was accepted before its message was taken out of its record is known when that has its end', async () => {
  const msgId = await loadHalfSubmitted()
  const row = receipt(`${msgId}/0`, 'DELIVERED')
  expect(await new Promise((done) => ofOwner.addReceipt({ receipt: row, done }))).toBe(true)
  expect(await countOf(db, 'parked_receipts')).toBe(1)
  ofOwner.addOutcome(sent(plan, msgId))
  await eventually(async () => (await deliveredBits(msgId)) === '1')
  await eventually(async () => (await countOf(db, 'parked_receipts')) === 0)
})

test('and by what another node parks for it', async () => {
  const msgId = await loadHalfSubmitted()
  expect(await received(`${msgId}/0`)).toBe(true)
  const seen = looks.length
  await eventually(() => looks.length > seen + 1)
  ofOwner.addOutcome(sent(plan, msgId))
  await eventually(async () => (await deliveredBits(msgId)) === '1')
  await eventually(async () => (await countOf(db, 'parked_receipts')) === 0)
})

test('intermediate receipts of it are kept wherever they come', async () => {
  const msgId = await loadHalfSubmitted()
  const atMs = Date.now()
  for (const [index, recorder] of [ofOwner, ofOther].entries()) {
    const receivedAt = new Date(atMs - index).toISOString()
    recorder.addReceipt({ receipt: receipt(`${msgId}/0`, 'SENT', { receivedAt }), done: null })
  }
  const kept = async () =>
    (await db.query('select outcome from receipts where msg_id = $1', [msgId])).rows.length
  await eventually(async () => (await kept()) === 2)
  expect(await deliveredBits(msgId)).toBeUndefined()
})

test('an answer to a message that another process has in progress waits for its record', async () => {
  const msgId = await loadHalfSubmitted()
  ofOther.addOutcome(submission(plan, msgId, `${msgId}/1`, 1))
  ofOther.addOutcome(sent(plan, msgId))
  expect(ofOther.backlog).toBe(2)
  expect(await received(`${msgId}/0`)).toBe(true)
  expect(await deliveredBits(msgId)).toBeUndefined()
  ofOwner.addOutcome(sent(plan, msgId))
  await owner.project([msgId])
  await eventually(() => ofOther.backlog === 0)
  const { rows } = await db.query('select segment from submissions where msg_id = $1 order by 1', [msgId])
  expect(rows).toEqual([{ segment: 0 }, { segment: 1 }])
})
