import { describe, expect, it } from 'vitest'
import { type FeedPlace, lowestIdWithEventsAt, placeBehind } from '../../src/domain/events.ts'
import { type Queryable, withTransaction } from '../../src/store/database.ts'
import { feedEnd, readFeed } from '../../src/store/event-feed.ts'
import { insertInboundMessages } from '../../src/store/inbound-messages.ts'
import { eventually } from '../support/eventually.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { LaneWriter, received, settled } from '../support/lane-writer.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { NOBODY, recordOutcomes, sent, storeMessage, submission } from '../support/stored-messages.ts'

const { db, announcedPlan: plan, silentPlan: other } = await installedDatabase({ poolSize: 6 })

const ALL = { since: null }

/** Stores inbound messages by one statement, which are events; gives their ids. */
async function receiveAll(
  planIds: readonly number[],
  to: Queryable = db,
  atMs = Date.now(),
): Promise<string[]> {
  const messages = planIds.map((planId) => ({
    planId,
    msgId: newId(atMs),
    carrierId: 1,
    parts: 1,
    partsExpected: 1,
    sender: '+15551230000',
    recipient: '+49301234567',
    body: 'hello',
    keyword: null,
    announced: false,
    occurredAtMs: atMs,
  }))
  await insertInboundMessages(to, messages, NOBODY)
  return messages.map(({ msgId }) => msgId)
}

async function receive(to: Queryable = db, planId = plan, atMs = Date.now()): Promise<string> {
  const [msgId = ''] = await receiveAll([planId], to, atMs)
  return msgId
}

async function read(after: FeedPlace | null = null, filters: { since: number | null } = ALL) {
  return readFeed(db, { planId: plan, filters, after, limit: 1_000 }, await feedEnd(db, plan))
}

/** Behind all there is. */
async function now(planId = plan): Promise<FeedPlace> {
  return placeBehind(await feedEnd(db, planId), Date.now())
}

const idsOf = (events: readonly { msgId: string }[]) => events.map(({ msgId }) => msgId)

describe('the order', () => {
  it('is that in which events were written, over page after page', async () => {
    let place = await now()
    const ids: string[] = []
    for (let n = 0; n < 7; n += 1) ids.push(await receive())
    const end = await feedEnd(db, plan)
    const pages: string[][] = []
    for (let n = 0; n < 4; n += 1) {
      const events = await readFeed(db, { planId: plan, filters: ALL, after: place, limit: 3 }, end)
      pages.push(idsOf(events))
      place = events.at(-1)?.place ?? place
    }
    expect(pages).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6), []])
  })

  it('of events of one statement is by message', async () => {
    const before = await now()
    const ids = await receiveAll([plan, plan, plan])
    const events = await read(before)
    expect(idsOf(events)).toEqual([...ids].sort())
    expect(new Set(events.map(({ place }) => place.position)).size).toBe(1)
    expect(idsOf(await read(events[0]!.place))).toEqual(idsOf(events).slice(1))
  })

  it('of plans is for each its own, without gaps', async () => {
    const [mine, others] = [await now(), await now(other)]
    await receiveAll([other, plan, other])
    await receive()
    expect(BigInt(await feedEnd(db, plan)) - BigInt(mine.position)).toBe(2n)
    expect(BigInt(await feedEnd(db, other)) - BigInt(others.position)).toBe(1n)
  })
})

describe('an open transaction', () => {
  it('keeps the next writer of the plan waiting, and no reader, nor writers of other plans', async () => {
    const before = await now()
    const early = await db.connect()
    try {
      await early.query('begin')
      const first = await receive(early)
      let isWritten = false
      const writing = receive().then((msgId) => {
        isWritten = true
        return msgId
      })
      await receive(db, other)
      await eventually(async () => (await lockWaits(db)) === 1)
      expect([isWritten, await read(before)]).toEqual([false, []])
      const place = await now()
      await early.query('commit')
      const second = await writing
      expect(idsOf(await read(place))).toEqual([first, second])
    } finally {
      early.release()
    }
  })

  it('leaves no gap when it is rolled back', async () => {
    const before = await now()
    const failing = await db.connect()
    try {
      await failing.query('begin')
      await receive(failing)
      await failing.query('rollback')
      const kept = await receive()
      const events = await read(before)
      expect(idsOf(events)).toEqual([kept])
      expect(BigInt(events[0]!.place.position)).toBe(BigInt(before.position) + 1n)
    } finally {
      failing.release()
    }
  })

  it('many writers, one reader: every event once, while they write', async () => {
    let place = await now()
    const written: string[] = []
    const writer = async (n: number) => {
      for (let round = 0; round < 12; round += 1) {
        // Two plans, in either order.
        const plans = (n + round) % 2 === 0 ? [plan, other, plan] : [other, plan, plan]
        const ids = await withTransaction(db, async (transaction) => {
          const stored = await receiveAll(plans, transaction)
          // Some stay open for longer than others.
          for (let wait = 0; wait < (n * 7 + round * 3) % 11; wait += 1) await transaction.query('select 1')
          return stored
        })
        written.push(...ids.filter((_, index) => plans[index] === plan))
      }
    }
    let isDone = false
    const writing = Promise.all([1, 2, 3, 4].map(writer)).finally(() => (isDone = true))
    const seen: string[] = []
    for (let isLast = false; !isLast; ) {
      isLast = isDone
      const end = await feedEnd(db, plan)
      const events = await readFeed(db, { planId: plan, filters: ALL, after: place, limit: 5 }, end)
      seen.push(...idsOf(events))
      place = events.length === 5 ? events.at(-1)!.place : placeBehind(end, Date.now())
      isLast &&= events.length < 5
    }
    await writing
    expect(written).toHaveLength(96)
    expect([...seen].sort()).toEqual([...written].sort())
  })

  it('nodes that record messages of the same plans wait for each other, and for no lock in a ring', async () => {
    const before = await Promise.all([plan, other].map(now))
    const nodes = [await LaneWriter.open(db, 1), await LaneWriter.open(db, 2)]
    const ids: string[] = []
    const recording = async (node: LaneWriter, plans: readonly number[]) => {
      const keys: { planId: number; msgId: string }[] = []
      for (let round = 0; round < 10; round += 1) {
        for (const planId of plans) {
          const [msgId = ''] = await node.accept(planId)
          keys.push({ planId, msgId })
        }
        await node.write([...node.all()].map(({ msgId }) => settled(msgId)))
        await node.project([...node.all()].map(({ msgId }) => msgId))
        // Some of these have a record when the next are recorded beside them.
        const again = keys.slice(-plans.length)
        await node.load(again)
        await node.write(again.map(({ msgId }) => received(msgId)))
      }
      await node.project([...node.all()].map(({ msgId }) => msgId))
      ids.push(...keys.map(({ msgId }) => msgId))
    }
    await Promise.all([
      recording(nodes[0]!, [plan, other]),
      recording(nodes[1]!, [other, plan]),
      ...[1, 2, 3].map(() => Promise.all(Array.from({ length: 10 }, () => receiveAll([other, plan])))),
    ])
    const events = await Promise.all(
      [plan, other].map(async (planId, index) => {
        const page = { planId, filters: ALL, after: before[index]!, limit: 1_000 }
        return readFeed(db, page, await feedEnd(db, planId))
      }),
    )
    const told = events.flat().filter(({ sequence }) => sequence > 0)
    expect(told.map(({ msgId, sequence }) => `${msgId} ${sequence}`).sort()).toEqual(
      ids.flatMap((msgId) => [`${msgId} 1`, `${msgId} 2`]).sort(),
    )
  })
})

