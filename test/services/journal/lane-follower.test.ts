import { expect, test } from 'vitest'
import { encodeEntry } from '../../../src/domain/journal/entries.ts'
import { LaneFollower, type LaneFollowerOptions } from '../../../src/services/journal/lane-follower.ts'
import type { Queryable } from '../../../src/store/database.ts'
import { appendEntry, cutJournal, openLane, takeOverLane } from '../../../src/store/journal.ts'
import { eventually } from '../../support/eventually.ts'
import { installedDatabase } from '../../support/installation.ts'
import { accepted, LaneWriter, received, settled } from '../../support/lane-writer.ts'
import { KeptLog } from '../../support/log.ts'

const { db, announcedPlan: plan } = await installedDatabase()
const [NODE, SUCCESSOR] = [1, 2]

function follow(options: Partial<LaneFollowerOptions> = {}) {
  const log = new KeptLog()
  const follower = new LaneFollower({
    db,
    ownLane: () => null,
    log,
    ...options,
  })
  const statusOf = async (msgId: string) => {
    await follower.catchUp()
    return follower.get(msgId, null)?.state.status ?? null
  }
  return { follower, log, statusOf }
}

/** `db`, and what is asked of it: each statement goes on when `go` is called. */
function gated() {
  const waiting: (() => void)[] = []
  const query = async (...asked: Parameters<Queryable['query']>) => {
    await new Promise<void>((go) => waiting.push(go))
    return db.query(...(asked as [string]))
  }
  return { db: { query } as Queryable, waiting, go: () => waiting.shift()!() }
}

test('what a lane says of a message is known when the next catch-up ends', async () => {
  const { statusOf, follower } = follow()
  const node = await LaneWriter.open(db, NODE)
  const [msgId = ''] = await node.accept(plan)
  expect(await statusOf(msgId)).toBe('QUEUED')
  await node.write([settled(msgId)])
  expect(await statusOf(msgId)).toBe('SENT')
  await node.write([received(msgId)])
  expect(await statusOf(msgId)).toBe('DELIVERED')
  expect(follower.get(msgId, null)).toMatchObject({
    accepted: { recipient: '+15551230000' },
    state: node.get(msgId)!.state,
  })
})

test('a message is dropped once its lane is cut behind its acceptance, and not sooner', async () => {
  const { statusOf } = follow()
  const node = await LaneWriter.open(db, NODE)
  const [first = ''] = await node.accept(plan)
  const [second = ''] = await node.accept(plan)
  expect([await statusOf(first), await statusOf(second)]).toEqual(['QUEUED', 'QUEUED'])
  await node.project([second])
  expect([await statusOf(first), await statusOf(second)]).toEqual(['QUEUED', 'QUEUED'])
  await node.project([first])
  expect([await statusOf(first), await statusOf(second)]).toEqual([null, null])
})

test('a message that is loaded begins anew, in each lane that loads it', async () => {
  const { follower } = follow()
  const [node, other] = [await LaneWriter.open(db, NODE), await LaneWriter.open(db, SUCCESSOR)]
  const statuses = async (msgId: string) => {
    await follower.catchUp()
    return [node, other].map(({ lane }) => follower.get(msgId, lane)?.state.status ?? null)
  }
  const [kept = ''] = await node.accept(plan)
  const [msgId = ''] = await node.accept(plan)
  const key = { planId: plan, msgId }
  await node.project([msgId])
  await other.load([key])
  expect(await statuses(msgId)).toEqual(['QUEUED', 'QUEUED'])
  await other.write([settled(msgId)])
  expect(await statuses(msgId)).toEqual(['QUEUED', 'SENT'])
  await other.project([msgId])
  expect(await statuses(msgId)).toEqual(['QUEUED', null])
  const before = follower.get(msgId, node.lane)!
  await node.load([key])
  await node.write([received(msgId)])
  expect(await statuses(msgId)).toEqual(['DELIVERED', null])
  // What is known to have ended is not what has begun since.
  follower.drop([before])
  // The cut passes the acceptances, and not what has begun behind them.
  await node.project([kept])
  expect(await statuses(msgId)).toEqual(['DELIVERED', null])
  expect(await statuses(kept)).toEqual([null, null])
  await node.project([msgId])
  expect(await statuses(msgId)).toEqual([null, null])
})

test('who comes late reads from the cut on', async () => {
  const early = follow()
  const node = await LaneWriter.open(db, NODE)
  const [gone = ''] = await node.accept(plan)
  expect(await early.statusOf(gone)).toBe('QUEUED')
  const [msgId = ''] = await node.accept(plan)
  await node.write([settled(msgId), settled(gone)])
  await node.project([gone])
  for (const { statusOf } of [early, follow()])
    expect([await statusOf(gone), await statusOf(msgId)]).toEqual([null, 'SENT'])
})

test('the own lane is not read', async () => {
  const node = await LaneWriter.open(db, NODE)
  const [msgId = ''] = await node.accept(plan)
  expect(await follow({ ownLane: () => node.lane }).statusOf(msgId)).toBe(null)
  expect(await follow().statusOf(msgId)).toBe('QUEUED')
})

