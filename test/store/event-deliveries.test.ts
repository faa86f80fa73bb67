import { beforeEach, describe, expect, test } from 'vitest'
import { isOutcomeUnknown, withTransaction } from '../../src/store/database.ts'
import { findWaitingEvents, takeDueEvents } from '../../src/store/due-deliveries.ts'
import {
  type AttemptRow,
  listHeldEvents,
  recordAttempts,
  releaseEvents,
  requeueEvents,
} from '../../src/store/event-deliveries.ts'
import { insertInboundMessages } from '../../src/store/inbound-messages.ts'
import { registerNode } from '../../src/store/nodes.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { NOBODY, NODE, storeDelivered } from '../support/stored-messages.ts'

const ALL = Array.from({ length: 256 }, (_, bucket) => bucket)

const { db, announcedPlan: plan, silentPlan } = await installedDatabase()

beforeEach(() => db.query('delete from event_deliveries'))

/** A message with the events SENT and DELIVERED, both waiting. */
const delivered = () => storeDelivered(db, plan)

const hold = (limit = 100, buckets: readonly number[] = ALL) =>
  takeDueEvents(db, { nodeId: NODE, buckets, limit })

function attempt(msgId: string, changes: Partial<AttemptRow> = {}): AttemptRow {
  return {
    planId: plan,
    msgId,
    sequence: 1,
    holder: NODE,
    failedAttempts: 1,
    attempt: 1,
    attemptedAt: new Date().toISOString(),
    latencyMs: 12,
    responseStatus: 200,
    error: null,
    responseHead: '{"ok":true}',
    destination: 'https://example.com',
    waited: true,
    decision: 'delivered',
    delayMs: 0,
    ...changes,
  }
}

async function rows(msgId: string) {
  const found = await db.query(
    `select sequence, holder, failed_attempts as "failedAttempts", state, due_at <= now() as due
     from event_deliveries where msg_id = $1 order by sequence`,
    [msgId],
  )
  return found.rows
}

