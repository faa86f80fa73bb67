import { beforeEach, expect, test } from 'vitest'
import { encodeEntry } from '../../../src/domain/journal/entries.ts'
import type { MessageInProgress } from '../../../src/domain/journal/messages-in-progress.ts'
import { AwayServers } from '../../../src/services/messages/away-servers.ts'
import { newlyOwned, type OwnedMessage } from '../../../src/services/messages/owned-messages.ts'
import { Projector, type ProjectorOptions } from '../../../src/services/messages/projector.ts'
import { appendEntry, type Lane, openLane, takeOverLane } from '../../../src/store/journal.ts'
import { findAtRest } from '../../../src/store/projection.ts'
import { eventually } from '../../support/eventually.ts'
import { gatedDatabase, refusedByServer } from '../../support/gated-database.ts'
import { installedDatabase, newId } from '../../support/installation.ts'
import { KeptLog } from '../../support/log.ts'
import { acceptedFact, deliveredFacts, inMemory } from '../../support/messages-in-memory.ts'
import { clearTables } from '../../support/stored-messages.ts'

const { db, announcedPlan: plan } = await installedDatabase({ poolSize: 6 })
const [NODE, OTHER] = [1, 2]
/** No partition holds its messages. */
const FAR_DAY_MS = Date.now() + 300 * 86_400_000

beforeEach(() => clearTables(db, 'lanes', 'journal', 'messages', 'dispatches', 'submissions', 'events'))

/** Messages in memory whose acceptance is in the entries from 1 on, and who writes them. */
async function aProjector(messages: readonly MessageInProgress[], changes: Partial<ProjectorOptions> = {}) {
  const lane = await openLane(db, NODE)
  const ownedMessages = Object.assign(new Map<string, OwnedMessage>(), { excessBytes: 0 })
  for (const [index, message] of messages.entries()) {
    const { msgId } = message
    await appendEntry(db, lane, index + 1, encodeEntry([{ msgId, fact: acceptedFact(plan, msgId) }]))
    ownedMessages.set(msgId, anOwned(message, index + 1))
  }
  const told = { batches: [] as number[], log: new KeptLog(), fenced: 0 }
  let held: typeof lane | null = lane
  const projector = new Projector({
    db,
    ownedMessages,
    lane: () => held,
    committed: () => messages.length,
    onProjected: (gone) => {
      for (const owned of gone) {
        ownedMessages.delete(owned.message.msgId)
        owned.awaitedRecord?.resolve()
      }
    },
    renew: async () => undefined,
    away: new AwayServers({ db, log: told.log, onBack: () => undefined }),
    onFenced: () => {
      told.fenced += 1
      held = null
    },
    log: told.log,
    onBatch: (_, size) => told.batches.push(size),
    ageMs: 3_600_000,
    ...changes,
  })
  projector.start()
  return {
    ...{ projector, lane, ownedMessages, told, all: [...ownedMessages.values()] },
    [Symbol.asyncDispose]: () => projector.stop(),
  }
}

function anOwned(message: MessageInProgress, entry: number): OwnedMessage {
  return { ...newlyOwned(message, { ownerNodeId: NODE, entry }), delivers: true, postponed: true }
}

const waiting = (count: number) => Array.from({ length: count }, () => inMemory(plan))

async function cutOf(lane: number): Promise<number> {
  const { rows } = await db.query('select cut from lanes where lane = $1', [lane])
  return rows[0].cut
}

async function recorded(messages: readonly MessageInProgress[]): Promise<boolean[]> {
  const found = await findAtRest(
    db,
    messages.map(({ msgId }) => ({ planId: plan, msgId })),
  )
  return messages.map(({ msgId }) => found.has(msgId))
}