describe('an event', () => {
  it('is what its webhook tells, as it was then', async () => {
    const before = await now()
    const msgId = await storeMessage(db, plan)
    const settle = (status: 'SENT' | 'UNKNOWN') =>
      recordOutcomes(db, [submission(plan, msgId, msgId), sent(plan, msgId, { status })], NOBODY)
    await settle('SENT')
    await db.query(`update messages set status = 'DELIVERED' where msg_id = $1`, [msgId])
    const inbound = await receive()
    const [change, arrival, ...more] = await read(before)
    expect(more).toEqual([])
    expect(change).toMatchObject({ msgId, sequence: 1 })
    expect(change!.payload).toMatchObject({
      direction: 'MT',
      message: { msgId, status: 'SENT', body: 'hello', planId: plan },
    })
    expect(arrival).toMatchObject({ msgId: inbound, sequence: 0 })
    expect(arrival!.payload).toEqual({
      direction: 'MO',
      inbound: {
        planId: plan,
        msgId: inbound,
        sender: '+15551230000',
        recipient: '+49301234567',
        body: 'hello',
        keyword: null,
      },
    })
  })

  it('of another plan is not there', async () => {
    const before = await now()
    const mine = await receive()
    await receive(db, other)
    expect(idsOf(await read(before))).toEqual([mine])
  })
})

describe('since', () => {
  const HOUR_MS = 3_600_000
  const startMs = Date.now() - 6 * HOUR_MS

  it('begins with the first event of that time, wherever the day begins', async () => {
    const { db: own, announcedPlan } = await installedDatabase({ atMs: startMs })
    const ids: string[] = []
    for (let n = 0; n < 60; n += 1) ids.push(await receive(own, announcedPlan, startMs + n * 60_000))
    const end = await feedEnd(own, announcedPlan)
    const since = async (ms: number) =>
      idsOf(
        await readFeed(own, { planId: announcedPlan, filters: { since: ms }, after: null, limit: 100 }, end),
      )
    for (const n of [0, 1, 2, 29, 30, 58, 59]) {
      expect(await since(startMs + n * 60_000)).toEqual(ids.slice(n))
      expect(await since(startMs + n * 60_000 + 1)).toEqual(ids.slice(n + 1))
    }
    expect(await since(0)).toEqual(ids)
    expect(await since(Date.parse('0001-01-01T00:00:00Z'))).toEqual(ids)
    expect(await since(Date.parse('9999-12-31T23:59:59Z'))).toEqual([])
  })

  it('holds for what follows, and reads no older days than it must', async () => {
    const { db: own, announcedPlan } = await installedDatabase({ atMs: startMs - 30 * 24 * HOUR_MS })
    const explaining = {
      query: async ({ text, values }: { text: string; values: unknown[] }) => {
        const { rows } = await own.query(`explain ${text}`, values)
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
        return { rows: [{ position: '0' }] }
      },
    }
    const plans: string[] = []
    const page = { planId: announcedPlan, filters: { since: startMs }, after: null, limit: 10 }
    await readFeed(explaining as never, page, '10').catch(() => undefined)
    expect(plans).toHaveLength(2)
    for (const text of plans) {
      expect(text).not.toMatch(/Seq Scan on events/)
      const { rows } = await own.query(
        `select 'events_' || to_char($1::timestamptz - interval '30 days', 'YYYYMMDD') as old`,
        [new Date(startMs)],
      )
      expect(text).not.toContain(rows[0].old)
    }
    expect(lowestIdWithEventsAt(startMs) < newId(startMs - 9 * 24 * HOUR_MS)).toBe(true)
  })
})
