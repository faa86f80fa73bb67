import { beforeEach, describe, expect, test } from 'vitest'
import type { ChangedMessage } from '../../../src/domain/journal/messages-in-progress.ts'
import { recoverLanes } from '../../../src/operations/recover-lanes.ts'
import { IdRules } from '../../../src/services/messages/id-rules.ts'
import { MessagesInProgress } from '../../../src/services/messages/messages-in-progress.ts'
import { Recorder } from '../../../src/services/messages/recorder.ts'
import type { Database } from '../../../src/store/database.ts'
import { takeOverLane } from '../../../src/store/journal.ts'
import { registerNode, removeNode } from '../../../src/store/nodes.ts'
import { aDirectory } from '../../support/directory.ts'
import { gatedDatabase } from '../../support/gated-database.ts'
import { nothingInProgress } from '../../support/in-progress.ts'
import { installedDatabase, newId } from '../../support/installation.ts'
import { KeptLog } from '../../support/log.ts'
import { submittedFact } from '../../support/messages-in-memory.ts'
import { eventually } from '../../support/service.ts'
import {
  announced,
  countOf,
  HOLDER,
  insertMessages,
  newMessage,
  receipt,
  sent,
  statusOf,
  storeMessage,
  submission,
} from '../../support/stored-messages.ts'
import { requestFor, takeDue } from '../../support/taken.ts'

const database = await installedDatabase()
const plan = database.announcedPlan
let directory = aDirectory()
let changed: ChangedMessage[]
let holders: Set<number | null>
let log: KeptLog
let recorder: Recorder

beforeEach(() => {
  changed = []
  holders = new Set()
  log = new KeptLog()
  directory = aDirectory()
  recorder = aRecorder()
})

function aRecorder(db = database.db, inProgress = nothingInProgress(db)): Recorder {
  return new Recorder({
    db,
    directory: () => directory,
    clock: Date.now,
    inProgress,
    writeEvents: (write) => write(HOLDER),
    idRules: new IdRules({
      isAlone: () => true,
      db: database.db,
      directory: () => directory,
      clock: Date.now,
      log,
    }),
    onChanged(messages, holder) {
      changed.push(...messages)
      holders.add(holder)
    },
    log,
  })
}

/** The database, with every statement told before it runs. */
function watched(tell: (name: string, values: string[]) => void): Database {
  const query = (statement: { name: string; text: string; values: string[] }) => {
    tell(statement.name, statement.values)
    return database.db.query(statement)
  }
  return new Proxy(database.db, { get: (db, key) => (key === 'query' ? query : db[key as keyof Database]) })
}

/** Gives a receipt to the recorder; resolves with its answer. */
function received(...args: Parameters<typeof receipt>): Promise<boolean> {
  return new Promise((done) => recorder.addReceipt({ receipt: receipt(...args), done }))
}