test('what has ended is written at once, what waits for its receipt when it is old', async () => {
  const done = inMemory(plan, deliveredFacts)
  const [old, young] = waiting(2) as [MessageInProgress, MessageInProgress]
  await using it = await aProjector([old, done, young], { ageMs: 1_000 })
  const [first, second, third] = it.all
  it.ownedMessages.set(old.msgId, { ...first!, sinceMs: performance.now() - 1_001 })
  it.ownedMessages.set(young.msgId, { ...third!, sinceMs: Number.POSITIVE_INFINITY })
  it.projector.changed(second!)
  await eventually(() => it.ownedMessages.size === 1)
  expect(await recorded([old, done, young])).toEqual([true, true, false])
})

test('while memory is short, the oldest leave before their time', async () => {
  const [first, second, third] = waiting(3) as [MessageInProgress, MessageInProgress, MessageInProgress]
  await using it = await aProjector([first, second, third])
  it.all[0]!.postponed = false
  Object.defineProperty(it.ownedMessages, 'excessBytes', { get: () => (it.ownedMessages.size > 2 ? 1 : 0) })
  await eventually(() => it.ownedMessages.size === 2)
  expect(await recorded([first, second, third])).toEqual([false, true, false])
})

test('a message leaves when what is said of it is committed, and not before', async () => {
  await using it = await aProjector(waiting(2))
  const [one, other] = it.all
  one!.pending = 1
  const left = it.projector.project([one!, other!])
  await eventually(() => it.ownedMessages.size === 1)
  expect(it.ownedMessages.has(one!.message.msgId)).toBe(true)
  one!.pending = 0
  it.projector.changed(one!)
  await left
  expect(it.ownedMessages.size).toBe(0)
})

test('at most 500 are written together', async () => {
  await using it = await aProjector([])
  const ownedMessages = waiting(1_201).map((message) => anOwned(message, 0))
  for (const owned of ownedMessages) it.ownedMessages.set(owned.message.msgId, owned)
  await it.projector.project(ownedMessages)
  expect(it.told.batches).toEqual([500, 500, 201])
})

test('what ends while others are written waits for the next round', async () => {
  const messages = Array.from({ length: 2 }, () => inMemory(plan, deliveredFacts))
  const it = await aProjector(messages, {
    roundMs: 3_600_000,
    onBatch: () => it.projector.changed(it.all[1]!),
  })
  it.projector.changed(it.all[0]!)
  it.projector.urge(it.all[0]!)
  await eventually(() => it.ownedMessages.size === 1)
  await it.projector.stop()
  expect(await recorded(messages)).toEqual([true, false])
})

test('the journal is cut up to the first message that is not written', async () => {
  await using it = await aProjector(waiting(4))
  const [first, second, third, fourth] = it.all
  await it.projector.project([second!, fourth!])
  expect(await cutOf(it.lane.lane)).toBe(0)
  await it.projector.project([first!])
  expect(await cutOf(it.lane.lane)).toBe(2)
  await it.projector.project([third!])
  expect(await cutOf(it.lane.lane)).toBe(4)
})

test('of messages that the database refuses none holds up another, or who waits for it, and each is tried again', async () => {
  const [one, other] = waiting(2) as [MessageInProgress, MessageInProgress]
  const refused = inMemory(plan, () => [], {}, newId(FAR_DAY_MS))
  await using it = await aProjector([one, refused, other], { refusedMs: 1 })
  const owned = it.all[1]!
  await it.projector.project(it.all)
  expect(await recorded([one, refused, other])).toEqual([true, false, true])
  expect([it.told.log.errors.length, owned.leaving, await cutOf(it.lane.lane)]).toEqual([1, false, 1])
  it.projector.urge(owned)
  await eventually(() => it.told.log.errors.length > 1)
})

test('who asks for a message that the database has just refused does not wait for it', async () => {
  const refused = inMemory(plan, () => [], {}, newId(FAR_DAY_MS))
  await using it = await aProjector([refused])
  await it.projector.project(it.all)
  await it.projector.project(it.all)
  expect(it.told.log.errors).toHaveLength(1)
})

