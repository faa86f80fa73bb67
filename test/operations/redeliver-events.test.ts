import { beforeEach, describe, expect, test } from 'vitest'
import type { EventKey } from '../../src/domain/identifiers.ts'
import {
  type RedeliveryQuery,
  redeliverEvent,
  redeliverEvents,
} from '../../src/operations/redeliver-events.ts'
import { type Queryable, type Transaction, withTransaction } from '../../src/store/database.ts'
import { takeDueEvents, takeParkedEvents } from '../../src/store/due-deliveries.ts'
import { recordAttempts } from '../../src/store/event-deliveries.ts'
import { findEvent } from '../../src/store/event-list.ts'
import { eventually } from '../support/eventually.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { DESTINATION, storeEvent } from '../support/stored-events.ts'

const BUCKETS = Array.from({ length: 256 }, (_, bucket) => bucket)
const NODE = 1
const OTHER = 'https://other.example.com:8443'

const { db, announcedPlan: planId, silentPlan } = await installedDatabase()

beforeEach(async () => {
  await db.query('delete from event_deliveries')
  await db.query('delete from events')
})

async function delivery({ msgId, sequence }: EventKey) {
  const { rows } = await db.query(
    `select failed_attempts as "failedAttempts", earlier_attempts as earlier, state, holder, bucket, due_at <= now() as due,
            began_at > now() - interval '10 s' as anew
     from event_deliveries where msg_id = $1 and sequence = $2`,
    [msgId, sequence],
  )
  return rows[0]
}

function redeliver(
  query: Partial<RedeliveryQuery> = {},
  limits?: Parameters<typeof redeliverEvents>[2],
  on: Queryable = db,
) {
  const all = { msgId: null, destination: null, fromDate: null, toDate: null, after: null, dryRun: false }
  return redeliverEvents(
    (redelivery) => redelivery(on),
    { planId, state: 'failed', ...all, ...query },
    limits,
  )
}

const longAgo = { occurredAt: new Date(Date.now() - 3_600_000) }
const queued = { failedAttempts: 0, state: 'waiting', holder: null, due: true, anew: true }