describe('holding what is due', () => {
  test('what waits is told from what is due, held or kept for good', async () => {
    const waiting = () => findWaitingEvents(db)
    expect(await waiting()).toEqual({ isDue: false, isWaiting: false })
    await delivered()
    expect(await waiting()).toEqual({ isDue: true, isWaiting: true })
    await db.query(`update event_deliveries set due_at = now() + interval '1 hour'`)
    expect(await waiting()).toEqual({ isDue: false, isWaiting: true })
    await db.query(`update event_deliveries set due_at = 'infinity', state = 'failed'`)
    expect(await waiting()).toEqual({ isDue: false, isWaiting: false })
    await db.query(`update event_deliveries set due_at = now(), state = 'waiting', holder = $1`, [NODE])
    expect(await waiting()).toEqual({ isDue: false, isWaiting: false })
  })

  test('taken, but not read from the server that has them: their holder has to look for them', async () => {
    const msgId = await delivered()
    const failing = {
      sharded: true,
      query: (statement: { text: string }) =>
        statement.text.includes('join events') ? Promise.reject(new Error('no answer')) : db.query(statement),
    }
    const taking = takeDueEvents(failing as never, { nodeId: NODE, buckets: ALL, limit: 10 })
    expect(isOutcomeUnknown(await taking.catch((error) => error))).toBe(true)
    expect(await listHeldEvents(db, NODE)).toMatchObject([{ msgId, sequence: 1 }])
  })

  test('taken, but not shown yet by the server that has it: it is due again a little later', async () => {
    const msgId = await delivered()
    const early = {
      sharded: true,
      query: (statement: { text: string }) =>
        statement.text.includes('join events') ? { rows: [] } : db.query(statement),
    }
    expect(await takeDueEvents(early as never, { nodeId: NODE, buckets: ALL, limit: 10 })).toEqual([])
    expect(await rows(msgId)).toMatchObject([{ sequence: 1, holder: null, state: 'waiting', due: false }, {}])
    await db.query(`update event_deliveries set due_at = due_at - interval '1 second'`)
    expect(await hold()).toMatchObject([{ msgId, sequence: 1, failedAttempts: 0 }])
  })

  test('the first event of a message alone, as the message was then', async () => {
    const msgId = await delivered()
    const [event, ...others] = await hold()
    expect(others).toEqual([])
    expect(event).toMatchObject({ planId: plan, msgId, sequence: 1, failedAttempts: 0 })
    expect(event!.payload).toMatchObject({
      direction: 'MT',
      message: {
        msgId,
        status: 'SENT',
        errorCode: '000',
        mccmnc: null,
        body: 'hello',
        sentAt: expect.any(Date),
      },
    })
    expect(await hold()).toEqual([])
    await recordAttempts(db, [attempt(msgId)])
    expect(await hold()).toMatchObject([
      { sequence: 2, payload: { direction: 'MT', message: { status: 'DELIVERED', mccmnc: '310260' } } },
    ])
  })

  test('not while an earlier one waits for its next attempt; once that is given up', async () => {
    const msgId = await delivered()
    await hold()
    await recordAttempts(db, [attempt(msgId, { decision: 'again', delayMs: 60_000, responseStatus: 500 })])
    expect(await hold()).toEqual([])
    await db.query('update event_deliveries set due_at = now() where msg_id = $1', [msgId])
    expect(await hold()).toMatchObject([{ sequence: 1 }])
    await recordAttempts(db, [
      attempt(msgId, { decision: 'failed', failedAttempts: 2, attempt: 2, responseStatus: 410 }),
    ])
    expect(await hold()).toMatchObject([{ sequence: 2 }])
    expect(await rows(msgId)).toMatchObject([
      { sequence: 1, holder: null, failedAttempts: 2, state: 'failed' },
      { sequence: 2, holder: NODE },
    ])
  })

  test('only of these buckets, at most the limit', async () => {
    await Promise.all(Array.from({ length: 5 }, delivered))
    expect(await hold(100, [])).toEqual([])
    expect(await hold(3)).toHaveLength(3)
    expect(await hold(3)).toHaveLength(2)
  })

  test('of each plan in turn, though one has more due, and for longer', async () => {
    const [many, few] = [plan, silentPlan]
    await Promise.all([many, many, many, many, few, few].map((planId) => storeDelivered(db, planId)))
    await db.query(`update event_deliveries set due_at = now() - interval '1 hour' where plan_id = $1`, [
      many,
    ])
    const plans = (events: { planId: number }[]) => events.map(({ planId }) => planId).sort()
    expect(plans(await hold(2))).toEqual([many, few])
    expect(plans(await hold(3))).toEqual([many, many, few])
    expect(plans(await hold(3))).toEqual([many])
  })

  test('an inbound message', async () => {
    const msgId = newId(Date.now())
    const message = {
      planId: plan,
      msgId,
      carrierId: 1,
      parts: 1,
      partsExpected: 1,
      sender: '+15550002222',
      recipient: '+49301234567',
      body: 'STOP',
      keyword: 'STOP',
      announced: true,
      occurredAtMs: Date.now(),
    }
    expect(await insertInboundMessages(db, [message], NOBODY)).toEqual([])
    const inbound = {
      planId: plan,
      msgId,
      sender: '+15550002222',
      recipient: '+49301234567',
      body: 'STOP',
      keyword: 'STOP',
    }
    expect(await hold()).toEqual([
      {
        planId: plan,
        msgId,
        sequence: 0,
        holder: NODE,
        failedAttempts: 0,
        earlierAttempts: 0,
        beganAtMs: message.occurredAtMs,
        waited: true,
        payload: { direction: 'MO', inbound },
      },
    ])
  })
})

