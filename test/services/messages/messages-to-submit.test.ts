/** Messages in memory that are still to be submitted: taken out of their records, requeued, and kept for long. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Attempted, Postponed } from '../../../src/domain/journal/message-facts.ts'
import { recoverLanes } from '../../../src/operations/recover-lanes.ts'
import type {
  MessagesInProgress,
  MessagesInProgressOptions,
} from '../../../src/services/messages/messages-in-progress.ts'
import { takeOverLane } from '../../../src/store/journal.ts'
import { registerNode, removeNode } from '../../../src/store/nodes.ts'
import { aDirectory, aPlan } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { gatedDatabase } from '../../support/gated-database.ts'
import { inProgressAt, MESSAGE_TABLES } from '../../support/in-progress.ts'
import { CARRIER_ID, installedDatabase, newId } from '../../support/installation.ts'
import { type KeptLog, quietLog } from '../../support/log.ts'
import { acceptedFact } from '../../support/messages-in-memory.ts'
import {
  clearTables,
  eventsOf,
  HOLDER,
  receipt,
  sent,
  storeMessage,
  submission,
} from '../../support/stored-messages.ts'
import { requestFor, takeDue } from '../../support/taken.ts'

const { db, announcedPlan: plan } = await installedDatabase({ poolSize: 6 })
const directory = aDirectory({ plans: [aPlan({ id: plan })] })

let nodeId: number
let inProgress: MessagesInProgress
let left: string[]
let log: KeptLog

beforeEach(async () => {
  await clearTables(db, ...MESSAGE_TABLES)
  nodeId = await registerNode(db, 'a')
  left = []
})

afterEach(async () => {
  await inProgress.stop(1_000)
  await removeNode(db, nodeId)
})

async function start(changes: Partial<MessagesInProgressOptions> = {}): Promise<void> {
  const of = { directory: () => directory, eventHolder: () => ({ ...HOLDER, nodeId }) }
  ;({ inProgress, left, log } = await inProgressAt(nodeId, of, { db, ...changes }))
}

const take = () =>
  inProgress.load(nodeId, (tx, lane, isHere) =>
    takeDue(db, tx, lane, { ...requestFor(plan), overdueMs: 0 }, isHere),
  )

async function accept(segments = 1): Promise<string> {
  const msgId = newId(Date.now())
  const accepted = acceptedFact(plan, msgId, { segments })
  expect(await inProgress.accept({ msgId, owner: nodeId, accepted })).toBe('committed')
  return msgId
}

/** Resolves while the message's record is being written. The function lets that go on, and resolves when it is written. */
async function heldUp(msgId: string): Promise<() => Promise<void>> {
  const blocker = await db.connect()
  await blocker.query('begin; lock table messages in share mode')
  const written = inProgress.project([msgId])
  await eventually(async () => {
    const { rows } = await db.query(
      `select from pg_locks where relation = 'messages'::regclass and not granted`,
    )
    return rows.length > 0
  })
  return async () => {
    await blocker.query('rollback')
    blocker.release()
    await written
  }
}

function postponed(changes: Partial<Postponed> = {}): Postponed {
  const atMs = Date.now()
  return {
    ...{ atMs, dueAtMs: atMs, failedAttempts: 1, carrierId: CARRIER_ID, acceptedPduBits: 0n },
    kind: 'postponed',
    ...{ segmentation: null, startedOver: false, ambiguous: false, routeId: 7, chosenCarrierId: 0 },
    ...changes,
  }
}

/** The lane that the record says has it, and what waits. */
async function recordOf(msgId: string) {
  const { rows } = await db.query(
    `select m.lane, m.status, d.failed_attempts as "failedAttempts" from messages m left join dispatches d using (msg_id) where msg_id = $1`,
    [msgId],
  )
  return rows[0]
}

async function cut(): Promise<number> {
  const { rows } = await db.query('select cut from lanes where lane = $1', [inProgress.lane])
  return rows[0].cut
}

/** As another node finds it when this one dies now. */
async function recoveredState(msgId: string) {
  await db.query('delete from nodes where node_id = $1', [nodeId])
  await recoverLanes(db, { nodeId: -1, ambiguityWaitMs: 60_000, delivers: () => true, log: quietLog })
  const { rows } = await db.query(
    `select m.status, m.lane, d.failed_attempts as "failedAttempts", d.ambiguous from messages m left join dispatches d using (msg_id)
     where msg_id = $1`,
    [msgId],
  )
  return rows
}