test('a lane that is gone is dropped with its messages', async () => {
  const { statusOf } = follow()
  const node = await LaneWriter.open(db, NODE)
  const [msgId = ''] = await node.accept(plan)
  expect(await statusOf(msgId)).toBe('QUEUED')
  await db.query('with gone as (delete from lanes where lane = $1) delete from journal where lane = $1', [
    node.lane,
  ])
  expect(await statusOf(msgId)).toBe(null)
})

test('a lane that was taken over ends before its fences; its messages stay until it is cut', async () => {
  const { statusOf } = follow()
  const lane = await openLane(db, NODE)
  const message = accepted(plan)
  const { msgId } = message
  await appendEntry(db, lane, 1, encodeEntry([message]))
  // On its way while the lane is taken over: it does not stand.
  await appendEntry(db, lane, 3, encodeEntry([received(msgId)]))
  const held = (await takeOverLane(db, { ...lane, nodeId: NODE }, SUCCESSOR))!
  expect(await appendEntry(db, lane, 2, encodeEntry([settled(msgId)]))).toBe('fenced')
  expect(await statusOf(msgId)).toBe('QUEUED')
  expect(await statusOf(msgId)).toBe('QUEUED')
  await cutJournal(db, held, 10)
  expect(await statusOf(msgId)).toBe(null)
})

test('much is read in parts, each fact once', async () => {
  const node = await LaneWriter.open(db, NODE)
  const ids: string[] = []
  for (let n = 0; n < 7; n += 1) {
    ids.push(...(await node.accept(plan, [{}, {}])))
    await node.write(ids.slice(-2).map((msgId) => settled(msgId)))
  }
  for (const bounds of [
    { entries: 3, octets: 1_000_000 },
    { entries: 100, octets: 300 },
    { entries: 1, octets: 1 },
  ]) {
    const { follower } = follow({ bounds, ownLane: () => null })
    await follower.catchUp()
    const known = ids.map((msgId) => follower.get(msgId, null)?.state.sequence)
    expect(known).toEqual(ids.map(() => 1))
  }
})

test('an entry of a newer version: said once, nothing of its lane is answered, other lanes are', async () => {
  const { statusOf, log } = follow()
  const [older, newer] = [await LaneWriter.open(db, NODE), await openLane(db, SUCCESSOR)]
  const message = accepted(plan)
  await appendEntry(db, newer, 1, encodeEntry([message]))
  expect(await statusOf(message.msgId)).toBe('QUEUED')
  await appendEntry(db, newer, 2, Buffer.from([99, 1, 2, 3]))
  await appendEntry(db, newer, 3, encodeEntry([settled(message.msgId)]))
  const [msgId = ''] = await older.accept(plan)
  for (let time = 0; time < 2; time += 1)
    expect([await statusOf(message.msgId), await statusOf(msgId)]).toEqual([null, 'QUEUED'])
  expect(log.errors).toHaveLength(1)
  await db.query('delete from journal where lane = $1', [newer.lane])
})

test('a catch-up that began before the question is not its answer; those who wait share the next', async () => {
  const gate = gated()
  const { follower } = follow({ db: gate.db })
  const node = await LaneWriter.open(db, NODE)
  const first = follower.catchUp()
  await eventually(() => gate.waiting.length === 1)
  const [msgId = ''] = await node.accept(plan)
  const later = [follower.catchUp(), follower.catchUp(), follower.catchUp()]
  expect(new Set(later).size).toBe(1)
  expect(later[0]).not.toBe(first)
  gate.go()
  await first
  await eventually(() => gate.waiting.length === 1)
  gate.go()
  await Promise.all(later)
  expect(follower.get(msgId, null)?.state.status).toBe('QUEUED')
  expect(gate.waiting).toHaveLength(0)
})

test('a catch-up that fails is said to those who asked for it, and the next is made all the same', async () => {
  let fails = true
  const query = async (...asked: Parameters<Queryable['query']>) => {
    if (fails) throw new Error('gone')
    return db.query(...(asked as [string]))
  }
  const { follower } = follow({ db: { query } as Queryable })
  const node = await LaneWriter.open(db, NODE)
  const [msgId = ''] = await node.accept(plan)
  const [first, second] = [follower.catchUp(), follower.catchUp()]
  await expect(first).rejects.toThrow('gone')
  await expect(second).rejects.toThrow('gone')
  fails = false
  await follower.catchUp()
  expect(follower.get(msgId, null)?.state.status).toBe('QUEUED')
})

test('where many are followed, those that have a record are dropped', async () => {
  const { follower } = follow({ manyMessages: 10 })
  await follower.catchUp()
  const before = follower.size
  const node = await LaneWriter.open(db, NODE)
  const ids = await node.accept(
    plan,
    Array.from({ length: 50 }, () => ({})),
  )
  // The first stays, and with it the journal of all. The last is there again.
  await node.project(ids.slice(1))
  await node.load([{ planId: plan, msgId: ids.at(-1)! }])
  await follower.catchUp()
  expect(follower.size).toBeLessThanOrEqual(before + 2)
  const known = ids.filter((msgId) => follower.get(msgId, null) !== undefined)
  expect(known).toEqual([ids[0], ids.at(-1)])
})
