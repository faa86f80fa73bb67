import { beforeEach, describe, expect, test } from 'vitest'
import { withTransaction } from '../../src/store/database.ts'
import type { TakeRequest } from '../../src/store/dispatches.ts'
import { lockMessages } from '../../src/store/messages-at-rest.ts'
import { installedDatabase, newId, otherPool } from '../support/installation.ts'
import { insertMessages, NODE, newMessage, storeMessage } from '../support/stored-messages.ts'
import { EVERY_BUCKET as ALL, requestFor, take, takeDue } from '../support/taken.ts'

const { db, connectionString, announcedPlan: plan, silentPlan: otherPlan } = await installedDatabase()

beforeEach(() => db.query('delete from dispatches'))

const hold = (changes: Partial<TakeRequest> & { lane?: number } = {}, pool = db) => {
  const { lane, ...request } = changes
  return take(pool, { ...requestFor(plan), ...request }, lane)
}

/** As a node does that owns no bucket. */
const holdShared = (changes: Partial<TakeRequest> & { lane?: number } = {}, pool = db) =>
  hold({ buckets: [], ...changes }, pool)

async function row(msgId: string) {
  const { rows } = await db.query(
    'select ambiguous, accepted_pdu_bits::text as segments from dispatches where msg_id = $1',
    [msgId],
  )
  return rows[0]
}

describe('taking what is due', () => {
  test('gives everything the submitter needs, once', async () => {
    const msgId = await storeMessage(db, plan, { body: 'due', segments: 2 })
    await db.query(
      'update dispatches set failed_attempts = 2, accepted_pdu_bits = 1::bigint << 62, ambiguous = true',
    )
    expect(await hold()).toEqual([
      {
        planId: plan,
        msgId,
        sender: 'Aldis',
        recipient: '+15551230000',
        body: 'due',
        segments: 2,
        failedAttempts: 2,
        acceptedPduBits: 1n << 62n,
        segmentation: null,
        startedOver: false,
        deliveredBits: 0n,
        status: 'QUEUED',
        ambiguous: true,
        carrierId: null,
        optedOut: false,
        expiresAtMs: expect.any(Number),
      },
    ])
    const { rows } = await db.query('select lane from messages where msg_id = $1', [msgId])
    expect(rows).toEqual([{ lane: NODE }])
    expect(await row(msgId)).toBeUndefined()
    expect(await hold()).toEqual([])
  })

  test('not what is not due, of another bucket or of another plan', async () => {
    await storeMessage(db, plan, { created_ms: Date.now() + 60_000 })
    await storeMessage(db, plan, { msg_id: newId(Date.now(), 9) })
    await storeMessage(db, otherPlan)
    expect(await hold({ buckets: ALL.filter((bucket) => bucket !== 9) })).toEqual([])
    expect(await hold({ plans: new Map() })).toEqual([])
    expect(await hold({ buckets: [] })).toEqual([])
  })

  test('of any plan when its validity is over and that is asked for', async () => {
    const msgId = await storeMessage(db, plan)
    await db.query('update dispatches set expires_at = now()')
    expect(await hold({ plans: new Map() })).toEqual([])
    expect(await hold({ plans: new Map(), expired: true })).toMatchObject([{ msgId }])
  })

  test('the oldest due first, at most the limit', async () => {
    const now = Date.now()
    const ids: string[] = []
    for (const ageMs of [1_000, 3_000, 2_000])
      ids.push(await storeMessage(db, plan, { created_ms: now - ageMs }))
    const taken = await hold({ limit: 2 })
    expect(taken.map(({ msgId }) => msgId)).toEqual([ids[1], ids[2]])
  })

  test('two nodes with buckets of their own share out the rest', async () => {
    await using other = otherPool(connectionString)
    await insertMessages(
      db,
      ALL.map((bucket) => newMessage(plan, { msg_id: newId(Date.now(), bucket) })),
    )
    const [one, two] = await Promise.all([
      hold({ lane: 1, buckets: ALL.slice(0, 128), limit: 256, overdueMs: 60_000 }),
      hold({ lane: 2, buckets: ALL.slice(128), limit: 256, overdueMs: 60_000 }, other.db),
    ])
    expect([one.length, two.length]).toEqual([128, 128])
  })
})

