import { beforeEach, describe, expect, test } from 'vitest'
import {
  type DispatchWish,
  freeDispatches,
  holdDueDispatches,
  listHeldDispatches,
  postponeDispatches,
  recordLateSegments,
  releaseDispatches,
} from '../../src/store/dispatches.ts'
import { registerNode } from '../../src/store/nodes.ts'
import { recordSubmissions } from '../../src/store/submissions.ts'
import { installedDatabase, newId, otherPool } from '../support/installation.ts'
import { insertMessages, NODE, newMessage, storeMessage } from '../support/stored-messages.ts'

const ALL = Array.from({ length: 256 }, (_, bucket) => bucket)

const { db, connectionString, announcedPlan: plan, silentPlan: otherPlan } = await installedDatabase()

beforeEach(() => db.query('delete from dispatches'))

/** Room for 1,000 of the plan, over any route. */
const wish = (): DispatchWish => ({
  nodeId: 1,
  buckets: ALL,
  plans: new Map([[plan, { room: 1_000, routes: {} }]]),
  closedRoutes: [],
  carriers: [],
  limit: 100,
})

const hold = (changes: Partial<Parameters<typeof holdDueDispatches>[1]> = {}, pool = db) =>
  holdDueDispatches(pool, { ...wish(), expired: false, overdueMs: null, ...changes })

const holdShared = (changes: Partial<Parameters<typeof holdDueDispatches>[1]> = {}, pool = db) =>
  hold({ buckets: [], overdueMs: 2_000, ...changes }, pool)

async function row(msgId: string) {
  const { rows } = await db.query(
    `select holder, attempt, ambiguous, submitted_segments::text as segments, due_at <= now() as due
     from dispatches where msg_id = $1`,
    [msgId],
  )
  return rows[0]
}

describe('holding what is due', () => {
  test('gives everything the submitter needs, once', async () => {
    const msgId = await storeMessage(db, plan, { holder: null, body: 'due', segments: 2 })
    await db.query(
      'update dispatches set attempt = 2, submitted_segments = 1::bigint << 62, ambiguous = true',
    )
    expect(await hold()).toEqual([
      {
        planId: plan,
        msgId,
        holder: 1,
        sender: 'Aldis',
        recipient: '+15551230000',
        body: 'due',
        segments: 2,
        attempt: 2,
        submittedSegments: 1n << 62n,
        cut: null,
        startedOver: false,
        deliveredSegments: 0n,
        status: 'QUEUED',
        ambiguous: true,
        carrierId: null,
        optedOut: false,
        expiresAt: expect.any(Date),
      },
    ])
    expect(await row(msgId)).toMatchObject({ holder: 1 })
    expect(await hold()).toEqual([])
  })

  test('not what is held, not due, of another bucket or of another plan', async () => {
    await storeMessage(db, plan)
    await storeMessage(db, plan, { holder: null, created_ms: Date.now() + 60_000 })
    await storeMessage(db, plan, { holder: null, msg_id: newId(Date.now(), 9) })
    await storeMessage(db, otherPlan, { holder: null })
    expect(await hold({ buckets: ALL.filter((bucket) => bucket !== 9) })).toEqual([])
    expect(await hold({ plans: new Map() })).toEqual([])
    expect(await hold({ buckets: [] })).toEqual([])
  })

  test('of any plan when its validity is over and that is asked for', async () => {
    const msgId = await storeMessage(db, plan, { holder: null })
    await db.query('update dispatches set expires_at = now()')
    expect(await hold({ plans: new Map() })).toEqual([])
    expect(await hold({ plans: new Map(), expired: true })).toMatchObject([{ msgId }])
  })

  test('the oldest due first, at most the limit', async () => {
    const now = Date.now()
    const ids: string[] = []
    for (const ageMs of [1_000, 3_000, 2_000])
      ids.push(await storeMessage(db, plan, { holder: null, created_ms: now - ageMs }))
    const taken = await hold({ limit: 2 })
    expect(taken.map(({ msgId }) => msgId)).toEqual([ids[1], ids[2]])
  })

  test('two nodes with buckets of their own share out the rest', async () => {
    await using other = otherPool(connectionString)
    await Promise.all(
      ALL.map((bucket) => storeMessage(db, plan, { holder: null, msg_id: newId(Date.now(), bucket) })),
    )
    const [one, two] = await Promise.all([
      hold({ nodeId: 1, buckets: ALL.slice(0, 128), limit: 256 }),
      hold({ nodeId: 2, buckets: ALL.slice(128), limit: 256 }, other.db),
    ])
    expect([one.length, two.length]).toEqual([128, 128])
  })
})

