import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ensurePartitions } from '../../src/services/day-partitions.ts'
import type { Database } from '../../src/store/database.ts'
import {
  freeDispatches,
  holdDueDispatches,
  listHeldDispatches,
  postponeDispatches,
  releaseDispatches,
} from '../../src/store/dispatches.ts'
import { registerNode } from '../../src/store/nodes.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { newId, otherPool, seedInstallation } from '../support/installation.ts'
import { NODE, storeMessage } from '../support/stored-messages.ts'

const ALL = Array.from({ length: 256 }, (_, bucket) => bucket)

let database: FreshDatabase
let db: Database
let plan: number
let otherPlan: number

beforeAll(async () => {
  database = await freshDatabase()
  db = database.db
  const installation = await seedInstallation(db)
  plan = installation.announcedPlan
  otherPlan = installation.silentPlan
  await ensurePartitions(db, Date.now())
})

beforeEach(() => db.query('delete from dispatches'))

afterAll(() => database[Symbol.asyncDispose]())

const hold = (changes: Partial<Parameters<typeof holdDueDispatches>[1]> = {}, pool = db) =>
  holdDueDispatches(pool, {
    nodeId: 1,
    buckets: ALL,
    planIds: [plan],
    expired: false,
    limit: 100,
    ...changes,
  })

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
    expect(await hold({ planIds: [] })).toEqual([])
    expect(await hold({ buckets: [] })).toEqual([])
  })

  test('of any plan when its validity is over and that is asked for', async () => {
    const msgId = await storeMessage(db, plan, { holder: null })
    await db.query('update dispatches set expires_at = now()')
    expect(await hold({ planIds: [] })).toEqual([])
    expect(await hold({ planIds: [], expired: true })).toMatchObject([{ msgId }])
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
    await using other = otherPool(database.connectionString)
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

const UNTRIED = { carrier_id: null, attempt_made: null }

test('postponing gives back, due after the delay', async () => {
  const [soon, later] = [await storeMessage(db, plan), await storeMessage(db, plan)]
  const change = { holder: NODE, attempt: 1, submitted_segments: '5', ambiguous: true, ...UNTRIED }
  await postponeDispatches(db, [
    { msg_id: soon, ...change, delay_ms: 0 },
    { msg_id: later, ...change, delay_ms: 60_000 },
  ])
  expect(await row(soon)).toEqual({ holder: null, attempt: 1, ambiguous: true, segments: '5', due: true })
  expect(await row(later)).toEqual({ holder: null, attempt: 1, ambiguous: true, segments: '5', due: false })
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
    expect(await row(lost)).toMatchObject({ holder: null, ambiguous: true, due: false })
    expect(await row(mine)).toMatchObject({ holder: me, ambiguous: false })
    expect(await row(theirs)).toMatchObject({ holder: living, ambiguous: false })
    expect(await row(elsewhere)).toMatchObject({ holder: dead })
  })

  test('rows that a node holds without knowing are listed and freed, unsent', async () => {
    const [known, lost] = [await storeMessage(db, plan), await storeMessage(db, plan)]
    await storeMessage(db, plan, { holder: 2 })
    expect(new Set(await listHeldDispatches(db, 1))).toEqual(new Set([known, lost]))
    await freeDispatches(db, 1, [lost])
    expect(await row(lost)).toMatchObject({ holder: null, ambiguous: false, due: true })
    expect(await listHeldDispatches(db, 1)).toEqual([known])
  })
})
