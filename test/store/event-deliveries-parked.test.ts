import { beforeEach, describe, expect, test } from 'vitest'
import { ChangesAtRest } from '../../src/operations/record-facts.ts'
import { withTransaction } from '../../src/store/database.ts'
import { takeDueEvents, takeParkedEvents, takeProbes } from '../../src/store/due-deliveries.ts'
import {
  type AttemptRow,
  recordAttempts,
  requeueEvents,
  requeueStranded,
} from '../../src/store/event-deliveries.ts'
import { lockMessages } from '../../src/store/messages-at-rest.ts'
import { closeBreaker, openBreaker } from '../../src/store/webhook-destinations.ts'
import { aDirectory } from '../support/directory.ts'
import { installedDatabase } from '../support/installation.ts'
import { eventually } from '../support/service.ts'
import {
  NOBODY,
  NODE,
  recordOutcomes,
  sent,
  storeDelivered,
  storeMessage,
  submission,
} from '../support/stored-messages.ts'

const ALL = Array.from({ length: 256 }, (_, bucket) => bucket)
const DESTINATION = 'https://example.com'
const DAY_MS = 86_400_000

const { db, announcedPlan: plan, silentPlan } = await installedDatabase()
const endpoint = { planId: plan, destination: DESTINATION }

beforeEach(async () => {
  await db.query('delete from event_deliveries')
  await db.query('delete from webhook_destinations')
})

const hold = (nodeId = NODE) => ({ nodeId, buckets: ALL, limit: 100 })

/** A message whose first event has failed so many times and is parked; the second waits behind it. */
async function parked(
  changes: { delayMs?: number | null; failedAttempts?: number; planId?: number; destination?: string } = {},
): Promise<string> {
  const { delayMs = DAY_MS, failedAttempts = 1, planId = plan, destination = DESTINATION } = changes
  const msgId = await storeDelivered(db, planId)
  await takeDueEvents(db, hold())
  await recordAttempts(db, [
    decided(msgId, { decision: 'parked', delayMs, failedAttempts, planId, destination }),
  ])
  return msgId
}

function decided(
  msgId: string,
  { planId = plan, ...changes }: Partial<AttemptRow> & Pick<AttemptRow, 'decision'> & { planId?: number },
): AttemptRow {
  return {
    planId,
    msgId,
    sequence: 1,
    holder: NODE,
    failedAttempts: 1,
    attempt: changes.failedAttempts ?? 1,
    attemptedAt: new Date().toISOString(),
    latencyMs: 12,
    responseStatus: changes.decision === 'delivered' ? 200 : 500,
    error: changes.decision === 'delivered' ? null : 'HTTP_STATUS',
    responseHead: null,
    destination: DESTINATION,
    waited: true,
    delayMs: 0,
    ...changes,
  }
}

const open = (probeAfterMs = 0, changes = {}) =>
  openBreaker(db, { ...endpoint, error: 'HTTP_STATUS', probeAfterMs, ...changes })

async function rows(msgId: string) {
  const found = await db.query(
    `select sequence, holder, failed_attempts as "failedAttempts", earlier_attempts as earlier, state, due_at <= now() as due, due_at = 'infinity' as endless,
            began_at > now() - interval '1 minute' as fresh
     from event_deliveries where msg_id = $1 order by sequence`,
    [msgId],
  )
  return found.rows
}