describe('one event', () => {
  test('that failed is due at once, and its attempts go on counting', async () => {
    const msgId = await storeEvent(db, { planId, ...longAgo, state: 'failed', attempts: 12 })
    await redeliverEvent(db, planId, { msgId, sequence: 1 })
    expect(await delivery({ msgId, sequence: 1 })).toEqual({ ...queued, earlier: 12, bucket: 7 })
    const [event] = await takeDueEvents(db, { nodeId: NODE, buckets: BUCKETS, limit: 10 })
    expect(event).toMatchObject({ msgId, sequence: 1, failedAttempts: 0, earlierAttempts: 12 })
  })

  test('that was delivered at once is sent again, and its first attempt is not forgotten', async () => {
    const msgId = await storeEvent(db, { planId, ...longAgo, state: 'delivered' })
    const key = { msgId, sequence: 1 }
    const before = await findEvent(db, planId, key)
    await redeliverEvent(db, planId, key)
    expect(await delivery(key)).toEqual({ ...queued, earlier: 1, bucket: 7 })
    const waiting = await findEvent(db, planId, key)
    expect(waiting).toMatchObject({ state: 'pending', attempts: 1, attemptRecords: before!.attemptRecords })
    await takeDueEvents(db, { nodeId: NODE, buckets: BUCKETS, limit: 10 })
    await recordAttempts(db, [answered(msgId, 2)])
    const again = await findEvent(db, planId, key)
    expect(again).toMatchObject({ state: 'delivered', attempts: 2, responseStatus: 204 })
    expect(again!.attemptRecords.map(({ attempt, responseStatus }) => [attempt, responseStatus])).toEqual([
      [1, 200],
      [2, 204],
    ])
  })

  test('that was kept goes to the URL there is now; after attempts, if there were any', async () => {
    const fresh = await storeEvent(db, { planId, ...longAgo, sequence: 0, state: 'kept' })
    const tried = await storeEvent(db, { planId, ...longAgo, state: 'kept', attempts: 4 })
    await redeliverEvent(db, planId, { msgId: fresh, sequence: 0 })
    await redeliverEvent(db, planId, { msgId: tried, sequence: 1 })
    expect(await delivery({ msgId: fresh, sequence: 0 })).toMatchObject({ ...queued, earlier: 0 })
    expect(await delivery({ msgId: tried, sequence: 1 })).toMatchObject({ ...queued, earlier: 4 })
  })

  test('that waits goes now; one that is under way stays', async () => {
    const msgId = await storeEvent(db, { planId, ...longAgo, state: 'parked', attempts: 3 })
    await redeliverEvent(db, planId, { msgId, sequence: 1 })
    expect(await delivery({ msgId, sequence: 1 })).toMatchObject({ ...queued, earlier: 3 })
    const held = await storeEvent(db, { planId, ...longAgo, state: 'held', attempts: 3 })
    await redeliverEvent(db, planId, { msgId: held, sequence: 1 })
    expect(await delivery({ msgId: held, sequence: 1 })).toMatchObject({
      failedAttempts: 3,
      earlier: 0,
      holder: 1,
    })
  })

  test('goes behind an earlier one of its message that waits', async () => {
    const msgId = await storeEvent(db, {
      planId,
      state: 'pending',
      occurredAt: new Date(Date.now() + 3_600_000),
    })
    await storeEvent(db, { planId, ...longAgo, msgId, sequence: 2, state: 'failed', attempts: 12 })
    await redeliverEvent(db, planId, { msgId, sequence: 2 })
    expect(await delivery({ msgId, sequence: 2 })).toMatchObject({ state: 'waiting', due: false })
  })

  test('without a URL is refused', async () => {
    const mt = await storeEvent(db, { planId, state: 'kept', callbackUrl: null })
    const mo = await storeEvent(db, { planId: silentPlan, sequence: 0, state: 'failed' })
    const refusal = { code: 'CONFLICT', message: expect.stringContaining('no URL') }
    await expect(redeliverEvent(db, planId, { msgId: mt, sequence: 1 })).rejects.toMatchObject(refusal)
    await expect(redeliverEvent(db, silentPlan, { msgId: mo, sequence: 0 })).rejects.toMatchObject(refusal)
    expect(await delivery({ msgId: mt, sequence: 1 })).toBeUndefined()
    await db.query(`update accounts set default_dlr_url = 'https://example.com/dlr'`)
    await redeliverEvent(db, planId, { msgId: mt, sequence: 1 })
    await db.query('update accounts set default_dlr_url = null')
    expect(await delivery({ msgId: mt, sequence: 1 })).toMatchObject(queued)
  })

  test('that was tried 20,000 times is refused', async () => {
    const msgId = await storeEvent(db, { planId, state: 'failed', attempts: 20_000 })
    await expect(redeliverEvent(db, planId, { msgId, sequence: 1 })).rejects.toMatchObject({
      code: 'CONFLICT',
    })
    expect(await delivery({ msgId, sequence: 1 })).toMatchObject({ state: 'failed' })
  })

  test('of another plan is not there', async () => {
    const msgId = await storeEvent(db, { planId, state: 'failed' })
    for (const [plan, sequence] of [
      [silentPlan, 1],
      [planId, 2],
    ] as const)
      await expect(redeliverEvent(db, plan, { msgId, sequence })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await delivery({ msgId, sequence: 1 })).toMatchObject({ state: 'failed' })
  })
})