test('who waits is told that the database takes nothing; the messages are written when it does', async () => {
  let refuses = true
  const around = async <T>(_: unknown, run: () => Promise<T>) => (refuses ? refusedByServer(db) : run())
  await using it = await aProjector(waiting(1), { db: gatedDatabase(db, around) })
  await expect(it.projector.project(it.all)).rejects.toThrow('the disk is full')
  refuses = false
  await it.projector.project(it.all)
  expect(await recorded(it.all.map(({ message }) => message))).toEqual([true])
})

test('who waits for facts that the journal does not take is told, too', async () => {
  await using it = await aProjector(waiting(1))
  it.all[0]!.pending = 1
  const left = it.projector.project(it.all)
  it.projector.failed(new Error('facts not in the journal'))
  await expect(left).rejects.toThrow('facts not in the journal')
})

test('it stops although the database takes nothing', async () => {
  const around = () => refusedByServer(db)
  await using it = await aProjector(waiting(1), { db: gatedDatabase(db, around) })
  await expect(it.projector.project(it.all)).rejects.toThrow('the disk is full')
  await it.projector.stop()
  expect(it.ownedMessages.size).toBe(1)
})

test('nothing is written any more into a lane that was taken over', async () => {
  await using it = await aProjector(waiting(1))
  await takeOverLane(db, { ...it.lane, nodeId: NODE }, OTHER)
  it.projector.urge(it.all[0]!)
  await eventually(() => it.told.fenced === 1)
  expect(await recorded(it.all.map(({ message }) => message))).toEqual([false])
})

/** A projector that waits for a lock that `statement` takes, in its first try to write its one message. */
async function waitingProjector(statement: (lane: Lane) => string) {
  const lane = await openLane(db, NODE)
  const blocker = await db.connect()
  await blocker.query('begin')
  await blocker.query(statement(lane))
  const message = inMemory(plan)
  const ownedMessages = Object.assign(new Map([[message.msgId, anOwned(message, 1)]]), { excessBytes: 0 })
  const held = { lane, fenced: 0, projected: 0, log: new KeptLog() }
  const projector = new Projector({
    ...{ db, ownedMessages },
    lane: () => held.lane,
    committed: () => 1,
    onProjected(written) {
      held.projected += written.length
    },
    renew: async () => undefined,
    away: new AwayServers({ db, log: held.log, onBack: () => undefined }),
    onFenced() {
      held.fenced += 1
    },
    log: held.log,
  })
  projector.start()
  projector.urge(ownedMessages.get(message.msgId)!)
  const pid = await eventually(waiter)
  return Object.assign(held, {
    ...{ projector, pid, msgId: message.msgId },
    async end(ending: 'commit' | 'rollback') {
      await blocker.query(ending)
      blocker.release()
    },
  })
}

/** Whose statement waits for a lock. */
async function waiter(): Promise<number | null> {
  const { rows } = await db.query<{ pid: number }>(
    `select pid from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()`,
  )
  return rows[0]?.pid ?? null
}

test('Messages of a lane that was lost between two tries are left to its new owner', async () => {
  const held = await waitingProjector(() => 'lock table messages in share mode')
  held.lane = await openLane(db, NODE)
  await db.query('select pg_terminate_backend($1)', [held.pid])
  await eventually(() => held.log.errors.length > 0)
  await held.end('rollback')
  await held.projector.stop()
  const { rows } = await db.query('select from messages where msg_id = $1', [held.msgId])
  expect([rows.length, held.projected, held.fenced]).toEqual([0, 0, 0])
})

test('That a lane was taken over does not end the next one, which this process has by then', async () => {
  const held = await waitingProjector(({ lane }) => `update lanes set epoch = epoch + 1 where lane = ${lane}`)
  held.lane = await openLane(db, NODE)
  await held.end('commit')
  await held.projector.stop()
  expect([held.projected, held.fenced]).toEqual([0, 0])
})

test('Of a lane that was taken over the process is told', async () => {
  const held = await waitingProjector(({ lane }) => `update lanes set epoch = epoch + 1 where lane = ${lane}`)
  await held.end('commit')
  await eventually(() => held.fenced > 0)
  held.lane = await openLane(db, NODE)
  await held.projector.stop()
})