describe('a message that waited', () => {
  test('is taken, requeued and taken again: it is either in the lane or in the queue', async () => {
    await start()
    const msgId = await storeMessage(db, plan)
    expect(await take()).toMatchObject([
      { msgId, state: { status: 'QUEUED', dispatch: { failedAttempts: 0 } } },
    ])
    expect(await recordOf(msgId)).toMatchObject({ lane: inProgress.lane, failedAttempts: null })
    expect(await take()).toEqual([])
    const attempt: Attempted = {
      kind: 'attempted',
      outcome: 'retry',
      atMs: Date.now(),
      tookMs: 3,
      carrierId: CARRIER_ID,
      commandStatus: 20,
      segment: 0,
      resubmission: false,
      reason: 'only carrier',
    }
    expect(inProgress.addFacts(msgId, [attempt, postponed()])).toBe(true)
    await eventually(() => left.includes(msgId))
    expect(await recordOf(msgId)).toEqual({ lane: null, status: 'QUEUED', failedAttempts: 1 })
    const { rows } = await db.query('select outcome from submit_attempts where msg_id = $1', [msgId])
    expect(rows).toEqual([{ outcome: 'retry' }])
    expect(await take()).toMatchObject([{ msgId, state: { dispatch: { failedAttempts: 1, routeId: 7 } } }])
  })

  test('becomes its record once more when it is settled', async () => {
    await start()
    const msgId = await storeMessage(db, plan, { callback_url: null })
    await take()
    inProgress.addOutcome(submission(plan, msgId, msgId))
    inProgress.addOutcome(sent(plan, msgId))
    await eventually(() => inProgress.get(msgId)?.state.status === 'SENT')
    await inProgress.project([msgId])
    expect(await recordOf(msgId)).toEqual({ lane: null, status: 'SENT', failedAttempts: null })
  })

  test('is recorded where a carrier answers a repeated segment with the id of the first', async () => {
    await start()
    const msgId = await accept(2)
    inProgress.addBegun(msgId, () => undefined)
    inProgress.addOutcome(submission(plan, msgId, `${msgId}/0`, 0))
    await eventually(() => inProgress.get(msgId)?.submissions.length === 1)
    await removeNode(db, nodeId)
    await recoverLanes(db, { nodeId: -1, ambiguityWaitMs: 0, delivers: () => false, log: quietLog })
    await inProgress.stop(1_000)
    nodeId = await registerNode(db, 'b')
    await start()
    expect(await take()).toMatchObject([
      { msgId, state: { dispatch: { failedAttempts: 0, ambiguous: true } } },
    ])
    for (const segment of [0, 1])
      inProgress.addOutcome(submission(plan, msgId, `${msgId}/${segment}`, segment))
    inProgress.addOutcome(sent(plan, msgId))
    await eventually(() => inProgress.get(msgId)?.state.status === 'SENT')
    await inProgress.project([msgId])
    expect(await recordOf(msgId)).toEqual({ lane: null, status: 'SENT', failedAttempts: null })
  })

  test('is not taken while its former record may still be asked about, and holds up no other', async () => {
    const answer = Promise.withResolvers<void>()
    let isCommitted = false
    const around = async <T>(name: string | undefined, run: () => Promise<T>) => {
      const result = await run()
      if (name === 'commit' && !isCommitted && left.length === 0 && inProgress?.isLeaving(msgId)) {
        isCommitted = true
        await answer.promise
      }
      return result
    }
    await start({ db: gatedDatabase(db, around, { inTransactions: true }) })
    const msgId = await accept()
    inProgress.addFacts(msgId, [postponed()])
    await eventually(() => isCommitted)
    const other = await storeMessage(db, plan)
    expect(await take()).toMatchObject([{ msgId: other }])
    expect(await recordOf(msgId)).toMatchObject({ lane: null, failedAttempts: 1 })
    answer.resolve()
    await eventually(() => left.includes(msgId))
    expect(await take()).toMatchObject([{ msgId }])
  })
})

test('a message whose record is gone holds up no other', async () => {
  await start()
  const [gone, other] = [await storeMessage(db, plan), await storeMessage(db, plan)]
  await take()
  await db.query('delete from messages where msg_id = $1', [gone])
  for (const msgId of [gone, other]) inProgress.addOutcome(sent(plan, msgId))
  await eventually(() => inProgress.get(other)?.state.status === 'SENT')
  await inProgress.project([gone, other])
  expect(await recordOf(other)).toMatchObject({ lane: null, status: 'SENT' })
  expect(log.errors).toEqual(['message refused by the database: its record is not written'])
})

test('what is said while a message is recorded is in the journal before the lane ends', async () => {
  let letGo: (() => void) | null = null
  const around = async <T>(name: string | undefined, run: () => Promise<T>) => {
    if (name === 'append_entry' && isRenewing && letGo === null)
      await new Promise<void>((resolve) => {
        letGo = resolve
      })
    return await run()
  }
  let isRenewing = false
  await start({ db: gatedDatabase(db, around, { inTransactions: true }) })
  const msgId = await accept()
  isRenewing = true
  const renewed = inProgress.project([msgId])
  await eventually(() => letGo)
  inProgress.addOutcome(sent(plan, msgId))
  expect(inProgress.pending).toBeGreaterThan(0)
  const stopped = inProgress.stop(10_000)
  letGo!()
  await Promise.all([renewed, stopped])
  expect(await recoveredState(msgId)).toMatchObject([{ status: 'SENT', lane: null, failedAttempts: null }])
})

