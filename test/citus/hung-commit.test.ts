/** A worker that stops at the COMMIT of a transaction: what the transaction has locked stays locked until it is back. */
import { expect, test } from 'vitest'
import type { MessageInProgress } from '../../src/domain/journal/messages-in-progress.ts'
import { IdRules } from '../../src/services/messages/id-rules.ts'
import { MessagesInProgress } from '../../src/services/messages/messages-in-progress.ts'
import { Recorder } from '../../src/services/messages/recorder.ts'
import { serversOfPlans } from '../../src/store/citus.ts'
import { findMessage } from '../../src/store/messages.ts'
import { signalAll } from '../faults/postgres-server.ts'
import { aDirectory } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { type Around, gatedDatabase } from '../support/gated-database.ts'
import { newId } from '../support/installation.ts'
import { KeptLog } from '../support/log.ts'
import { acceptedFact } from '../support/messages-in-memory.ts'
import {
  HOLDER,
  insertMessages,
  NODE,
  newMessage,
  receipt,
  recordOutcomes,
  sent,
  storeMessage,
  submission,
} from '../support/stored-messages.ts'
import { requestFor, takeDue } from '../support/taken.ts'
import { createPlans, migrated, ownCluster, workerOf } from './cluster.ts'

const cluster = await ownCluster()
const db = await migrated(cluster, 12)
const plans = await createPlans(db, 8)
const servers = await serversOfPlans(db)
const there = plans.filter((planId) => servers.get(planId) !== servers.get(plans[0]!))
const SERVERS = 2
const worker = await workerOf(cluster, db, plans[0]!)

/** Stops the worker once, when so many transactions, or the one with a journal entry, are about to be committed. */
function stopAtCommit(of: number | 'entry') {
  let isArmed = false
  let isStopped = false
  let hasEntry = false
  let waiting = 0
  const all = Promise.withResolvers<void>()
  const around: Around = async (name, run) => {
    if (!isArmed || isStopped) return await run()
    hasEntry ||= name === 'append_entry'
    if (name !== 'commit' || (of === 'entry' && !hasEntry)) return await run()
    waiting += 1
    if (of === 'entry' || waiting === of) {
      isStopped = true
      signalAll(worker.pids, 'SIGSTOP')
      all.resolve()
    }
    await all.promise
    return await run()
  }
  return {
    around,
    arm: () => {
      isArmed = true
    },
    get isStopped() {
      return isStopped
    },
  }
}

function aNode(around: Around, changes: { readonly ageMs?: number } = {}) {
  const log = new KeptLog()
  const gated = gatedDatabase(db, around, { inTransactions: true })
  const node = { db: gated, log, directory: () => aDirectory(), clock: Date.now }
  const inProgress = new MessagesInProgress({ ...node, ...changes, appends: db })
  const recorder = new Recorder({
    ...node,
    inProgress,
    idRules: new IdRules({ ...node, isAlone: () => true }),
    writeEvents: (write) => write(HOLDER),
    onChanged: () => undefined,
  })
  return {
    ...{ inProgress, recorder, gated, log },
    async [Symbol.asyncDispose]() {
      signalAll(worker.pids, 'SIGCONT')
      await eventually(() => !inProgress.away.knowsOfAny)
      await inProgress.stop(5_000)
    },
  }
}

const statusOf = async (planId: number, msgId: string) => (await findMessage(db, [planId], msgId))?.status
const isEach = async (messages: readonly Stored[], status: string) => {
  const looks = messages.map(({ planId, msgId }) => statusOf(planId, msgId).catch(() => 'away'))
  return (await Promise.all(looks)).every((is) => is === status)
}

interface Stored {
  readonly planId: number
  readonly msgId: string
}

const ofAll = (ids: readonly number[]) =>
  Promise.all(ids.map(async (planId): Promise<Stored> => ({ planId, msgId: await storeMessage(db, planId) })))

test('receipts of the other plans are recorded while a worker hangs at their COMMIT', async () => {
  const [first, second] = [await ofAll(plans), await ofAll(there)]
  await recordOutcomes(
    db,
    [...first, ...second].flatMap(({ planId, msgId }) => [
      submission(planId, msgId, msgId),
      sent(planId, msgId),
    ]),
  )
  const moment = stopAtCommit(SERVERS)
  await using node = aNode(moment.around)
  const offer = (messages: readonly Stored[]) =>
    Promise.all(
      messages.map(
        ({ msgId }) =>
          new Promise<boolean>((done) =>
            node.recorder.addReceipt({ receipt: receipt(msgId, 'DELIVERED'), done }),
          ),
      ),
    )
  moment.arm()
  const answers = await offer(first)
  expect(moment.isStopped).toBe(true)
  expect(answers).toEqual(first.map(({ planId }) => there.includes(planId)))
  expect(await offer(second)).toEqual(second.map(() => true))
  expect(await isEach(second, 'DELIVERED')).toBe(true)
  signalAll(worker.pids, 'SIGCONT')
  await eventually(() => !node.inProgress.away.knowsOfAny)
  expect(await offer(first)).toEqual(first.map(() => true))
  expect(await isEach(first, 'DELIVERED')).toBe(true)
})

