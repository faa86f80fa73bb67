import type pg from 'pg'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { encodeEntry } from '../../src/domain/journal/entries.ts'
import type { JournalFact, LaterFact } from '../../src/domain/journal/message-facts.ts'
import type { MessageInProgress } from '../../src/domain/journal/messages-in-progress.ts'
import { type Recovery, recoverLanes } from '../../src/operations/recover-lanes.ts'
import { type Database, sqlState, withTransaction } from '../../src/store/database.ts'
import {
  appendEntry,
  closeLane,
  cutJournal,
  type Lane,
  MOST_APPENDS,
  openLane,
} from '../../src/store/journal.ts'
import { registerNode, removeNode } from '../../src/store/nodes.ts'
import { projectMessages } from '../../src/store/projection.ts'
import { openBreaker } from '../../src/store/webhook-destinations.ts'
import { eventually } from '../support/eventually.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { KeptLog, quietLog } from '../support/log.ts'
import {
  acceptedFact,
  deliveredFacts,
  inMemory,
  projected,
  settledFact,
  submittedFact,
  takenFact,
} from '../support/messages-in-memory.ts'
import { clearTables, eventsOf, statusOf, storeDelivered, storeMessage } from '../support/stored-messages.ts'
import { requestFor, takeDue } from '../support/taken.ts'

const { db, announcedPlan: plan } = await installedDatabase({ poolSize: 6 })
const NOW_MS = Date.now()
const AMBIGUITY_WAIT_MS = 60_000
const [dead, living, other] = await Promise.all(['a', 'b', 'c'].map((name) => registerNode(db, name)))
await removeNode(db, dead!)

beforeEach(() =>
  clearTables(db, 'lanes', 'journal', 'messages', 'dispatches', 'submissions', 'events', 'event_deliveries'),
)

function recover(changes: Partial<Recovery> = {}, pool: Database = db): Promise<number> {
  return recoverLanes(pool, {
    ...{ nodeId: living!, ambiguityWaitMs: AMBIGUITY_WAIT_MS, delivers: () => true, log: quietLog },
    ...changes,
  })
}

/** A lane that writes what happens to its messages. */
async function laneOf(nodeId: number) {
  const lane = await openLane(db, nodeId)
  let n = 0
  return {
    ...lane,
    append: (facts: readonly JournalFact[]) => {
      n += 1
      return appendEntry(db, lane, n, encodeEntry(facts))
    },
    /** A message that was tried twice, and taken out of its record with an entry. */
    async taken() {
      const msgId = await storeMessage(db, plan, { msg_id: newId(NOW_MS - 1_000) })
      await db.query('update dispatches set failed_attempts = 2 where msg_id = $1', [msgId])
      const [loaded] = await withTransaction(db, (tx) => takeDue(db, tx, lane.lane, requestFor(plan)))
      const { msgId: _, ...fact } = loaded!
      await this.append([{ msgId, fact: { kind: 'loaded', ...fact } }])
      return msgId
    },
    /** An entry for what was accepted, and one for each fact after it. Gives the message's id. */
    async tell(facts: (msgId: string, atMs: number) => readonly LaterFact[] = () => [], begun = false) {
      const msgId = newId(NOW_MS - 1_000)
      await this.append([{ msgId, fact: acceptedFact(plan, msgId, { begun }) }])
      for (const fact of facts(msgId, NOW_MS - 900)) await this.append([{ msgId, fact }])
      return msgId
    },
  }
}

async function dispatchOf(msgId: string) {
  const { rows } = await db.query(
    'select failed_attempts as "failedAttempts", ambiguous, due_at as due from dispatches where msg_id = $1 and bucket = 7',
    [msgId],
  )
  return rows[0]
}

async function leftOver(): Promise<{ lanes: number; entries: number }> {
  const { rows } = await db.query(
    'select (select count(*) from lanes) as lanes, (select count(*) from journal) as entries',
  )
  return rows[0]
}

/** Until no other statement is under way that keeps the lanes. */
async function recoverAll(changes: Partial<Recovery> = {}): Promise<void> {
  await eventually(async () => {
    await recover(changes)
    return (await leftOver()).lanes === 0
  })
}