describe('a message that is being submitted', () => {
  test('is recorded when it is old and goes on here, so that the journal can be cut', async () => {
    await start({ ageMs: 0 })
    const msgId = await accept()
    await eventually(async () => (await recordOf(msgId))?.lane === inProgress.lane)
    expect(await recordOf(msgId)).toEqual({ lane: inProgress.lane, status: 'QUEUED', failedAttempts: null })
    // It is appended again and again, and is no obstacle to a cut, which the next projection makes.
    await eventually(async () => {
      const other = await storeMessage(db, plan, { callback_url: null })
      await take()
      inProgress.addOutcome(sent(plan, other, { status: 'FAILED', errorCode: '101' }))
      return (await cut()) > 1
    })
    expect(inProgress.get(msgId)).toMatchObject({ state: { status: 'QUEUED' } })
    inProgress.addOutcome(sent(plan, msgId))
    await eventually(async () => (await recordOf(msgId)).lane === null)
    expect(await recordOf(msgId)).toEqual({ lane: null, status: 'SENT', failedAttempts: null })
  })

  test('is recorded when that is needed; what happens meanwhile comes behind', async () => {
    await start()
    const msgId = await accept()
    const recorded = await heldUp(msgId)
    const begun = new Promise((told) => inProgress.addBegun(msgId, told))
    expect(inProgress.addFacts(msgId, [postponed({ failedAttempts: 3 })])).toBe(true)
    let isAppended = false
    inProgress.whenAppended(msgId, () => {
      isAppended = true
    })
    expect(isAppended).toBe(false)
    await recorded()
    expect(isAppended).toBe(true)
    expect(await begun).toBe(true)
    await eventually(() => left.includes(msgId))
    expect(await recordOf(msgId)).toEqual({ lane: null, status: 'QUEUED', failedAttempts: 3 })
  })

  test('whose lane is lost while it is recorded leaves, and who waits for its facts is not called', async () => {
    await start()
    const msgId = await accept()
    const recorded = await heldUp(msgId)
    inProgress.addFacts(msgId, [postponed()])
    let isAppended = false
    inProgress.whenAppended(msgId, () => {
      isAppended = true
    })
    const other = await registerNode(db, 'b')
    await takeOverLane(db, { lane: inProgress.lane!, epoch: 1, nodeId }, other)
    const isRecorded = recorded()
    await eventually(() => left.includes(msgId))
    expect(isAppended).toBe(false)
    // Who waits for the record gets it from the new owner.
    const recovery = { nodeId: other, ambiguityWaitMs: 60_000, delivers: () => true, log: quietLog }
    await eventually(async () => (await recoverLanes(db, recovery)) > 0)
    await isRecorded
    await removeNode(db, other)
  })

  test('is found by who takes the lane over as it was then', async () => {
    await start()
    const [idle, begun] = [await accept(), await accept()]
    await inProgress.project([idle, begun])
    await new Promise((told) => inProgress.addBegun(begun, told))
    expect(await recoveredState(idle)).toEqual([
      { status: 'QUEUED', lane: null, failedAttempts: 0, ambiguous: false },
    ])
    expect(await recoveredState(begun)).toEqual([
      { status: 'QUEUED', lane: null, failedAttempts: 0, ambiguous: true },
    ])
  })

  test('has its events in the records from then on, the next behind them', async () => {
    await start()
    const msgId = await accept(2)
    inProgress.addOutcome(submission(plan, msgId, `${msgId}/0`, 0))
    const row = receipt(`${msgId}/0`, 'FAILED', { mccmnc: null })
    await new Promise((done) => inProgress.receipts.match(row, done))
    expect(inProgress.get(msgId)?.events).toMatchObject([{ sequence: 1, status: 'FAILED' }])
    await inProgress.project([msgId])
    expect(await recordOf(msgId)).toMatchObject({ lane: inProgress.lane, status: 'FAILED' })
    expect(await eventsOf(db, msgId)).toEqual([{ sequence: 1, status: 'FAILED', holder: nodeId }])
    const answer = { latencyMs: 1, responseStatus: 200, responseHead: null, destination: null }
    const taken = { kind: 'event-taken', sequence: 1, attemptedAtMs: 1, ...answer } as const
    expect(inProgress.eventTaken(msgId, taken)).toBe(false)
    const { rows } = await db.query('select count(*)::integer as count from submissions where msg_id = $1', [
      msgId,
    ])
    expect(rows).toEqual([{ count: 1 }])
    inProgress.addOutcome(sent(plan, msgId))
    await eventually(async () => (await recordOf(msgId)).lane === null)
    expect(await recordOf(msgId)).toMatchObject({ lane: null, status: 'FAILED' })
    expect(await eventsOf(db, msgId)).toHaveLength(1)
  })
})
