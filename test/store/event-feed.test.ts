import { describe, expect, it } from 'vitest'
import { type FeedPlace, lowestIdWithEventsAt, placeBehind } from '../../src/domain/event-feed.ts'
import { InstantSource } from '../../src/domain/instants.ts'
import { type Database, type Queryable, withTransaction } from '../../src/store/database.ts'
import { feedEnd, readFeed } from '../../src/store/event-feed.ts'
import { insertInboundMessages } from '../../src/store/inbound-messages.ts'
import { recordSubmissions } from '../../src/store/submissions.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { eventually } from '../support/service.ts'
import { NOBODY, sent, storeMessage, submission } from '../support/stored-messages.ts'

const { db, announcedPlan: plan, silentPlan: other } = await installedDatabase({ poolSize: 6 })
const instants = new InstantSource()

const ALL = { since: null }

/** Stores an inbound message, which is an event; gives its id. */
async function receive(to: Queryable = db, planId = plan, atMs = Date.now()): Promise<string> {
  const message = {
    plan_id: planId,
    msg_id: newId(atMs),
    carrier_id: 1,
    sender: '+15551230000',
    recipient: '+49301234567',
    body: 'hello',
    keyword: null,
    announced: false,
    received_ms: atMs,
  }
  await insertInboundMessages(to, [message], NOBODY)
  return message.msg_id
}

/** An end at which the event can be read: transactions of the other tests' databases hold it back as well. */
function endWith(msgId: string, at: Database = db): Promise<string> {
  return eventually(async () => {
    const end = await feedEnd(at)
    const { rows } = await at.query('select 1 from events where msg_id = $1 and position <= $2', [msgId, end])
    return rows.length > 0 && end
  })
}

async function read(end: string, after: FeedPlace | null = null, filters: { since: number | null } = ALL) {
  return readFeed(db, { planId: plan, filters, after, limit: 1_000 }, end)
}

/** Behind all there is. */
async function now(): Promise<FeedPlace> {
  return placeBehind(await endWith(await receive()), Date.now())
}

const idsOf = (events: readonly { msgId: string }[]) => events.map(({ msgId }) => msgId)

describe('the order', () => {
  it('is that in which events were written, over page after page', async () => {
    let place = await now()
    const ids: string[] = []
    for (let n = 0; n < 7; n += 1) ids.push(await receive())
    const end = await endWith(ids.at(-1)!)
    const pages: string[][] = []
    for (let n = 0; n < 4; n += 1) {
      const events = await readFeed(db, { planId: plan, filters: ALL, after: place, limit: 3 }, end)
      pages.push(idsOf(events))
      place = events.at(-1)?.place ?? place
    }
    expect(pages).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6), []])
  })

  it('of events of one transaction is by message', async () => {
    const before = await now()
    const ids = await withTransaction(db, async (transaction) => {
      const first = await receive(transaction)
      return [first, await receive(transaction), await receive(transaction)]
    })
    const events = await read(await endWith(ids[0]!), before)
    expect(idsOf(events)).toEqual([...ids].sort())
    expect(new Set(events.map(({ place }) => place.position)).size).toBe(1)
    const { rows } = await db.query('select 1 from events where position = $1', [events[0]!.place.position])
    expect(rows).toHaveLength(3)
    const behindFirst = await read(await endWith(ids[0]!), events[0]!.place)
    expect(idsOf(behindFirst)).toEqual(idsOf(events).slice(1))
  })
})

describe('an open transaction', () => {
  it('holds back what was written beside it, and nothing is skipped when it commits last', async () => {
    const before = await now()
    const early = await db.connect()
    const late = await db.connect()
    try {
      await early.query('begin')
      const first = await receive(early)
      await late.query('begin')
      const second = await receive(late)
      await late.query('commit')
      // Committed and seen by everybody, but behind one that is still open.
      expect(idsOf((await db.query('select msg_id as "msgId" from events')).rows)).toContain(second)
      const end = await feedEnd(db)
      expect(await read(end, before)).toEqual([])
      const place = placeBehind(end, Date.now())
      await early.query('commit')
      expect(idsOf(await read(await endWith(second), place))).toEqual([first, second])
    } finally {
      early.release()
      late.release()
    }
  })

  it('holds nothing back when it has written nothing, or was rolled back', async () => {
    const before = await now()
    const reader = await db.connect()
    const failing = await db.connect()
    try {
      await reader.query('begin isolation level repeatable read')
      await reader.query('select count(*) from events')
      await failing.query('begin')
      const gone = await receive(failing)
      const kept = await receive()
      await failing.query('rollback')
      const events = idsOf(await read(await endWith(kept), before))
      expect(events).toEqual([kept])
      expect(events).not.toContain(gone)
    } finally {
      await reader.query('rollback')
      reader.release()
      failing.release()
    }
  })

  it('many writers, one reader: every event once, while they write', async () => {
    let place = await now()
    const written: string[] = []
    const writer = async (n: number) => {
      for (let round = 0; round < 12; round += 1) {
        written.push(
          ...(await withTransaction(db, async (transaction) => {
            const one = await receive(transaction)
            // Some stay open over the whole life of others.
            for (let wait = 0; wait < (n * 7 + round * 3) % 11; wait += 1) await transaction.query('select 1')
            return [one, await receive(transaction)]
          })),
        )
      }
    }
    const writing = Promise.all([1, 2, 3, 4].map(writer)).then(() => true)
    const seen: string[] = []
    const readOn = async () => {
      const end = await feedEnd(db)
      const events = await readFeed(db, { planId: plan, filters: ALL, after: place, limit: 5 }, end)
      seen.push(...idsOf(events))
      place = events.length === 5 ? events.at(-1)!.place : placeBehind(end, Date.now())
    }
    let ended = false
    void writing.then(() => (ended = true))
    while (!ended) await readOn()
    await writing
    await eventually(async () => {
      await readOn()
      return seen.length >= written.length
    })
    expect(written).toHaveLength(96)
    expect([...seen].sort()).toEqual([...written].sort())
  })
})

describe('an event', () => {
  it('is what its webhook tells, as it was then', async () => {
    const before = await now()
    const msgId = await storeMessage(db, plan)
    const settle = (status: 'SENT' | 'UNKNOWN') =>
      recordSubmissions(db, {
        settlements: [sent(plan, msgId, { status })],
        submissions: [submission(plan, msgId, msgId)],
        changedAt: instants.next(Date.now()),
        events: NOBODY,
      })
    await settle('SENT')
    await db.query(`update messages set status = 'DELIVERED' where msg_id = $1`, [msgId])
    const inbound = await receive()
    const [change, arrival, ...more] = await read(await endWith(inbound), before)
    expect(more).toEqual([])
    expect(change).toMatchObject({ msgId, seq: 1 })
    expect(change!.told).toMatchObject({
      direction: 'MT',
      message: { msgId, status: 'SENT', body: 'hello', planId: plan },
    })
    expect(arrival).toMatchObject({ msgId: inbound, seq: 0 })
    expect(arrival!.told).toEqual({
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
    const foreign = await receive(db, other)
    expect(idsOf(await read(await endWith(foreign), before))).toEqual([mine])
  })
})

describe('since', () => {
  const HOUR_MS = 3_600_000
  const startMs = Date.now() - 6 * HOUR_MS

  it('begins with the first event of that time, wherever the day begins', async () => {
    const { db: own, announcedPlan } = await installedDatabase({ atMs: startMs })
    const ids: string[] = []
    for (let n = 0; n < 60; n += 1) ids.push(await receive(own, announcedPlan, startMs + n * 60_000))
    const end = await endWith(ids.at(-1)!, own)
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