describe('what is parked', () => {
  test('is not due; its endpoint alone gives it, the first event of each message', async () => {
    const msgId = await parked()
    await parked({ destination: 'https://other.example.com' })
    await parked({ planId: silentPlan })
    expect(await rows(msgId)).toMatchObject([
      { sequence: 1, holder: null, state: 'parked', due: false },
      { sequence: 2, holder: null, state: 'waiting', due: false },
    ])
    expect(await takeDueEvents(db, hold())).toEqual([])
    expect(await takeParkedEvents(db, hold(), endpoint)).toMatchObject([
      { msgId, sequence: 1, failedAttempts: 1 },
    ])
    expect(await takeParkedEvents(db, hold(), endpoint)).toEqual([])
    expect((await rows(msgId))[0]).toMatchObject({ holder: NODE, state: 'waiting' })
  })

  test('once it is delivered, the next event of its message is due', async () => {
    const msgId = await parked()
    await takeParkedEvents(db, hold(), endpoint)
    await recordAttempts(db, [decided(msgId, { decision: 'delivered', attempt: 2 })])
    expect(await takeDueEvents(db, hold())).toMatchObject([{ msgId, sequence: 2, failedAttempts: 0 }])
  })

  test('is due at the end of its schedule', async () => {
    const msgId = await parked({ delayMs: 0 })
    expect(await takeDueEvents(db, hold())).toMatchObject([{ msgId, sequence: 1, failedAttempts: 1 }])
  })

  test('without end: begins its schedule anew, and those behind it do', async () => {
    const msgId = await parked({ delayMs: null, failedAttempts: 3 })
    await db.query(`update event_deliveries set began_at = now() - interval '5 days'`)
    expect(await rows(msgId)).toMatchObject([{ endless: true }, { endless: true, fresh: false }])
    expect(await takeParkedEvents(db, hold(), endpoint)).toMatchObject([
      { failedAttempts: 0, earlierAttempts: 3 },
    ])
    await recordAttempts(db, [decided(msgId, { decision: 'delivered', attempt: 4 })])
    expect(await rows(msgId)).toMatchObject([{ sequence: 2, due: true, endless: false, fresh: true }])
  })

  test('at most the limit, the oldest first, and of the buckets of the node', async () => {
    const ids = [await parked({ delayMs: 1_000_000 }), await parked({ delayMs: 2_000_000 })]
    expect(await takeParkedEvents(db, { ...hold(), buckets: [] }, endpoint)).toEqual([])
    for (const msgId of ids)
      expect(await takeParkedEvents(db, { ...hold(), limit: 1 }, endpoint)).toMatchObject([{ msgId }])
  })

  test('returned to a destination it is parked, to none it waits', async () => {
    const msgId = await parked()
    await takeParkedEvents(db, hold(), endpoint)
    const returned = { planId: plan, msgId, sequence: 1, holder: NODE }
    await requeueEvents(db, [{ ...returned, delayMs: null, destination: DESTINATION }])
    expect((await rows(msgId))[0]).toMatchObject({
      holder: null,
      state: 'parked',
      endless: true,
      failedAttempts: 1,
    })
    await takeParkedEvents(db, hold(), endpoint)
    await requeueEvents(db, [{ ...returned, delayMs: 0, destination: null }])
    expect((await rows(msgId))[0]).toMatchObject({ holder: null, state: 'waiting', due: true })
  })
})

describe('probes', () => {
  test('one of each open breaker, once an interval', async () => {
    await parked()
    await parked()
    expect(await takeProbes(db, hold(), 60_000)).toEqual([])
    await open()
    expect(await takeProbes(db, hold(), 60_000)).toMatchObject([
      { destination: DESTINATION, probe: { sequence: 1, failedAttempts: 1, holder: NODE } },
    ])
    expect(await takeProbes(db, hold(NODE + 1), 60_000)).toEqual([])
    await db.query('update webhook_destinations set probe_at = now()')
    expect(await takeProbes(db, hold(NODE + 1), 60_000)).toMatchObject([{ probe: { holder: NODE + 1 } }])
  })

  test('of several nodes at once, one', async () => {
    await Promise.all(Array.from({ length: 5 }, () => parked()))
    await open()
    const nodes = Array.from({ length: 4 }, (_, index) => takeProbes(db, hold(NODE + index), 60_000))
    expect((await Promise.all(nodes)).flat()).toHaveLength(1)
  })

  test('not before the first is due, and none of a breaker that closes', async () => {
    await parked()
    await open(60_000)
    expect(await takeProbes(db, hold(), 60_000)).toEqual([])
    await closeBreaker(db, endpoint)
    await db.query('update webhook_destinations set probe_at = now()')
    expect(await takeProbes(db, hold(), 60_000)).toEqual([])
  })

  test('with nothing parked the probe stays due', async () => {
    await open()
    expect(await takeProbes(db, hold(), 60_000)).toEqual([])
    const msgId = await parked()
    expect(await takeProbes(db, hold(), 60_000)).toMatchObject([{ probe: { msgId } }])
  })

  test('the event that was tried least goes first', async () => {
    await parked({ failedAttempts: 2, delayMs: 1_000_000 })
    const fresh = await parked({ failedAttempts: 1, delayMs: 2_000_000 })
    await open()
    expect(await takeProbes(db, hold(), 60_000)).toMatchObject([{ probe: { msgId: fresh } }])
  })
})

