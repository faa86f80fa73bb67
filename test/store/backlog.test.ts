import { beforeEach, describe, expect, test } from 'vitest'
import { countParkedEvents, countWaitingEvents, countWaitingMessages } from '../../src/store/backlog.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { rowsRead } from '../support/rows-read.ts'

const { db, announcedPlan: plan, silentPlan: other } = await installedDatabase()

beforeEach(async () => {
  await db.query('truncate dispatches, event_deliveries, webhook_destinations')
})

/** Messages that wait, `count` alike. */
async function waiting(count: number, values: Record<string, unknown> = {}): Promise<void> {
  const { planId = plan, routeId = 1, dueInS = -1, ambiguous = false, failedAttempts = 0 } = values
  await db.query(
    `insert into dispatches (bucket, msg_id, plan_id, route_id, due_at, ambiguous, failed_attempts, expires_at)
     select n % 256, overlay(gen_random_uuid()::text placing 'ffff' from 1)::uuid, $2, $3, now() + $4 * interval '1 s', $5, $6, now() from generate_series(1, $1) n`,
    [count, planId, routeId, dueInS, ambiguous, failedAttempts],
  )
}

describe('messages', () => {
  test('are counted by plan, route and what tells the cause', async () => {
    await waiting(3)
    await waiting(2, { planId: other, routeId: 2, dueInS: 60, failedAttempts: 1 })
    await waiting(1, { dueInS: 60, ambiguous: true })
    const oldest = newId(Date.UTC(2026, 0, 1))
    await db.query(
      `insert into dispatches (bucket, msg_id, plan_id, route_id, due_at, expires_at)
       values (7, $1, $2, 1, now() - interval '1 h', now())`,
      [oldest, plan],
    )
    const { groups, more } = await countWaitingMessages(db)
    expect(more).toBe(false)
    const shown = groups.map(({ planId, routeId, due, ambiguous, retried, count }) =>
      [planId, routeId, due, ambiguous, retried, count].join(),
    )
    expect(shown.sort()).toEqual(
      [
        [plan, 1, true, false, false, 4].join(),
        [plan, 1, false, true, false, 1].join(),
        [other, 2, false, false, true, 2].join(),
      ].sort(),
    )
    expect(groups.find(({ count }) => count === 4)!.oldestMsgId).toBe(oldest)
  })

  test('that are handed to a carrier of another node are told with it', async () => {
    await waiting(2)
    await db.query('update dispatches set chosen_carrier_id = 5, carrier_id = 4')
    await waiting(1)
    const { groups } = await countWaitingMessages(db)
    expect(new Map(groups.map(({ carrierId, count }) => [carrierId, count]))).toEqual(
      new Map([
        [5, 2],
        [null, 1],
      ]),
    )
  })

  test('are counted up to a bound, which is shared out among plans and routes, and it is said', async () => {
    await waiting(21_000)
    await waiting(5, { planId: other })
    const { groups, more } = await countWaitingMessages(db)
    expect(more).toBe(true)
    expect(groups.map(({ planId, count }) => [planId, count]).sort()).toEqual([
      [plan, 10_000],
      [other, 5],
    ])
  })

  test('no more rows are read than are counted, however many wait', async () => {
    await waiting(21_000)
    await waiting(21_000, { planId: other, dueInS: 60 })
    await db.query('analyze dispatches')
    expect(await rowsRead(db, 'dispatches', countWaitingMessages)).toBeLessThan(20_100)
  })

  test('nothing waits', async () => {
    expect(await countWaitingMessages(db)).toEqual({ groups: [], more: false })
  })
})

describe('webhooks', () => {
  async function delivery(values: Record<string, unknown> = {}): Promise<void> {
    const { dueAt = 'now', destination = null, state = 'waiting', failedAttempts = 0, holder = null } = values
    await db.query(
      `insert into event_deliveries (plan_id, msg_id, sequence, bucket, due_at, began_at, destination, state, failed_attempts, holder)
       values ($1, gen_random_uuid(), 1, 7, $2, '2026-01-01T00:00:00Z', $3, $4, $5, $6)`,
      [plan, dueAt, destination, state, failedAttempts, holder],
    )
  }

  test('by what they wait for; what waits for a destination in trouble is counted there', async () => {
    const [open, fine] = ['https://open.example', 'https://fine.example']
    await db.query(
      `insert into webhook_destinations (plan_id, destination, state, error) values ($1, $2, 'open', 'TIMEOUT')`,
      [plan, open],
    )
    await delivery()
    await delivery({ dueAt: 'tomorrow', destination: fine, failedAttempts: 1 })
    await delivery({ dueAt: 'tomorrow' })
    await delivery({ dueAt: 'tomorrow' })
    await delivery({ dueAt: 'tomorrow', destination: open, state: 'parked' })
    await delivery({ dueAt: 'infinity', destination: fine, state: 'failed' })
    await delivery({ holder: 1 })
    const { groups, more } = await countWaitingEvents(db)
    expect(more).toBe(false)
    expect(groups.map(({ due, retried, count }) => [due, retried, count].join()).sort()).toEqual([
      'false,false,2',
      'false,true,1',
      'true,false,1',
    ])
    expect(await countParkedEvents(db)).toEqual({
      destinations: [
        {
          planId: plan,
          destination: open,
          state: 'open',
          since: expect.any(Date),
          error: 'TIMEOUT',
          count: 1,
          oldestMs: Date.UTC(2026, 0, 1),
        },
      ],
      more: false,
    })
  })
})