test('what was not begun is due now; what was begun is in doubt, and due later', async () => {
  const lane = await laneOf(dead!)
  const waiting = await lane.tell()
  const begun = await lane.tell(() => [], true)
  const begunLater = await lane.tell((_, atMs) => [{ kind: 'begun', atMs }])
  expect(await recover()).toBe(3)
  const inDoubt = { failedAttempts: 0, ambiguous: true, due: expect.any(Date) }
  expect(await dispatchOf(waiting)).toEqual({
    failedAttempts: 0,
    ambiguous: false,
    due: new Date(NOW_MS - 1_000),
  })
  expect(await dispatchOf(begun)).toEqual(inDoubt)
  expect(await dispatchOf(begunLater)).toEqual(inDoubt)
  const { rows } = await db.query(
    'select msg_id, carrier_id, outcome, reason from submit_attempts order by 1',
  )
  const inDoubtAttempt = { carrier_id: null, outcome: 'no-answer', reason: 'node lost' }
  expect(rows).toEqual([begun, begunLater].sort().map((msg_id) => ({ msg_id, ...inDoubtAttempt })))
})

test('what was taken out of its record is written back, unless it is with another lane by now', async () => {
  const [first, second] = [await laneOf(dead!), await laneOf(dead!)]
  const [idle, begun] = [await first.taken(), await first.taken()]
  const [moved, returned] = [await first.taken(), await first.taken()]
  await first.append([{ msgId: begun, fact: { kind: 'begun', atMs: NOW_MS } }])
  await first.append([{ msgId: returned, fact: { kind: 'begun', atMs: NOW_MS } }])
  await db.query('update messages set lane = $2 where msg_id = $1', [moved, second.lane])
  await db.query('update messages set lane = null where msg_id = $1', [returned])
  expect(await recover()).toBe(2)
  const lanes = await db.query('select msg_id, lane from messages order by msg_id')
  expect(lanes.rows).toEqual(
    [idle, begun, moved, returned]
      .sort()
      .map((msg_id) => ({ msg_id, lane: msg_id === moved ? second.lane : null })),
  )
  expect(await dispatchOf(idle)).toMatchObject({ failedAttempts: 2, ambiguous: false })
  expect(await dispatchOf(begun)).toMatchObject({ failedAttempts: 2, ambiguous: true })
  expect([await dispatchOf(moved), await dispatchOf(returned)]).toEqual([undefined, undefined])
})

test('what a dead node wrote into the records after its buckets were taken is released, too', async () => {
  const lane = await openLane(db, dead!)
  const told = inMemory(plan, (id, atMs) => [submittedFact(id), settledFact(atMs)])
  await projectMessages(db, lane, [projected(told, { holder: dead! })], 0)
  await recover()
  const { rows } = await db.query('select holder from event_deliveries where msg_id = $1', [told.msgId])
  expect(rows).toEqual([{ holder: null }])
})

test('what is in doubt waits by the clock of the database, whatever time the node that recovers it has', async () => {
  const lane = await laneOf(dead!)
  const begun = await lane.tell(() => [], true)
  const clock = vi.useFakeTimers({ now: NOW_MS + 3_600_000, toFake: ['Date'] })
  try {
    await recover()
  } finally {
    clock.useRealTimers()
  }
  const { rows } = await db.query(
    `select due_at - $2 * interval '1 ms' between now() - interval '1 minute' and now() as "isDueInTime"
     from dispatches where msg_id = $1 and bucket = 7`,
    [begun, AMBIGUITY_WAIT_MS],
  )
  expect(rows).toEqual([{ isDueInTime: true }])
})

