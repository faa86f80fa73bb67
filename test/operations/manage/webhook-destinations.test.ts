import { beforeEach, describe, expect, test } from 'vitest'
import {
  pauseDestination,
  resumeDestination,
  retryWaiting,
} from '../../../src/operations/manage/webhook-destinations.ts'
import { listDestinations, openBreaker } from '../../../src/store/webhook-destinations.ts'
import { installedDatabase, newId } from '../../support/installation.ts'
import { DESTINATION, storeEvent } from '../../support/stored-events.ts'

const OTHER = 'https://other.example.com:8443'

const { db, announcedPlan: planId, silentPlan } = await installedDatabase()

beforeEach(async () => {
  await db.query('delete from event_deliveries')
  await db.query('delete from events')
  await db.query('delete from webhook_destinations')
})

const open = (destination: string) =>
  openBreaker(db, { planId, destination, error: 'CONNECT_TIMEOUT', probeAfterMs: 60_000 })
const nothing = { waiting: 0, parked: 0, failed: 0 }
const delivering = { state: 'delivering', since: null, error: null, pausedBy: null, ...nothing }

describe('a pause', () => {
  test('is begun and ended, by either', async () => {
    for (const by of ['customer', 'operator'] as const) {
      const paused = await pauseDestination(db, planId, DESTINATION, by)
      expect(paused).toMatchObject({ destination: DESTINATION, state: 'paused', pausedBy: by, ...nothing })
      expect(await pauseDestination(db, planId, DESTINATION, by)).toEqual(paused)
      const resumed = await resumeDestination(db, planId, DESTINATION, by)
      expect(resumed).toMatchObject({ state: 'recovering', pausedBy: null })
    }
  })

  test('of the operator is ended by nobody else', async () => {
    await pauseDestination(db, planId, DESTINATION, 'customer')
    await pauseDestination(db, planId, DESTINATION, 'operator')
    expect(await pauseDestination(db, planId, DESTINATION, 'customer')).toMatchObject({
      pausedBy: 'operator',
    })
    const resumed = resumeDestination(db, planId, DESTINATION, 'customer')
    await expect(resumed).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await resumeDestination(db, planId, DESTINATION, 'operator')).toMatchObject({
      state: 'recovering',
    })
  })

  test('of the customer is ended by the operator too', async () => {
    await pauseDestination(db, planId, DESTINATION, 'customer')
    expect(await resumeDestination(db, planId, DESTINATION, 'operator')).toMatchObject({
      state: 'recovering',
    })
  })

  test('takes the place of an open breaker; no breaker opens meanwhile', async () => {
    await open(DESTINATION)
    await pauseDestination(db, planId, DESTINATION, 'customer')
    await open(DESTINATION)
    expect(await listDestinations(db, { planId, after: '', limit: 10 })).toMatchObject([
      { state: 'paused', pausedBy: 'customer', error: 'CONNECT_TIMEOUT' },
    ])
  })

  test('is of one plan', async () => {
    await pauseDestination(db, planId, DESTINATION, 'customer')
    expect(await resumeDestination(db, silentPlan, DESTINATION, 'customer')).toEqual({
      destination: DESTINATION,
      ...delivering,
    })
    expect(await listDestinations(db, { planId, after: '', limit: 10 })).toMatchObject([{ state: 'paused' }])
    expect(await listDestinations(db, { planId: silentPlan, after: '', limit: 10 })).toEqual([])
  })

  test('a plan has at most a thousand', async () => {
    await db.query(
      `insert into webhook_destinations (plan_id, destination, state, paused_by)
       select $1, 'https://' || n || '.example.com', 'paused', 'customer' from generate_series(1, 1000) n`,
      [planId],
    )
    const one = pauseDestination(db, planId, DESTINATION, 'customer')
    await expect(one).rejects.toMatchObject({ code: 'CONFLICT' })
    const known = await pauseDestination(db, planId, 'https://7.example.com', 'operator')
    expect(known).toMatchObject({ pausedBy: 'operator' })
    expect(await pauseDestination(db, silentPlan, DESTINATION, 'customer')).toMatchObject({ state: 'paused' })
  })

  test.each([
    'hooks.example.com',
    'https://hooks.example.com/',
    'https://hooks.example.com/dlr',
    'https://Hooks.example.com',
    'https://hooks.example.com:443',
    'https://user:secret@hooks.example.com',
    'ftp://hooks.example.com',
    'https://',
    `https://${'a'.repeat(300)}`,
    '',
  ])('is not of %s', async (destination) => {
    const fault = { errors: [{ field: 'destination', code: 'INVALID_FORMAT' }] }
    await expect(pauseDestination(db, planId, destination, 'operator')).rejects.toMatchObject(fault)
    await expect(resumeDestination(db, planId, destination, 'operator')).rejects.toMatchObject(fault)
  })
})