describe('plans and routes', () => {
  const both = (room: number) =>
    new Map([plan, otherPlan].map((id) => [id, { room, routes: {} as Record<number, number> }]))
  const store = async (planId: number, count: number, ageMs: number) => {
    const rows = Array.from({ length: count }, () => newMessage(planId, { created_ms: Date.now() - ageMs }))
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
        newMessage(plan, { route_id, created_ms: Date.now() - 60_000 + index }),
      ),
    )
    const plans = new Map([[plan, { room: 0, routes: { 7: 1_000, 8: 1_000 } }]])
    const taken = await hold({ plans, limit: 100 })
    const { rows } = await db.query('select route_id, count(*)::integer as count from dispatches group by 1')
    expect(taken).toHaveLength(100)
    expect(rows).toEqual([{ route_id: 7, count: 220 }])
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
    const waiting = { created_ms: Date.now() - 1_000 }
    await storeMessage(db, plan, { ...waiting, route_id: 7 })
    const open = [
      await storeMessage(db, plan, { ...waiting, route_id: 8 }),
      await storeMessage(db, plan, waiting),
    ]
    const taken = await hold({ closedRoutes: [7, 9] })
    expect(new Set(taken.map(({ msgId }) => msgId))).toEqual(new Set(open))
  })
})

describe('what was handed to a carrier of another node', () => {
  const leaving = (carrierId: number, planId = plan) =>
    new Map([[planId, { room: 1_000, routes: {}, elsewhere: [carrierId] }]])
  const handed = (chosen_carrier_id: number) => storeMessage(db, plan, { route_id: 7, chosen_carrier_id })

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
      await storeMessage(db, plan, { msg_id, created_ms: Date.now() - ageMs })
    expect(await holdShared({ plans: new Map() })).toEqual([])
    expect(await holdShared({ buckets: [6], overdueMs: 60_000 })).toMatchObject([{ msgId: own }])
    expect(await holdShared({ buckets: [6] })).toMatchObject([{ msgId: old }])
  })

  test('owner and others at once: each row is taken once, and nobody waits', async () => {
    await using other = otherPool(connectionString)
    const rows = ALL.flatMap((bucket) =>
      Array.from({ length: 4 }, () =>
        newMessage(plan, {
          msg_id: newId(Date.now() - 5_000, bucket),
          created_ms: Date.now() - 5_000,
        }),
      ),
    )
    await insertMessages(db, rows)
    const taken: string[] = []
    for (;;) {
      const [one, two, three] = await Promise.all([
        holdShared({ lane: 1, buckets: ALL.slice(0, 128) }),
        holdShared({ lane: 2, buckets: ALL.slice(128) }, other.db),
        holdShared({ lane: 3, buckets: [] }, other.db),
      ])
      taken.push(...[...one, ...two, ...three].map(({ msgId }) => msgId))
      if (one.length + two.length + three.length === 0) break
    }
    expect(new Set(taken).size).toBe(taken.length)
    expect(taken).toHaveLength(1_024)
  })
})

test('a message that is being changed is passed over, and taken as it is then', async () => {
  const [changing, other] = [await storeMessage(db, plan), await storeMessage(db, plan)]
  await withTransaction(db, async (tx) => {
    await lockMessages(tx, [{ planId: plan, msgId: changing }])
    await tx.query("update messages set status = 'UNKNOWN' where msg_id = $1", [changing])
    expect(await hold()).toMatchObject([{ msgId: other, status: 'QUEUED' }])
  })
  expect(await hold()).toMatchObject([{ msgId: changing, status: 'UNKNOWN' }])
})

test('what is taken is still there when its transaction fails', async () => {
  const msgId = await storeMessage(db, plan)
  const failing = withTransaction(db, async (tx) => {
    await takeDue(db, tx, NODE, requestFor(plan))
    throw new Error('the lane was lost')
  })
  await expect(failing).rejects.toThrow('lost')
  expect(await hold()).toMatchObject([{ msgId }])
})