test('events that were not taken are due; those that were are not told again', async () => {
  const lane = await laneOf(dead!)
  const sent = await lane.tell((id, atMs) => [submittedFact(id), settledFact(atMs)])
  const done = await lane.tell(deliveredFacts)
  const half = await lane.tell((id, atMs) => deliveredFacts(id, atMs).slice(0, -1))
  const untold = await lane.tell((id, atMs) => [submittedFact(id), settledFact(atMs)])
  await recover({ delivers: ({ msgId }) => msgId !== untold })
  const { rows } = await db.query(
    `select e.msg_id, e.sequence, e.status, e.delivered_at is not null as taken, d.due_at <= now() as due, d.holder
     from events e left join event_deliveries d using (plan_id, msg_id, sequence) order by 1, 2`,
  )
  const event = (msg_id: string, sequence: number, status: string, taken: boolean, due: boolean | null) => ({
    ...{ msg_id, sequence, status, taken, due, holder: null },
  })
  const expected = [
    event(sent, 1, 'SENT', false, true),
    event(done, 1, 'SENT', true, null),
    event(done, 2, 'DELIVERED', true, null),
    event(half, 1, 'SENT', true, null),
    event(half, 2, 'DELIVERED', false, true),
    event(untold, 1, 'SENT', false, null),
  ]
  expect(rows).toEqual(
    expected.toSorted((a, b) =>
      a.msg_id < b.msg_id ? -1 : a.msg_id > b.msg_id ? 1 : a.sequence - b.sequence,
    ),
  )
  expect(await dispatchOf(sent)).toBeUndefined()
})

test('what a dead node parked for a destination that has recovered by then is due, not what is in trouble', async () => {
  const lane = await laneOf(dead!)
  const [stray, troubled] = [await storeDelivered(db, plan), await storeDelivered(db, plan)]
  const parked = (msgId: string, destination: string) =>
    db.query(
      `update event_deliveries set state = 'parked', destination = $2, due_at = now() + interval '76 h' where msg_id = $1`,
      [msgId, destination],
    )
  await parked(stray, 'https://recovered.example.com')
  await parked(troubled, 'https://troubled.example.com')
  const endpoint = { planId: plan, destination: 'https://troubled.example.com' }
  await openBreaker(db, { ...endpoint, error: 'HTTP_STATUS', probeAfterMs: 60_000 })
  onTestFinished(async () => void (await db.query('delete from webhook_destinations')))
  await lane.tell()
  await recoverAll()
  const { rows } = await db.query(
    'select distinct msg_id, state, due_at <= now() as due from event_deliveries where destination is not null',
  )
  expect(rows.toSorted((one, two) => Number(two.due) - Number(one.due))).toEqual([
    { msg_id: stray, state: 'waiting', due: true },
    { msg_id: troubled, state: 'parked', due: false },
  ])
})

test('a message that has a record stays as it is there', async () => {
  const lane = await laneOf(dead!)
  const recorded = inMemory(plan, (id, atMs) => [submittedFact(id), settledFact(atMs)])
  const { msgId } = recorded
  await lane.append([{ msgId, fact: { kind: 'accepted', ...recorded.accepted } }])
  await projectMessages(db, lane, [projected(recorded)], 0)
  const unrecorded = await lane.tell()
  // What is told of a message that is not known any more: its acceptance was cut.
  await lane.append([{ msgId: newId(NOW_MS), fact: takenFact(1, NOW_MS) }])
  expect(await recover()).toBe(1)
  expect([await statusOf(db, msgId), await statusOf(db, unrecorded)]).toEqual(['SENT', 'QUEUED'])
})

/** A session that stands still in the middle of a COPY, and holds this lane. */
async function standingCopy(lane: Lane) {
  const client = await db.connect()
  await client.query('begin')
  await cutJournal(client, lane, 0)
  const copying = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<Error>()
  client.query({
    submit: (connection: pg.Connection) => void connection.query('copy messages from stdin'),
    handleCopyInResponse: () => copying.resolve(),
    handleError: (error: Error) => ended.resolve(error),
  } as unknown as pg.Submittable)
  await copying.promise
  return { client, ended: ended.promise, [Symbol.dispose]: () => client.release(true) }
}

test('a dead node that stands still in the middle of a COPY holds up nothing, and no other session is ended', async () => {
  const [lane, others] = [await laneOf(dead!), await laneOf(other!)]
  const msgId = await lane.tell()
  using one = await standingCopy(lane)
  using another = await standingCopy(others)
  expect(await recover({ standingCopyMs: 0 })).toBe(1)
  expect(await dispatchOf(msgId)).toMatchObject({ ambiguous: false })
  expect(sqlState(await one.ended)).toBe('57P01')
  const { rows } = await db.query('select from pg_stat_activity where pid = $1', [
    (another.client as unknown as { processID: number }).processID,
  ])
  expect(rows).toHaveLength(1)
})