describe('plans and routes', () => {
  const both = (room: number) =>
    new Map([plan, otherPlan].map((id) => [id, { room, routes: {} as Record<number, number> }]))
  const store = async (planId: number, count: number, ageMs: number) => {
    const rows = Array.from({ length: count }, () =>
      newMessage(planId, { holder: null, created_ms: Date.now() - ageMs }),
    )
    await insertMessages(db, rows)
  }

  test('share what is taken, however much one of them has waiting', async () => {
    await store(plan, 500, 60_000)
    await store(otherPlan, 30, 1_000)
    const taken = await hold({ plans: both(1_000), limit: 100 })
    const of = (planId: number) => taken.filter((dispatch) => dispatch.planId === planId).length
    expect([of(plan), of(otherPlan)]).toEqual([70, 30])
  })

  test('so do the routes of a plan', async () => {
    await insertMessages(
      db,
      [...Array(300).fill(7), ...Array(20).fill(8)].map((route_id, index) =>
        newMessage(plan, { holder: null, route_id, created_ms: Date.now() - 60_000 + index }),
      ),
    )
    const plans = new Map([[plan, { room: 0, routes: { 7: 1_000, 8: 1_000 } }]])
    const taken = await hold({ plans, limit: 100 })
    const { rows } = await db.query(
      'select route_id, count(*)::integer as count from dispatches where holder = 1 group by 1 order by 1',
    )
    expect(taken).toHaveLength(100)
    expect(rows).toEqual([
      { route_id: 7, count: 80 },
      { route_id: 8, count: 20 },
    ])
  })

  test('a plan takes no more than it has room for', async () => {
    await store(plan, 50, 60_000)
    await store(otherPlan, 50, 1_000)
    const plans = both(1_000).set(plan, { room: 5, routes: {} })
    const taken = await hold({ plans, limit: 100 })
    expect(taken.filter(({ planId }) => planId === plan)).toHaveLength(5)
    expect(taken).toHaveLength(55)
  })

  test('what waits for a closed route stays; what waits for any other, or none yet, is taken', async () => {
    const waiting = { holder: null, created_ms: Date.now() - 1_000 }
    await storeMessage(db, plan, { ...waiting, route_id: 7 })
    const open = [
      await storeMessage(db, plan, { ...waiting, route_id: 8 }),
      await storeMessage(db, plan, waiting),
    ]
    const taken = await hold({ closedRoutes: [7, 9] })
    expect(new Set(taken.map(({ msgId }) => msgId))).toEqual(new Set(open))
  })

  test('postponing tells the route', async () => {
    const msgId = await storeMessage(db, plan)
    const change = { holder: NODE, attempt: 0, submitted_segments: '0', ambiguous: false, ...UNTRIED }
    await postponeDispatches(db, [{ msg_id: msgId, ...change, route_id: 7, delay_ms: 0 }])
    expect(await hold({ closedRoutes: [7] })).toEqual([])
    expect(await hold()).toMatchObject([{ msgId }])
  })
})