test('one in no trouble that has nothing waiting is left as it is by resuming', async () => {
  expect(await resumeDestination(db, planId, DESTINATION, 'customer')).toEqual({
    destination: DESTINATION,
    ...delivering,
  })
})

test('an open breaker is closed by resuming', async () => {
  await open(DESTINATION)
  expect(await resumeDestination(db, planId, DESTINATION, 'customer')).toMatchObject({
    state: 'recovering',
    error: 'CONNECT_TIMEOUT',
  })
})

describe('retrying what waits for its next attempt', () => {
  const retried = async () => {
    await storeEvent(db, { planId, state: 'pending', destination: OTHER, attempts: 1 })
    await resumeDestination(db, planId, OTHER, 'customer')
    await retryWaiting((batch) => batch(db), planId, OTHER)
    const { rows } = await db.query('select state from event_deliveries where plan_id = $1', [planId])
    return rows.map(({ state }) => state)
  }

  test('parks it for the nodes, which fetch what is parked where a destination recovers', async () => {
    expect(await retried()).toEqual(['parked'])
  })

  test('leaves it its schedule where the plan has no room for another destination: nobody would fetch it', async () => {
    await db.query(
      `insert into webhook_destinations (plan_id, destination, state)
       select $1, 'https://' || n || '.example.com', 'open' from generate_series(1, 1000) n`,
      [planId],
    )
    expect(await retried()).toEqual(['waiting'])
  })
})

describe('the list', () => {
  const list = (after = '', limit = 10) => listDestinations(db, { planId, after, limit })

  test('has those in trouble and those with deliveries, each with its deliveries', async () => {
    await open(OTHER)
    await pauseDestination(db, planId, 'https://a.example.com', 'customer')
    for (const state of ['parked', 'parked', 'failed', 'pending'] as const)
      await storeEvent(db, { planId, state, destination: OTHER, attempts: 1 })
    await storeEvent(db, { planId, state: 'failed', destination: DESTINATION })
    await storeEvent(db, { planId: silentPlan, state: 'failed', destination: 'https://b.example.com' })
    await storeEvent(db, { planId, state: 'pending' })
    const since = expect.any(Date)
    const a = { destination: 'https://a.example.com', state: 'paused', since, error: null, ...nothing }
    const other = { destination: OTHER, state: 'open', since, error: 'CONNECT_TIMEOUT', pausedBy: null }
    expect(await list()).toEqual([
      { ...a, pausedBy: 'customer' },
      { destination: DESTINATION, ...delivering, failed: 1 },
      { ...other, waiting: 1, parked: 2, failed: 1 },
    ])
    const names = async (after: string, limit: number) =>
      (await list(after, limit)).map(({ destination }) => destination)
    expect(await names('', 2)).toEqual(['https://a.example.com', DESTINATION])
    expect(await names('https://a.example.com', 1)).toEqual([DESTINATION])
    expect(await names(DESTINATION, 10)).toEqual([OTHER])
    expect(await names(OTHER, 10)).toEqual([])
  })

  test('counts no more than 10,000', async () => {
    await db.query(
      `insert into event_deliveries (plan_id, msg_id, sequence, bucket, due_at, began_at, state, destination)
       select $1, $2, n, 7, 'infinity', now(), 'failed', $3 from generate_series(1, 10001) n`,
      [planId, newId(Date.now()), OTHER],
    )
    expect(await list()).toMatchObject([{ destination: OTHER, failed: 10_000 }])
  })
})