test('nobody asks who holds a lane that nobody holds', async () => {
  const lane = await laneOf(dead!)
  await lane.tell()
  const asked = vi.spyOn(db, 'query')
  onTestFinished(() => asked.mockRestore())
  expect(await recover()).toBe(1)
  const texts = asked.mock.calls.map(([statement]) => JSON.stringify(statement))
  expect(texts.filter((text) => text.includes('update lanes'))).toHaveLength(1)
  expect(texts.filter((text) => text.includes('pg_terminate_backend'))).toEqual([])
})

test('a session that has not stood still for long is not ended, and the takeover waits for it', async () => {
  const lane = await laneOf(dead!)
  const msgId = await lane.tell()
  const client = await db.connect()
  await client.query('begin')
  await cutJournal(client, lane, 0)
  const recovered = recover({ standingCopyMs: 0 })
  await eventually(async () => {
    const waiting = await db.query(
      `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'update lanes%'`,
    )
    return waiting.rows.length === 1
  })
  await client.query('commit')
  client.release()
  expect(await recovered).toBe(1)
  expect(await statusOf(db, msgId)).toBe('QUEUED')
})

test('lanes of living nodes are left alone, and so is the own', async () => {
  const [own, others] = [await laneOf(living!), await laneOf(other!)]
  await own.tell()
  await others.tell()
  expect(await recover()).toBe(0)
  expect(await leftOver()).toEqual({ lanes: 2, entries: 2 })
})

test('a lane is gone with its fences once it is written, and an empty one too; nothing is written to them any more', async () => {
  const lanes = [await laneOf(dead!), await laneOf(dead!)]
  const msgId = await lanes[0]!.tell()
  await recoverAll()
  expect(await leftOver()).toEqual({ lanes: 0, entries: 0 })
  for (const lane of lanes) expect(await lane.append([{ msgId, fact: takenFact(1, NOW_MS) }])).toBe('fenced')
})

test('fences stay while a statement may be under way that knows nothing of the takeover', async () => {
  const lane = await laneOf(dead!)
  const msgId = await lane.tell()
  const client = await db.connect()
  await client.query('begin isolation level repeatable read')
  await client.query('select from lanes')
  expect([await recover(), await recover()]).toEqual([1, 0])
  expect(await leftOver()).toEqual({ lanes: 1, entries: MOST_APPENDS })
  // It still finds the old epoch, and then the fence.
  await expect(appendEntry(client, lane, 2, encodeEntry([]))).rejects.toThrow('could not serialize')
  await client.query('rollback')
  client.release()
  await recoverAll()
  expect(await statusOf(db, msgId)).toBe('QUEUED')
})

test('two nodes recover a lane at once: each message is written once', async () => {
  const lane = await laneOf(dead!)
  const ids = await Promise.all(Array.from({ length: 20 }, () => lane.tell(deliveredFacts)))
  const counts = await Promise.all([recover(), recover({ nodeId: other! })])
  expect(counts.toSorted()).toEqual([0, 20])
  for (const id of ids) expect((await eventsOf(db, id)).map(({ sequence }) => sequence)).toEqual([1, 2])
})

test('more than a page of entries and a chunk of messages, of which a node wrote some and died', async () => {
  const lane = await laneOf(dead!)
  const messages: MessageInProgress[] = []
  for (let entry = 0; entry < 60; entry += 1) {
    const some = Array.from({ length: 20 }, () => inMemory(plan))
    const body = 'x'.repeat(300)
    await lane.append(
      some.map(({ msgId, accepted }) => ({ msgId, fact: { kind: 'accepted', ...accepted, body } })),
    )
    messages.push(...some)
  }
  let asked = 0
  const dies = recover({
    nodeId: other!,
    delivers() {
      asked += 1
      if (asked > 1_100) throw new Error('killed')
      return true
    },
  })
  await expect(dies).rejects.toThrow('killed')
  expect(await recover()).toBe(0)
  await removeNode(db, other!)
  expect(await recover()).toBe(messages.length - 1_000)
  const { rows } = await db.query(
    'select count(*) as messages, count(distinct msg_id) as ids, (select count(*) from dispatches) as dispatches from messages',
  )
  expect(rows).toEqual([{ messages: messages.length, ids: messages.length, dispatches: messages.length }])
})