test('answers of carriers for the other plans are recorded while a worker hangs at their COMMIT', async () => {
  const [first, second] = [await ofAll(plans), await ofAll(there)]
  const moment = stopAtCommit(SERVERS)
  await using node = aNode(moment.around)
  const answer = (messages: readonly Stored[]) => {
    for (const { planId, msgId } of messages) node.recorder.addOutcome(sent(planId, msgId))
  }
  moment.arm()
  answer(first)
  await eventually(() => node.inProgress.away.knowsOfAny)
  expect(moment.isStopped).toBe(true)
  answer(second)
  await eventually(() => isEach([...first.filter(({ planId }) => there.includes(planId)), ...second], 'SENT'))
  signalAll(worker.pids, 'SIGCONT')
  await eventually(() => isEach(first, 'SENT'))
})

test.each<[string, number | 'entry']>([
  ['when a take has named its lane in the messages', SERVERS],
  ['when their entry is appended', 'entry'],
])('messages are accepted, and those of the other plans taken, while a worker hangs %s', async (_, of) => {
  await db.query('delete from dispatches')
  await insertMessages(
    db,
    plans.map((planId) => newMessage(planId)),
  )
  const moment = stopAtCommit(of)
  await using node = aNode(moment.around)
  const { inProgress, gated } = node
  await inProgress.register(NODE)
  const taken = new Map<string, MessageInProgress>()
  const take = async () => {
    try {
      const loaded = await inProgress.load(NODE, (tx, lane) =>
        takeDue(gated, tx, lane, { ...requestFor(...plans), overdueMs: 0 }, (msgId) => taken.has(msgId)),
      )
      for (const message of loaded) {
        expect(taken.has(message.msgId)).toBe(false)
        taken.set(message.msgId, message)
      }
    } catch {
      await inProgress.away.probeFindsNew()
    }
  }
  moment.arm()
  await take()
  expect(moment.isStopped).toBe(true)
  const [planId] = there as [number]
  const msgId = newId(Date.now())
  const accepted = acceptedFact(planId, msgId)
  expect(await inProgress.accept({ msgId, owner: NODE, accepted })).toBe('committed')
  const isTaken = (ids: readonly number[]) =>
    ids.every((id) => taken.values().some((message) => message.accepted.planId === id))
  await eventually(async () => {
    await take()
    return isTaken(there)
  })
  signalAll(worker.pids, 'SIGCONT')
  await eventually(async () => {
    await take()
    return isTaken(plans)
  })
  expect(taken.size).toBe(plans.length)
  const { rows } = await db.query('select count(*)::integer as n from dispatches')
  expect(rows).toEqual([{ n: 0 }])
})

/** A node that begins messages anew at once, and messages of all plans that it accepts. */
async function aNodeThatRenews(around: Around) {
  const node = aNode(around, { ageMs: 0 })
  await node.inProgress.register(NODE)
  const accept = (planId: number) => {
    const msgId = newId(Date.now())
    const accepted = acceptedFact(planId, msgId)
    return { planId, msgId, acceptance: node.inProgress.accept({ msgId, owner: NODE, accepted }) }
  }
  return { node, accept }
}

test('messages that only wait begin anew, and others are accepted, while a worker hangs', async () => {
  const { node: given, accept } = await aNodeThatRenews((_, run) => run())
  await using node = given
  signalAll(worker.pids, 'SIGSTOP')
  const { inProgress } = node
  const last = async () =>
    Number((await db.query('select max(n) as n from journal where lane = $1', [inProgress.lane])).rows[0].n)
  for (const planId of plans) expect(await accept(planId).acceptance).toBe('committed')
  const n = await last()
  await eventually(async () => (await last()) > n + plans.length)
  for (const planId of plans) expect(await accept(planId).acceptance).toBe('committed')
  expect(node.log.errors).toEqual([])
  signalAll(worker.pids, 'SIGCONT')
  // They wait for their records, which are then written.
  await inProgress.project(Array.from(inProgress.all(null), ({ msgId }) => msgId))
  const { rows: written } = await db.query('select count(*)::integer as n from messages where lane = $1', [
    inProgress.lane,
  ])
  expect(written).toEqual([{ n: 2 * plans.length }])
})

test('a message that begins anew while a worker hangs at its COMMIT is not lost, nor what is accepted meanwhile', async () => {
  const moment = stopAtCommit('entry')
  const { node: given, accept } = await aNodeThatRenews(moment.around)
  await using node = given
  const { inProgress } = node
  const first = plans.map(accept)
  for (const { acceptance } of first) expect(await acceptance).toBe('committed')
  moment.arm()
  // A carrier may have them from now on.
  for (const { msgId } of first) inProgress.addBegun(msgId, () => undefined)
  await eventually(() => moment.isStopped)
  const later = plans.map(accept)
  await eventually(() => node.log.errors.length > 0)
  signalAll(worker.pids, 'SIGCONT')
  for (const { acceptance } of later) expect(await acceptance).toBe('committed')
  // Each gets its record, and stays to be submitted.
  const ids = [...first, ...later].map(({ msgId }) => msgId)
  await eventually(() =>
    inProgress.project(ids).then(
      () => true,
      () => false,
    ),
  )
  await eventually(() => isEach([...first, ...later], 'QUEUED'))
  expect(inProgress.size).toBe(first.length + later.length)
})
