import { beforeEach, describe, expect, test } from 'vitest'
import { SCHEDULE_MS } from '../../src/domain/webhooks/retries.ts'
import { withTransaction } from '../../src/store/database.ts'
import { requeueEvents } from '../../src/store/event-deliveries.ts'
import {
  closeBreaker,
  deleteRecovered,
  listTroubledDestinations,
  openBreaker,
  parkDeliveriesAt,
  pauseDestination,
  resumeDestination,
  unparkStray,
} from '../../src/store/webhook-destinations.ts'
import { eventually } from '../support/eventually.ts'
import { installedDatabase } from '../support/installation.ts'
import { storeDelivered } from '../support/stored-messages.ts'

const DESTINATION = 'https://example.com'
const HOUR_MS = 3_600_000

const { db, announcedPlan: plan, silentPlan } = await installedDatabase()
const endpoint = { planId: plan, destination: DESTINATION }

beforeEach(async () => {
  await db.query('delete from event_deliveries')
  await db.query('delete from webhook_destinations')
})

const open = (changes = {}) =>
  openBreaker(db, { ...endpoint, error: 'CONNECT_REFUSED', probeAfterMs: 60_000, ...changes })

async function state(): Promise<string | undefined> {
  return (await listTroubledDestinations(db)).find(({ planId }) => planId === plan)?.state
}

/** Events that wait for their next attempt at the destination; gives their message's id. */
async function waiting(
  changes: { state?: string; destination?: string; holder?: number } = {},
): Promise<string> {
  const { state: wanted = 'waiting', destination = DESTINATION, holder = null } = changes
  const msgId = await storeDelivered(db, plan)
  await db.query(
    `update event_deliveries set state = $2, destination = $3, holder = $4, failed_attempts = 1, due_at = now() + interval '1 hour'
     where msg_id = $1`,
    [msgId, wanted, destination, holder],
  )
  return msgId
}

async function states(msgId: string): Promise<string[]> {
  const { rows } = await db.query('select state from event_deliveries where msg_id = $1 order by sequence', [
    msgId,
  ])
  return rows.map((row) => row.state)
}

describe('a breaker', () => {
  test('opens, for one plan and one destination; is closed; opens again', async () => {
    await open()
    expect(await listTroubledDestinations(db)).toEqual([
      { ...endpoint, state: 'open', since: expect.any(Date), error: 'CONNECT_REFUSED', pausedBy: null },
    ])
    await closeBreaker(db, { ...endpoint, planId: silentPlan })
    await closeBreaker(db, { ...endpoint, destination: 'https://example.com:8443' })
    expect(await state()).toBe('open')
    await closeBreaker(db, endpoint)
    expect(await state()).toBe('recovering')
    await open({ error: 'HTTP_STATUS' })
    expect(await listTroubledDestinations(db)).toMatchObject([{ state: 'open', error: 'HTTP_STATUS' }])
  })

  test('that is open is not opened again: its next probe stays', async () => {
    await open({ probeAfterMs: 1 })
    await open({ probeAfterMs: HOUR_MS, error: 'HTTP_STATUS' })
    const { rows } = await db.query(
      `select error, probe_at < now() + interval '1 minute' as soon from webhook_destinations`,
    )
    expect(rows).toEqual([{ error: 'CONNECT_REFUSED', soon: true }])
  })

  test('neither opens nor closes what is paused', async () => {
    await pauseDestination(db, endpoint, 'customer')
    await open()
    expect(await state()).toBe('paused')
    await closeBreaker(db, endpoint)
    expect(await state()).toBe('paused')
    await resumeDestination(db, endpoint, 'customer')
    expect(await state()).toBe('recovering')
  })

  test('of a plan that is gone: no row', async () => {
    await open({ planId: 1_000_000 })
    expect(await listTroubledDestinations(db)).toEqual([])
  })

  test('beyond 1,000 of a plan no more are opened; other plans have their own', async () => {
    await db.query(
      `insert into webhook_destinations (plan_id, destination, state)
       select $1, 'https://' || n || '.example.com', 'open' from generate_series(1, 1000) n`,
      [plan],
    )
    await open()
    await open({ planId: silentPlan })
    const { rows } = await db.query('select plan_id from webhook_destinations where destination = $1', [
      DESTINATION,
    ])
    expect(rows).toEqual([{ plan_id: silentPlan }])
  })
})

describe('pauses', () => {
  test('beyond 1,000 of a plan the customer pauses no more, and the operator still does', async () => {
    await db.query(
      `insert into webhook_destinations (plan_id, destination, state, paused_by)
       select $1, 'https://' || n || '.example.com', 'paused', 'customer' from generate_series(1, 1000) n`,
      [plan],
    )
    const paused = async () => {
      const { rows } = await db.query(
        'select paused_by from webhook_destinations where plan_id = $1 and destination = $2',
        [plan, DESTINATION],
      )
      return rows.map(({ paused_by: by }) => by)
    }
    expect(await pauseDestination(db, endpoint, 'customer')).toBe(false)
    expect(await paused()).toEqual([])
    expect(await pauseDestination(db, endpoint, 'operator')).toBe(true)
    expect(await paused()).toEqual(['operator'])
  })
})