describe('what was handed to a carrier of another node', () => {
  const leaving = (carrierId: number, planId = plan) =>
    new Map([[planId, { room: 1_000, routes: {}, elsewhere: [carrierId] }]])
  const handed = (chosen_carrier_id: number) =>
    storeMessage(db, plan, { holder: null, route_id: 7, chosen_carrier_id })

  test('is taken by the nodes that have the carrier, at once and whatever its bucket and its route', async () => {
    const msgId = await handed(5)
    expect(await hold({ plans: leaving(5) })).toEqual([])
    const there = { carriers: [5], closedRoutes: [7] }
    expect(await holdShared({ ...there, plans: new Map([[plan, { room: 9, routes: { 7: 0 } }]]) })).toEqual(
      [],
    )
    expect(await holdShared(there)).toMatchObject([{ msgId }])
  })

  test('waits no longer for a carrier that no node can use: it is as if none had been chosen', async () => {
    const msgId = await handed(5)
    expect(await hold({ carriers: [6], closedRoutes: [7] })).toEqual([])
    expect(await holdShared({ carriers: [6] })).toEqual([])
    expect(await hold({ carriers: [6] })).toMatchObject([{ msgId }])
  })

  test('does not stand before what was handed to others, nor before what was handed to none', async () => {
    await Promise.all(Array.from({ length: 50 }, () => handed(5)))
    const others = [await handed(6), await handed(0)]
    const taken = await hold({ carriers: [5, 6], limit: 12 })
    expect(taken).toHaveLength(12)
    expect(taken.map(({ msgId }) => msgId)).toEqual(expect.arrayContaining(others))
  })

  test('postponing hands over, and takes back', async () => {
    const msgId = await storeMessage(db, plan)
    const change = { holder: NODE, attempt: 0, submitted_segments: '0', ambiguous: false, ...UNTRIED }
    await postponeDispatches(db, [{ msg_id: msgId, ...change, chosen_carrier_id: 5, delay_ms: 0 }])
    expect(await hold({ plans: leaving(5) })).toEqual([])
    expect(await hold({ carriers: [5] })).toHaveLength(1)
    await postponeDispatches(db, [{ msg_id: msgId, ...change, delay_ms: 0 }])
    expect(await hold({ plans: leaving(5) })).toMatchObject([{ msgId }])
  })
})

describe('what is overdue in the buckets of others', () => {
  test('is taken when it has waited long enough, and only that', async () => {
    const [old, own, young] = [
      newId(Date.now() - 2_500, 5),
      newId(Date.now() - 2_500, 6),
      newId(Date.now() - 1_000, 5),
    ]
    for (const [msg_id, ageMs] of [
      [old, 2_500],
      [own, 2_500],
      [young, 1_000],
    ] as const)
      await storeMessage(db, plan, { msg_id, holder: null, created_ms: Date.now() - ageMs })
    await storeMessage(db, plan, { msg_id: newId(Date.now() - 2_500, 5), created_ms: Date.now() - 2_500 })
    expect(await holdShared({ plans: new Map() })).toEqual([])
    expect(await holdShared({ buckets: [6], overdueMs: 60_000 })).toMatchObject([{ msgId: own, holder: 1 }])
    expect(await holdShared({ buckets: [6] })).toMatchObject([{ msgId: old, holder: 1 }])
  })

  test('owner and others at once: each row is taken once, and nobody waits', async () => {
    await using other = otherPool(connectionString)
    const rows = ALL.flatMap((bucket) =>
      Array.from({ length: 4 }, () =>
        newMessage(plan, {
          msg_id: newId(Date.now() - 5_000, bucket),
          holder: null,
          created_ms: Date.now() - 5_000,
        }),
      ),
    )
    await insertMessages(db, rows)
    const taken: string[] = []
    for (;;) {
      const [one, two, three] = await Promise.all([
        holdShared({ nodeId: 1, buckets: ALL.slice(0, 128) }),
        holdShared({ nodeId: 2, buckets: ALL.slice(128) }, other.db),
        holdShared({ nodeId: 3, buckets: [] }, other.db),
      ])
      taken.push(...[...one, ...two, ...three].map(({ msgId }) => msgId))
      if (one.length + two.length + three.length === 0) break
    }
    expect(new Set(taken).size).toBe(taken.length)
    expect(taken).toHaveLength(1_024)
  })
})