/** The pool of a node that dies at a statement: before or after the database has done it. */
function dyingAt(statement: number, when: 'before' | 'after'): Database {
  let asked = 0
  const killed = () => {
    throw new Error('Connection terminated: killed')
  }
  const dying =
    (of: Pick<pg.ClientBase, 'query'>) =>
    (asks: pg.Submittable & { done?: Promise<void> }): unknown => {
      asked += 1
      if (asked < statement) return of.query(asks)
      if (asked > statement || when === 'before') return killed()
      const result = of.query(asks)
      const done = Promise.resolve(result.done ?? result).then(killed)
      return result.done === undefined ? done : { done }
    }
  const connect = async () => {
    const client = await db.connect()
    return { query: dying(client), release: (error?: Error) => client.release(error), sharded }
  }
  const { sharded } = db
  return { query: dying(db as unknown as pg.ClientBase), connect, sharded } as unknown as Database
}

test.each(['before', 'after'] as const)(
  'a node dies %s any statement of a recovery, and the next one ends it',
  async (when) => {
    for (let statement = 1; ; statement += 1) {
      const dies = await registerNode(db, `dies-${when}-${statement}`)
      const lane = await laneOf(dead!)
      const [taken, waiting, sent] = [
        await lane.taken(),
        await lane.tell(),
        await lane.tell((id, atMs) => [submittedFact(id), settledFact(atMs)]),
      ]
      const outcome = await recover({ nodeId: dies }, dyingAt(statement, when)).catch((error) =>
        String(error),
      )
      await removeNode(db, dies)
      await recoverAll()
      expect([await statusOf(db, waiting), await statusOf(db, sent)]).toEqual(['QUEUED', 'SENT'])
      expect(await dispatchOf(waiting)).toMatchObject({ ambiguous: false })
      expect(await dispatchOf(taken)).toMatchObject({ failedAttempts: 2, ambiguous: false })
      const { rows } = await db.query(
        'delete from dispatches returning (select lane from messages m where m.msg_id = dispatches.msg_id)',
      )
      expect(rows).toEqual([{ lane: null }, { lane: null }])
      expect(await eventsOf(db, sent)).toEqual([{ sequence: 1, status: 'SENT', holder: null }])
      expect(await leftOver()).toEqual({ lanes: 0, entries: 0 })
      if (outcome === 3) {
        expect(statement).toBeGreaterThan(10)
        break
      }
      expect(outcome).toMatch(/killed|COMMIT/)
    }
  },
)

test('a lane that a newer version wrote is left to it, whole', async () => {
  const lane = await laneOf(dead!)
  await lane.tell()
  await appendEntry(db, lane, 2, Buffer.from([99, 0]))
  const log = new KeptLog()
  expect([await recover({ log }), await recover({ log })]).toEqual([0, 0])
  expect(log.causes.map(String)).toEqual(
    Array(2).fill('RangeError: a journal entry has format 99, which is not known'),
  )
  expect(await leftOver()).toEqual({ lanes: 1, entries: 2 + MOST_APPENDS })
  expect(await appendEntry(db, lane, 3, Buffer.from([99, 0]))).toBe('fenced')
})

test('a message that the database refuses holds up no other, and stays in the journal', async () => {
  const lane = await laneOf(dead!)
  const before = await lane.tell()
  // Nothing is kept of that day.
  const refused = newId(Date.UTC(2001))
  await lane.append([{ msgId: refused, fact: acceptedFact(plan, refused) }])
  const after = await lane.tell()
  const log = new KeptLog()
  expect(await recover({ log })).toBe(2)
  expect(log.causes.map(String)).toEqual([expect.stringContaining('no partition of relation')])
  expect([await statusOf(db, before), await statusOf(db, after)]).toEqual(['QUEUED', 'QUEUED'])
  expect(await leftOver()).toMatchObject({ lanes: 1 })
})

test('an orderly end leaves nothing, and a lane that is not projected stays', async () => {
  const lane = await laneOf(living!)
  await lane.tell()
  expect(await closeLane(db, lane)).toBe(false)
  await cutJournal(db, lane, 1)
  expect(await closeLane(db, lane)).toBe(true)
  expect(await leftOver()).toEqual({ lanes: 0, entries: 0 })
})