describe('stranded', () => {
  test('is none whose first event is taken and delivered while it is being written', async () => {
    const msgId = await storeMessage(db, plan)
    await recordOutcomes(db, [submission(plan, msgId, msgId), sent(plan, msgId)], NOBODY)
    await takeDueEvents(db, hold())
    await recordAttempts(db, [decided(msgId, { decision: 'parked', delayMs: DAY_MS })])
    let isDone = false
    const deliver = async () => {
      await takeParkedEvents(db, hold(), endpoint)
      await recordAttempts(db, [decided(msgId, { decision: 'delivered' })])
      isDone = true
    }
    const isWaiting = async () =>
      (
        await db.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
      ).rowCount === 1
    const delivery = await withTransaction(db, async (tx) => {
      const { messages } = await lockMessages(tx, [{ planId: plan, msgId }])
      const changes = new ChangesAtRest({ directory: aDirectory(), holder: NOBODY })
      changes.add(messages.get(msgId)!, { kind: 'overdue', atMs: Date.now(), errorCode: '601' })
      await changes.write(tx)
      const delivering = deliver()
      await eventually(async () => isDone || (await isWaiting()))
      return { delivering }
    })
    await delivery.delivering
    expect(await rows(msgId)).toMatchObject([{ sequence: 2, holder: null, state: 'waiting', due: true }])
  })

  test('is none that is requeued behind an event: due with that, or now if that is done by then', async () => {
    const [parkedFirst, doneFirst] = [await storeDelivered(db, plan), await storeDelivered(db, plan)]
    await takeDueEvents(db, hold())
    await db.query('update event_deliveries set holder = $1', [NODE])
    const parking = { decision: 'parked', delayMs: DAY_MS } as const
    await recordAttempts(db, [decided(parkedFirst, parking), decided(doneFirst, parking)])
    await db.query('delete from event_deliveries where msg_id = $1 and sequence = 1', [doneFirst])
    const behind = { planId: plan, sequence: 2, holder: NODE, delayMs: 'behind', destination: null } as const
    await requeueEvents(
      db,
      [parkedFirst, doneFirst].map((msgId) => ({ ...behind, msgId })),
    )
    expect(await rows(parkedFirst)).toMatchObject([
      { sequence: 1, state: 'parked', due: false },
      { sequence: 2, state: 'waiting', holder: null, due: false },
    ])
    expect(await rows(doneFirst)).toMatchObject([{ sequence: 2, holder: null, due: true }])
  })

  test('behind an event that is gone: due again', async () => {
    const msgId = await parked()
    expect(await requeueStranded(db, 600_000, 100)).toBe(0)
    await db.query('delete from event_deliveries where msg_id = $1 and sequence = 1', [msgId])
    expect(await takeDueEvents(db, hold())).toEqual([])
    expect(await requeueStranded(db, 600_000, 100)).toBe(1)
    expect(await takeDueEvents(db, hold())).toMatchObject([{ msgId, sequence: 2 }])
  })

  test('not one that waits for its own next attempt, nor what is soon due', async () => {
    const [tried, soon] = [await storeDelivered(db, plan), await storeDelivered(db, plan)]
    await takeDueEvents(db, hold())
    await recordAttempts(db, [
      decided(tried, { decision: 'again', delayMs: DAY_MS }),
      decided(soon, { decision: 'again', delayMs: 60_000 }),
    ])
    await db.query('delete from event_deliveries where msg_id = $1 and sequence = 1', [soon])
    expect(await requeueStranded(db, 600_000, 100)).toBe(0)
  })

  test('at most the limit', async () => {
    await Promise.all(Array.from({ length: 3 }, () => parked()))
    await db.query('delete from event_deliveries where sequence = 1')
    expect(await requeueStranded(db, 600_000, 2)).toBe(2)
    expect(await requeueStranded(db, 600_000, 2)).toBe(1)
  })
})