describe('parking', () => {
  const park = () => parkDeliveriesAt(db, { ...endpoint, scheduleMs: SCHEDULE_MS, limit: 100 })

  test('nothing where the destination has recovered by the time the table is unlocked', async () => {
    const msgId = await waiting()
    await open()
    const parked = await whileLocked(
      'lock table event_deliveries in access exclusive mode',
      park,
      async () => {
        await db.query('delete from webhook_destinations')
      },
    )
    expect(parked).toBe(0)
    expect(await states(msgId)).toEqual(['waiting', 'waiting'])
  })

  test.each(['recovering', 'open'])(
    'while an event is locked keeps the row of a destination: %s',
    async (kept) => {
      const msgId = await waiting()
      await open()
      if (kept === 'recovering') await closeBreaker(db, endpoint)
      await db.query(
        `update webhook_destinations set since = now() - interval '2 hours', probe_at = probe_at - interval '2 hours'`,
      )
      const deleted: Promise<void>[] = []
      const parked = await whileLocked(
        'update event_deliveries set failed_attempts = 2',
        park,
        async (blocked) => {
          deleted.push(deleteRecovered(db, 60_000))
          await blocked(2)
        },
      )
      await Promise.all(deleted)
      expect(parked).toBe(2)
      expect(await states(msgId)).toEqual(['parked', 'parked'])
      expect(await state()).toBe(kept)
    },
  )

  /** Runs `work` while another session holds this lock, and `meanwhile` once `work` waits for it. */
  async function whileLocked<T>(
    lock: string,
    work: () => Promise<T>,
    meanwhile: (blocked: (sessions: number) => Promise<unknown>) => Promise<void>,
  ): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<T>()
    await withTransaction(db, async (transaction) => {
      await transaction.query(lock)
      resolve(work())
      const waiters = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      const blocked = (sessions: number) =>
        eventually(async () => (await db.query(waiters)).rowCount === sessions)
      await blocked(1)
      await meanwhile(blocked)
    })
    return await promise
  }

  test('what waits for an attempt there, until its schedule ends', async () => {
    const here = await waiting()
    const elsewhere = await waiting({ destination: 'https://other.example.com' })
    const held = await waiting({ holder: 1 })
    const failed = await waiting({ state: 'failed' })
    await open()
    expect(await park()).toBe(2)
    expect(await states(here)).toEqual(['parked', 'parked'])
    expect(await states(elsewhere)).toEqual(['waiting', 'waiting'])
    expect(await states(held)).toEqual(['waiting', 'waiting'])
    expect(await states(failed)).toEqual(['failed', 'failed'])
    const { rows } = await db.query(
      `select extract(epoch from due_at - began_at)::float * 1000 as ms from event_deliveries where msg_id = $1`,
      [here],
    )
    expect(rows).toEqual([{ ms: SCHEDULE_MS }, { ms: SCHEDULE_MS }])
  })

  test('at most the limit at once', async () => {
    await waiting()
    await waiting()
    await open()
    const some = { ...endpoint, scheduleMs: SCHEDULE_MS, limit: 3 }
    expect(await parkDeliveriesAt(db, some)).toBe(3)
    expect(await parkDeliveriesAt(db, some)).toBe(1)
  })
})

describe('a destination that recovers', () => {
  test('is deleted when it has been quiet and nothing is parked there', async () => {
    await open()
    await deleteRecovered(db, 0)
    expect(await state()).toBe('open')
    await closeBreaker(db, endpoint)
    await deleteRecovered(db, HOUR_MS)
    expect(await state()).toBe('recovering')
    await waiting({ state: 'parked' })
    await deleteRecovered(db, 0)
    expect(await state()).toBe('recovering')
    await db.query(`update event_deliveries set state = 'waiting'`)
    await deleteRecovered(db, 0)
    expect(await state()).toBeUndefined()
  })

  test('so is an open one that had nothing to probe for an hour: it would count as one of the 1,000 without end', async () => {
    await open()
    await deleteRecovered(db, 0)
    expect(await state()).toBe('open')
    await db.query(`update webhook_destinations set probe_at = now() - interval '61 minutes'`)
    await waiting({ state: 'parked' })
    await deleteRecovered(db, 0)
    expect(await state()).toBe('open')
    await db.query('delete from event_deliveries')
    await deleteRecovered(db, 0)
    expect(await state()).toBeUndefined()
  })

  test('a pause is not deleted', async () => {
    await pauseDestination(db, endpoint, 'operator')
    await deleteRecovered(db, 0)
    expect(await state()).toBe('paused')
  })
})

describe('strays', () => {
  test('what is parked for long where there is no trouble is due', async () => {
    const msgId = await waiting({ state: 'parked' })
    await open()
    expect(await unparkStray(db, 0, 100)).toBe(0)
    await db.query('delete from webhook_destinations')
    expect(await unparkStray(db, 2 * HOUR_MS, 100)).toBe(0)
    expect(await unparkStray(db, 0, 1)).toBe(1)
    expect(await unparkStray(db, 0, 100)).toBe(1)
    expect(await states(msgId)).toEqual(['waiting', 'waiting'])
    const { rows } = await db.query('select due_at <= now() as due from event_deliveries')
    expect(rows).toEqual([{ due: true }, { due: true }])
  })

  test('parked without end, too', async () => {
    const msgId = await storeDelivered(db, plan)
    await db.query('update event_deliveries set holder = 1 where msg_id = $1', [msgId])
    const returned = { planId: plan, msgId, sequence: 1, holder: 1 }
    await requeueEvents(db, [{ ...returned, delayMs: null, destination: DESTINATION }])
    expect(await unparkStray(db, HOUR_MS, 100)).toBe(1)
  })
})