describe('attempts', () => {
  test('of a node that no longer holds the event change nothing but the log', async () => {
    const msgId = await delivered()
    await hold()
    const late = attempt(msgId, {
      holder: NODE + 1,
      decision: 'again',
      delayMs: 60_000,
      responseStatus: 500,
    })
    await recordAttempts(db, [late])
    expect(await rows(msgId)).toMatchObject([
      { sequence: 1, holder: NODE, failedAttempts: 0 },
      { sequence: 2, holder: null },
    ])
  })

  test('are kept, with their consequence; one written twice is one', async () => {
    const msgId = await delivered()
    await hold()
    const failed = attempt(msgId, {
      decision: 'again',
      delayMs: 5_000,
      responseStatus: null,
      error: 'CONNECT_TIMEOUT',
    })
    await recordAttempts(db, [failed])
    await recordAttempts(db, [failed])
    const { rows: kept } = await db.query(
      'select sequence, attempt, latency_ms, response_status, error from webhook_attempts where msg_id = $1',
      [msgId],
    )
    expect(kept).toEqual([
      { sequence: 1, attempt: 1, latency_ms: 12, response_status: null, error: 'CONNECT_TIMEOUT' },
    ])
    expect((await rows(msgId))[0]).toEqual({
      sequence: 1,
      holder: null,
      failedAttempts: 1,
      state: 'waiting',
      due: false,
    })
  })

  test('of a delivered event: it is gone', async () => {
    const msgId = await delivered()
    await recordAttempts(db, [attempt(msgId)])
    await recordAttempts(db, [attempt(msgId, { sequence: 2 })])
    expect(await rows(msgId)).toEqual([])
  })

  test('of a delivered event that another node has in memory by now: later events still wait for that node', async () => {
    const msgId = await delivered()
    await hold()
    await recordAttempts(db, [attempt(msgId, { holder: NODE + 1 })])
    expect(await rows(msgId)).toMatchObject([{ sequence: 1, holder: NODE }, { sequence: 2 }])
    expect(await hold()).toEqual([])
    await recordAttempts(db, [attempt(msgId)])
    expect(await hold()).toMatchObject([{ sequence: 2 }])
  })
})

describe('requeueing', () => {
  test('returned events are due after their delay, with no attempt counted', async () => {
    const [now, later] = [await delivered(), await delivered()]
    await hold()
    expect(new Set((await listHeldEvents(db, NODE)).map(({ msgId }) => msgId))).toEqual(new Set([now, later]))
    await requeueEvents(db, [
      { planId: plan, msgId: now, sequence: 1, holder: NODE, delayMs: 0, destination: null },
      { planId: plan, msgId: later, sequence: 1, holder: NODE, delayMs: 60_000, destination: null },
    ])
    expect(await listHeldEvents(db, NODE)).toEqual([])
    expect(await hold()).toMatchObject([{ msgId: now, sequence: 1, failedAttempts: 0 }])
  })

  test('a takeover frees what dead nodes held, not what living ones hold', async () => {
    const [me, living] = [await registerNode(db, 'me'), await registerNode(db, 'living')]
    const [mine, theirs, lost] = [await delivered(), await delivered(), await delivered()]
    const holders = [
      [mine, me],
      [theirs, living],
      [lost, living + 1_000],
    ] as const
    for (const [msgId, holder] of holders)
      await db.query('update event_deliveries set holder = $2 where msg_id = $1 and sequence = 1', [
        msgId,
        holder,
      ])
    expect(await releaseEvents(db)).toBe(1)
    expect((await rows(lost))[0]).toMatchObject({ holder: null, due: true })
    expect((await rows(mine))[0]).toMatchObject({ holder: me })
    expect((await rows(theirs))[0]).toMatchObject({ holder: living })
  })

  test('a takeover does not wait for rows that another node is releasing or recording', async () => {
    const [locked, free] = [await delivered(), await delivered()]
    await db.query('update event_deliveries set holder = 1000000 where sequence = 1')
    await withTransaction(db, async (tx) => {
      await tx.query('select from event_deliveries where msg_id = $1 for update', [locked])
      expect(await releaseEvents(db)).toBe(1)
    })
    expect((await rows(free))[0]).toMatchObject({ holder: null, due: true })
    expect(await releaseEvents(db)).toBe(1)
    expect((await rows(locked))[0]).toMatchObject({ holder: null, due: true })
  })
})

test('a queue that was analyzed while it was empty is still looked up by its key', async () => {
  await db.query('analyze event_deliveries')
  const plans: string[] = []
  const explaining = {
    async query({ text, values }: { text: string; values: unknown[] }) {
      const { rows } = await db.query(`explain ${text}`, values)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return { rows: [] }
    },
  }
  await recordAttempts(explaining as never, [])
  await requeueEvents(explaining as never, [])
  await takeDueEvents(explaining as never, { nodeId: NODE, buckets: ALL, limit: 10 })
  expect(plans).toHaveLength(3)
  for (const plan of plans) {
    expect(plan).toMatch(/event_deliveries_pkey[^\n]*\n +Index Cond: \(\(plan_id = ANY[^\n]* AND \(msg_id = /)
    expect(plan).not.toMatch(/Join Filter: .*msg_id/)
  }
})