test('a segment accepted late is written down, whoever holds the message', async () => {
  const [held, waiting] = [await storeMessage(db, plan), await storeMessage(db, plan, { holder: null })]
  const cut = 'udh GSM7 63'
  await recordLateSegments(db, [
    { msg_id: held, cut, segments: '4' },
    { msg_id: waiting, cut, segments: '1' },
    { msg_id: waiting, cut, segments: String(1n << 62n) },
  ])
  expect(await row(held)).toMatchObject({ holder: NODE, segments: '4' })
  expect(await row(waiting)).toMatchObject({ holder: null, segments: String((1n << 62n) + 1n) })
})

test('segments of a message that goes on after others, cut otherwise, do not count with them', async () => {
  const msgId = await storeMessage(db, plan, { holder: null })
  await recordLateSegments(db, [{ msg_id: msgId, cut: 'udh GSM7 3', segments: '1' }])
  await recordLateSegments(db, [{ msg_id: msgId, cut: 'udh16 GSM7 4', segments: '2' }])
  await recordLateSegments(db, [{ msg_id: msgId, cut: 'udh GSM7 3', segments: '4' }])
  expect(await hold()).toMatchObject([{ msgId, cut: 'udh GSM7 3', submittedSegments: 0b101n }])
})

const UNTRIED = {
  cut: 'udh GSM7 3',
  started_over: true,
  carrier_id: null,
  route_id: null,
  chosen_carrier_id: 0,
  attempt_made: null,
}

test('postponing gives back, due after the delay', async () => {
  const [soon, later] = [await storeMessage(db, plan), await storeMessage(db, plan)]
  const change = { holder: NODE, attempt: 1, submitted_segments: '5', ambiguous: true, ...UNTRIED }
  await postponeDispatches(db, [
    { msg_id: soon, ...change, delay_ms: 0 },
    { msg_id: later, ...change, delay_ms: 60_000 },
  ])
  expect(await row(soon)).toEqual({ holder: null, attempt: 1, ambiguous: true, segments: '5', due: true })
  expect(await row(later)).toEqual({ holder: null, attempt: 1, ambiguous: true, segments: '5', due: false })
  expect(await hold()).toMatchObject([
    { msgId: soon, submittedSegments: 5n, cut: 'udh GSM7 3', startedOver: true },
  ])
})

test('a node that no longer holds a message cannot postpone it', async () => {
  const msgId = await storeMessage(db, plan)
  const change = { holder: NODE + 1, attempt: 1, submitted_segments: '5', ambiguous: false, ...UNTRIED }
  await postponeDispatches(db, [{ msg_id: msgId, ...change, delay_ms: 0 }])
  expect(await row(msgId)).toMatchObject({ holder: NODE, attempt: 0 })
})