describe('many events', () => {
  const AT = Date.now() - 60_000
  const idAt = (seconds: number) => newId(AT + seconds * 1_000)
  const states = async () => {
    const { rows } = await db.query('select msg_id, state from event_deliveries')
    return new Map(rows.map((row) => [row.msg_id, row.state]))
  }

  test('all that failed, and nothing else, and nothing of another plan', async () => {
    const failed = await Promise.all([0, 1, 2].map(() => storeEvent(db, { planId, state: 'failed' })))
    const parked = await storeEvent(db, { planId, state: 'parked' })
    const foreign = await storeEvent(db, { planId: silentPlan, state: 'failed' })
    const kept = await storeEvent(db, { planId, state: 'kept' })
    expect(await redeliver()).toEqual({ redelivered: 3, nextAfter: null })
    const now = await states()
    for (const msgId of failed) expect(now.get(msgId)).toBe('waiting')
    expect([now.get(parked), now.get(foreign), now.get(kept)]).toEqual(['parked', 'failed', undefined])
    expect(await redeliver()).toEqual({ redelivered: 0, nextAfter: null })
  })

  test.each(['failed', 'kept'] as const)(
    'a dry run counts those that are %s and changes nothing',
    async (state) => {
      for (const _ of [1, 2, 3]) await storeEvent(db, { planId, state })
      await storeEvent(db, { planId, state: 'failed', attempts: 20_000 })
      await storeEvent(db, { planId, state: 'kept', callbackUrl: null })
      // Of 20,000 attempts only whether they are the same.
      const rows = async () => [
        (await db.query('select * from event_deliveries order by msg_id')).rows,
        (
          await db.query(
            'select count(*), md5(string_agg(a::text, null order by a::text)) from webhook_attempts a',
          )
        ).rows,
      ]
      const before = await rows()
      expect(await redeliver({ state, dryRun: true })).toEqual({ redelivered: 3, nextAfter: null })
      expect(await rows()).toEqual(before)
      expect(await redeliver({ state })).toEqual({ redelivered: 3, nextAfter: null })
    },
  )

  test('in a window, of a destination, of a message', async () => {
    const [first, second, third] = [idAt(0), idAt(1), idAt(2)]
    const store = async () => {
      await db.query('delete from event_deliveries')
      await db.query('delete from events')
      await storeEvent(db, { planId, msgId: first, state: 'failed' })
      await storeEvent(db, { planId, msgId: second, state: 'failed', destination: OTHER })
      await storeEvent(db, { planId, msgId: third, state: 'failed', destination: OTHER })
    }
    const cases: [Partial<RedeliveryQuery>, string[]][] = [
      [{ fromDate: AT + 1_000 }, [second, third]],
      [{ toDate: AT }, [first]],
      [{ fromDate: AT + 500, toDate: AT + 1_500 }, [second]],
      [{ destination: DESTINATION }, [first]],
      [{ destination: OTHER, fromDate: AT + 1_500 }, [third]],
      [{ msgId: second }, [second]],
      [{ after: { msgId: second, sequence: 1 } }, [third]],
      [{ after: { msgId: first, sequence: 1 }, fromDate: AT + 2_000 }, [third]],
    ]
    for (const [query, expected] of cases) {
      await store()
      expect(await redeliver(query), JSON.stringify(query)).toEqual({
        redelivered: expected.length,
        nextAfter: null,
      })
      const now = await states()
      expect(
        [...now]
          .filter(([, state]) => state === 'waiting')
          .map(([id]) => id)
          .sort(),
      ).toEqual(expected)
    }
  })

  test('what was kept, where there is a URL now', async () => {
    const reachable = await storeEvent(db, { planId, state: 'kept' })
    const not = await storeEvent(db, { planId, state: 'kept', callbackUrl: null })
    await storeEvent(db, { planId, state: 'delivered' })
    const failed = await storeEvent(db, { planId, state: 'failed' })
    expect(await redeliver({ state: 'kept' })).toEqual({ redelivered: 1, nextAfter: null })
    const now = await states()
    expect([now.get(reachable), now.get(not), now.get(failed)]).toEqual(['waiting', undefined, 'failed'])
    expect(now.size).toBe(2)
    await expect(redeliver({ state: 'kept', destination: OTHER })).rejects.toMatchObject({
      errors: [{ field: 'destination', code: 'EXCLUSIVE' }],
    })
  })

  test('never more at once than was said, where some of what is looked at has not failed', async () => {
    const failed: string[] = []
    for (let n = 0; n < 10; n += 1) {
      const state = n % 2 === 0 ? 'failed' : 'parked'
      const msgId = await storeEvent(db, { planId, msgId: idAt(n), state })
      if (state === 'failed') failed.push(msgId)
    }
    const counts: number[] = []
    let after: EventKey | null = null
    do {
      const step: Awaited<ReturnType<typeof redeliver>> = await redeliver(
        { after },
        { redelivered: 3, lookedAt: 100 },
      )
      counts.push(step.redelivered)
      after = step.nextAfter
    } while (after !== null)
    expect(Math.max(...counts)).toBeLessThanOrEqual(3)
    expect(counts.reduce((sum, count) => sum + count)).toBe(5)
    const left = await states()
    expect(failed.map((msgId) => left.get(msgId))).toEqual(Array(5).fill('waiting'))
  })

  test('in steps, each going on behind the last', async () => {
    await db.query(
      `insert into events (plan_id, msg_id, sequence, position, status, occurred_at)
       select $1, i.id, 1, 1, 'SENT', now() from unnest($2::uuid[]) as i (id)`,
      [planId, Array.from({ length: 2_500 }, (_, n) => newId(AT + n))],
    )
    await db.query(
      `insert into event_deliveries (plan_id, msg_id, sequence, bucket, due_at, began_at, state)
       select plan_id, msg_id, sequence, 7, 'infinity', now(), 'failed' from events`,
    )
    await db.query(`update accounts set default_dlr_url = 'https://example.com/dlr'`)
    // Another 1,000 might be too many.
    const limits = { redelivered: 2_999, lookedAt: 10_000 }
    const first = await redeliver({}, limits)
    expect(first).toEqual({ redelivered: 2_000, nextAfter: { msgId: expect.any(String), sequence: 1 } })
    expect(await redeliver({ after: first.nextAfter }, limits)).toEqual({ redelivered: 500, nextAfter: null })
    const { rows } = await db.query(
      `select count(*) filter (where due_at > began_at + interval '1.9 s') as late,
              count(distinct due_at) as instants from event_deliveries`,
    )
    expect(rows).toEqual([{ late: expect.any(Number), instants: 2_500 }])
    expect(rows[0].late).toBeGreaterThanOrEqual(99)
    const looked = await redeliver({}, { redelivered: 1_500, lookedAt: 1_000 })
    expect(looked).toEqual({ redelivered: 0, nextAfter: { msgId: expect.any(String), sequence: 1 } })
    await db.query('update accounts set default_dlr_url = null')
  })
})