describe('submissions and receipts', () => {
  test('a receipt after its submission finds it, however many are written at once', async () => {
    const count = 1_300
    const ids = Array.from({ length: count }, (_, index) => newId(Date.now(), index % 256))
    const rows = ids.map((msg_id) => newMessage(plan, { msg_id }))
    await insertMessages(database.db, rows)
    for (const msgId of ids) {
      recorder.addOutcome(submission(plan, msgId, `many-${msgId}`))
      recorder.addOutcome(sent(plan, msgId))
    }
    // The last is delivered first.
    const answers = ids.toReversed().map((msgId) => received(`many-${msgId}`, 'DELIVERED'))
    expect(await Promise.all(answers)).toEqual(ids.map(() => true))
    const perMessage = Map.groupBy(changed, ({ msgId }) => msgId)
    for (const msgId of ids) {
      const statuses = perMessage.get(msgId)!.map(({ status, sequence }) => `${sequence} ${status}`)
      expect(statuses).toEqual(['1 SENT', '2 DELIVERED'])
    }
    expect([...holders]).toEqual([HOLDER.nodeId])
    const { rows: unsent } = await database.db.query('select 1 from messages where sent_at is null')
    expect(unsent).toHaveLength(0)
    expect(await countOf(database.db, 'parked_receipts')).toBe(0)
  })

  test('two parked receipts of an id that the carrier has given twice: each ends a message', async () => {
    const [older, newer] = [await storeMessage(database.db, plan), await storeMessage(database.db, plan)]
    const repeated = ['one', 'two'].map((text) =>
      receipt('repeated', 'DELIVERED', { receipt: { text, tlvs: {} } }),
    )
    expect(
      await Promise.all(
        repeated.map((row) => new Promise((done) => recorder.addReceipt({ receipt: row, done }))),
      ),
    ).toEqual([true, true])
    expect(await countOf(database.db, 'parked_receipts')).toBe(2)
    for (const msgId of [older, newer]) {
      recorder.addOutcome(submission(plan, msgId, 'repeated'))
      recorder.addOutcome(sent(plan, msgId))
    }
    await eventually(async () => (await countOf(database.db, 'parked_receipts')) === 0)
    for (const msgId of [older, newer])
      expect(await announced(database.db, msgId)).toEqual(['SENT', 'DELIVERED'])
  })

  test('no submission is written before the settlement that is there: another node may have its receipt', async () => {
    const ids = Array.from({ length: 1_200 }, (_, index) => newId(Date.now(), index % 256))
    await insertMessages(
      database.db,
      ids.map((msg_id) => newMessage(plan, { msg_id })),
    )
    for (const msgId of ids) recorder.addOutcome(submission(plan, msgId, `whole-${msgId}`))
    for (const msgId of ids) recorder.addOutcome(sent(plan, msgId))
    await recorder.drain(20_000)
    const { rows } = await database.db.query(
      `select count(*) as together, count(distinct m.xmin::text) as batches
       from messages m join submissions s on s.msg_id = m.msg_id and s.xmin = m.xmin where m.msg_id = any ($1::uuid[])`,
      [ids],
    )
    expect(rows).toEqual([{ together: 1_200, batches: 3 }])
  })

  test('a receipt before its submission is parked, acknowledged, and applied afterwards', async () => {
    const msgId = await storeMessage(database.db, plan)
    expect(await received(`early-${msgId}`, 'DELIVERED')).toBe(true)
    expect(await countOf(database.db, 'parked_receipts')).toBe(1)
    recorder.addOutcome(submission(plan, msgId, `early-${msgId}`))
    recorder.addOutcome(sent(plan, msgId))
    await recorder.drain(5_000)
    expect(await announced(database.db, msgId)).toEqual(['SENT', 'DELIVERED'])
    expect(await countOf(database.db, 'parked_receipts')).toBe(0)
  })

  test('parked receipts that could not be looked for are looked for again', async () => {
    let failures = 0
    const troubled = watched((name) => {
      if (name === 'find_parked_receipts' && failures++ === 0) throw new Error('connection lost')
    })
    const msgId = await storeMessage(database.db, plan)
    expect(await received(`later-${msgId}`, 'DELIVERED')).toBe(true)
    recorder = aRecorder(troubled)
    recorder.addOutcome(submission(plan, msgId, `later-${msgId}`))
    recorder.addOutcome(sent(plan, msgId))
    await eventually(async () => (await statusOf(database.db, msgId)) === 'DELIVERED')
    expect(log.errors).toEqual(['carrier outcomes not recorded yet'])
  })

  test('of several receipts for one id in a batch the first final counts, and all are answered', async () => {
    const msgId = await storeMessage(database.db, plan)
    recorder.addOutcome(submission(plan, msgId, `rep-${msgId}`))
    recorder.addOutcome(sent(plan, msgId))
    const outcomes = ['UNKNOWN', 'UNKNOWN', 'DELIVERED', 'FAILED', 'UNKNOWN'] as const
    const answers = outcomes.map((outcome) => received(`rep-${msgId}`, outcome))
    expect(await Promise.all(answers)).toEqual(outcomes.map(() => true))
    expect(await announced(database.db, msgId)).toEqual(['SENT', 'UNKNOWN', 'DELIVERED'])
  })

  test('repetitions in a batch and intermediate receipts change nothing and are kept', async () => {
    const msgId = await storeMessage(database.db, plan)
    recorder.addOutcome(submission(plan, msgId, `${msgId}/0`, 0))
    recorder.addOutcome(sent(plan, msgId))
    recorder.addReceipt({ receipt: receipt(`${msgId}/0`, 'SENT'), done: null })
    await Promise.all([received(`${msgId}/0`, 'DELIVERED'), received(`${msgId}/0`, 'FAILED')])
    await recorder.drain(10_000)
    const { rows } = await database.db.query(
      'select outcome from receipts where msg_id = $1 order by outcome',
      [msgId],
    )
    expect(rows.map(({ outcome }) => outcome)).toEqual(['SENT', 'FAILED'])
    expect(await statusOf(database.db, msgId)).toBe('DELIVERED')
  })

  test('segments accepted late are written, but for those that are divided otherwise', async () => {
    const msgId = await storeMessage(database.db, plan, { segments: 3 })
    const late = (segments: bigint, segmentation: string) =>
      recorder.addOutcome({
        planId: plan,
        msgId,
        facts: [{ kind: 'pdus-accepted', atMs: Date.now(), pduBits: segments, segmentation }],
      })
    late(1n, 'udh GSM7 63')
    late(2n, 'udh16 GSM7 64')
    expect(recorder.backlog).toBe(2)
    await eventually(() => recorder.backlog === 0)
    late(1n << 62n, 'udh GSM7 63')
    await eventually(() => recorder.backlog === 0)
    const { rows } = await database.db.query(
      'select accepted_pdu_bits::text as parts, segmentation from dispatches where msg_id = $1',
      [msgId],
    )
    expect(rows).toEqual([{ parts: String((1n << 62n) + 1n), segmentation: 'udh GSM7 63' }])
    expect(await announced(database.db, msgId)).toEqual([])
  })

  test('a bad row among receipts is dropped alone, and answered so that it does not come again', async () => {
    const msgId = await storeMessage(database.db, plan)
    recorder.addOutcome(submission(plan, msgId, `good-${msgId}`))
    recorder.addOutcome(sent(plan, msgId))
    const answers = [
      received(`good-${msgId}`, 'DELIVERED'),
      received('bad', 'DELIVERED', { receivedAt: 'yesterday, perhaps' }),
    ]
    expect(await Promise.all(answers)).toEqual([true, true])
    expect(await statusOf(database.db, msgId)).toBe('DELIVERED')
    expect(log.errors).toEqual(['receipt refused by the database'])
    expect(recorder.failing).toBe(false)
  })

  test('a receipt whose id the database cannot look up holds up no others', async () => {
    const msgId = await storeMessage(database.db, plan)
    recorder.addOutcome(submission(plan, msgId, `good-${msgId}`))
    recorder.addOutcome(sent(plan, msgId))
    const answers = [
      received(`good-${msgId}`, 'DELIVERED'),
      received('bad', 'DELIVERED', { carrierId: 2 ** 40, idRule: 'auto', untranslated: true }),
    ]
    expect(await Promise.all(answers)).toEqual([true, true])
    expect(await statusOf(database.db, msgId)).toBe('DELIVERED')
    expect(log.errors).toEqual(['receipt refused by the database'])
    expect(recorder.failing).toBe(false)
  })

  test('a bad row among submissions does not hold up the others', async () => {
    const good = await storeMessage(database.db, plan)
    const bad = await storeMessage(database.db, plan)
    recorder.addOutcome({
      planId: plan,
      msgId: bad,
      facts: [{ ...submittedFact('bad'), carrierId: 2 ** 40 }],
    })
    recorder.addOutcome(sent(plan, bad))
    recorder.addOutcome(submission(plan, good, `fine-${good}`))
    recorder.addOutcome(sent(plan, good))
    expect(await received(`fine-${good}`, 'DELIVERED')).toBe(true)
    await recorder.drain(2_000)
    expect(await statusOf(database.db, good)).toBe('DELIVERED')
    expect(recorder.backlog).toBe(0)
    expect(recorder.failing).toBe(false)
  })

  test('an answer that is told to a message which came back is not lost with its lane', async () => {
    const { db } = database
    const [dead, living] = await Promise.all(['dead', 'living'].map((name) => registerNode(db, name)))
    await removeNode(db, dead!)
    const inProgress = new MessagesInProgress({ db, directory: () => directory, clock: Date.now, log })
    await inProgress.register(dead!)
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const gated = gatedDatabase(db, async (name, run) => {
      asked.resolve()
      if (name === 'connect') await answered.promise
      return await run()
    })
    recorder = aRecorder(gated, inProgress)
    const msgId = await storeMessage(db, plan, { msg_id: newId(Date.now() - 1_000) })
    recorder.addOutcome(sent(plan, msgId))
    await asked.promise
    await inProgress.load(dead!, (tx, lane) => takeDue(db, tx, lane, requestFor(plan), (id) => id !== msgId))
    await takeOverLane(db, { lane: inProgress.lane!, epoch: 1, nodeId: dead! }, living!)
    answered.resolve()
    await eventually(() => inProgress.lane === null)
    const recovery = { nodeId: living!, ambiguityWaitMs: 60_000, delivers: () => true, log }
    await eventually(async () => (await recoverLanes(db, recovery)) > 0)
    await eventually(async () => (await statusOf(db, msgId)) === 'SENT')
    await inProgress.stop(1_000)
  })

  test('beyond its bound receipts are refused at once', async () => {
    const answers: boolean[] = []
    for (let index = 0; index <= 20_000; index += 1)
      recorder.addReceipt({
        receipt: receipt('flood', 'DELIVERED'),
        done: (recorded) => answers.push(recorded),
      })
    expect(answers).toEqual([false])
    await recorder.drain(20_000)
    expect(answers).toHaveLength(20_001)
  })
})