describe('a takeover', () => {
  test('frees what dead nodes held, ambiguous and after the wait; living ones keep theirs', async () => {
    const [me, living] = [await registerNode(db, 'me'), await registerNode(db, 'living')]
    const dead = living + 1_000
    const [mine, theirs, lost, elsewhere] = [
      await storeMessage(db, plan, { holder: me }),
      await storeMessage(db, plan, { holder: living }),
      await storeMessage(db, plan, { holder: dead }),
      await storeMessage(db, plan, { holder: dead, msg_id: newId(Date.now(), 200) }),
    ]
    const buckets = ALL.slice(0, 100)
    expect(await releaseDispatches(db, { nodeId: me, buckets, waitMs: 60_000 })).toBe(1)
    expect(await row(lost)).toMatchObject({ holder: null, due: false })
    await db.query('update dispatches set due_at = now() where msg_id = $1', [lost])
    const plans = new Map([[plan, { room: 10, routes: {} }]])
    expect(await hold({ plans })).toMatchObject([{ msgId: lost, ambiguous: true }])
    expect(await row(mine)).toMatchObject({ holder: me, ambiguous: false })
    expect(await row(theirs)).toMatchObject({ holder: living, ambiguous: false })
    expect(await row(elsewhere)).toMatchObject({ holder: dead })
  })

  test('is corrected by the former holder, which knows what it never sent, until somebody takes the message up', async () => {
    const dead = 1_000
    const [unsent, taken] = [
      await storeMessage(db, plan, { holder: dead }),
      await storeMessage(db, plan, { holder: dead }),
    ]
    await releaseDispatches(db, { nodeId: NODE, buckets: ALL, waitMs: 0 })
    const plans = new Map([[plan, { room: 10, routes: {} }]])
    await db.query("update dispatches set due_at = now() + interval '1 h' where msg_id = $1", [unsent])
    expect(await hold({ plans })).toMatchObject([{ msgId: taken, ambiguous: true }])
    const untried = { attempt: 0, submitted_segments: '0', ambiguous: false, ...UNTRIED, delay_ms: 0 }
    const givenBack = (msg_id: string, holder: number) =>
      postponeDispatches(db, [{ msg_id, holder, ...untried }])
    await givenBack(unsent, dead)
    expect(await row(unsent)).toMatchObject({ holder: null, ambiguous: false, due: true })
    await givenBack(taken, dead)
    expect(await row(taken)).toMatchObject({ holder: NODE, ambiguous: true })
    await postponeDispatches(db, [{ msg_id: taken, holder: NODE, ...untried, ambiguous: true }])
    await givenBack(taken, dead)
    expect(await row(taken)).toMatchObject({ holder: null, ambiguous: true })
  })

  test('rows that a node holds without knowing are listed and freed, unsent', async () => {
    const [known, lost] = [await storeMessage(db, plan), await storeMessage(db, plan)]
    await storeMessage(db, plan, { holder: 2 })
    expect(new Set(await listHeldDispatches(db, 1))).toEqual(new Set([known, lost]))
    await freeDispatches(db, 1, [lost])
    expect(await row(lost)).toMatchObject({ holder: null, ambiguous: false, due: true })
    expect(await listHeldDispatches(db, 1)).toEqual([known])
  })

  test('also after its lease has ended: they are what they were before, until somebody takes them up', async () => {
    const dead = 1_000
    const [certain, doubtful] = [
      await storeMessage(db, plan, { holder: dead }),
      await storeMessage(db, plan, { holder: dead }),
    ]
    await db.query('update dispatches set ambiguous = true where msg_id = $1', [doubtful])
    await releaseDispatches(db, { nodeId: NODE, buckets: ALL, waitMs: 60_000 })
    expect(new Set(await listHeldDispatches(db, dead))).toEqual(new Set([certain, doubtful]))
    await freeDispatches(db, dead, [certain, doubtful])
    expect(await row(certain)).toMatchObject({ holder: null, ambiguous: false, due: true })
    expect(await row(doubtful)).toMatchObject({ holder: null, ambiguous: true, due: true })
    expect(await listHeldDispatches(db, dead)).toEqual([])
    expect(await hold({ plans: new Map([[plan, { room: 10, routes: {} }]]) })).toHaveLength(2)
    await freeDispatches(db, dead, [certain])
    expect(await row(certain)).toMatchObject({ holder: NODE })
  })
})

test('a queue that was analyzed while it was empty is still looked up by its key', async () => {
  await db.query('analyze dispatches')
  const plans: string[] = []
  const explaining = {
    async query({ text, values }: { text: string; values: unknown[] }) {
      const { rows } = await db.query(`explain ${text}`, values)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return { rows: [] }
    },
  } as never
  await postponeDispatches(explaining, [])
  await recordLateSegments(explaining, [])
  const events = { holder: NODE, buckets: ALL }
  const changedAt = new Date().toISOString()
  await recordSubmissions(explaining, { settlements: [], submissions: [], changedAt, events })
  expect(plans).toHaveLength(3)
  for (const found of plans)
    expect(found).toMatch(/dispatches_pkey[^\n]*\n +Index Cond: \(\(bucket = ANY[^\n]* AND \(msg_id = /)
})