describe('while its message is delivered', () => {
  const taker = { nodeId: NODE, buckets: BUCKETS, limit: 10 }
  const tomorrow = { occurredAt: new Date(Date.now() + 86_400_000) }

  /** Runs `work` in a transaction that is over once `other` is done, or waits for it; then `other` is finished. */
  async function beside(
    work: (tx: Transaction) => Promise<unknown>,
    other: () => Promise<unknown>,
  ): Promise<void> {
    let isDone = false
    const { others } = await withTransaction(db, async (tx) => {
      await work(tx)
      const others = other().finally(() => {
        isDone = true
      })
      await eventually(async () => isDone || (await lockWaits(db)) > 0)
      return { others }
    })
    await others
  }

  test.each<[string, (tx: Transaction, msgId: string) => Promise<unknown>]>([
    ['one', (tx, msgId) => redeliverEvent(tx, planId, { msgId, sequence: 2 })],
    ['many', (tx, msgId) => redeliver({ msgId }, undefined, tx)],
  ])('%s behind an event that is taken and delivered before the COMMIT: due', async (_, redelivering) => {
    const msgId = await storeEvent(db, { planId, ...tomorrow, state: 'parked', attempts: 3 })
    await storeEvent(db, { planId, ...longAgo, msgId, sequence: 2, state: 'failed', attempts: 12 })
    await beside(
      (tx) => redelivering(tx, msgId),
      async () => {
        await takeParkedEvents(db, taker, { planId, destination: DESTINATION })
        await recordAttempts(db, [answered(msgId, 4)])
      },
    )
    expect(await delivery({ msgId, sequence: 1 })).toBeUndefined()
    expect(await delivery({ msgId, sequence: 2 })).toMatchObject({ state: 'waiting', due: true })
  })

  test('one that waits is locked before those ahead of it, so others may lock them in any order', async () => {
    const msgId = await storeEvent(db, { planId, ...tomorrow, state: 'parked', attempts: 3 })
    await storeEvent(db, { planId, ...longAgo, msgId, sequence: 2, state: 'pending' })
    const lock = (tx: Transaction, sequence: number) =>
      tx.query('update event_deliveries set due_at = due_at where msg_id = $1 and sequence = $2', [
        msgId,
        sequence,
      ])
    const { redelivered } = await withTransaction(db, async (tx) => {
      await lock(tx, 2)
      const redelivered = redeliverEvent(db, planId, { msgId, sequence: 2 })
      await eventually(async () => (await lockWaits(db)) === 1)
      await lock(tx, 1)
      return { redelivered }
    })
    await redelivered
    expect(await delivery({ msgId, sequence: 2 })).toMatchObject({ state: 'waiting', due: false })
  })

  test.each(['held', 'pending'] as const)(
    'one (%s) whose delivery is just being recorded is left as it is, and its attempt counts',
    async (state) => {
      const msgId = await storeEvent(db, { planId, ...longAgo, state })
      const key = { msgId, sequence: 1 }
      await beside(
        (tx) => recordAttempts(tx, [answered(msgId, 1)]),
        () => redeliverEvent(db, planId, key),
      )
      expect(await delivery(key)).toBeUndefined()
      expect(await findEvent(db, planId, key)).toMatchObject({ state: 'delivered', attempts: 1 })
      await redeliverEvent(db, planId, key)
      expect(await delivery(key)).toMatchObject({ ...queued, earlier: 1 })
    },
  )
})

function answered(msgId: string, attempt: number) {
  return {
    planId,
    msgId,
    sequence: 1,
    holder: NODE,
    failedAttempts: 1,
    attempt,
    attemptedAt: new Date().toISOString(),
    latencyMs: 3,
    responseStatus: 204,
    error: null,
    responseHead: null,
    destination: DESTINATION,
    waited: true,
    decision: 'delivered' as const,
    delayMs: 0,
  }
}
