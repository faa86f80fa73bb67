import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BREAKER_THRESHOLD } from '../../../src/domain/webhooks/retries.ts'
import { Destinations } from '../../../src/services/webhooks/destinations.ts'
import { listTroubledDestinations, pauseDestination } from '../../../src/store/webhook-destinations.ts'
import { installedDatabase } from '../../support/installation.ts'
import { KeptLog } from '../../support/log.ts'
import { eventually } from '../../support/service.ts'
import { storeDelivered } from '../../support/stored-messages.ts'

const { db, announcedPlan: plan, silentPlan } = await installedDatabase()
const endpoint = { planId: plan, destination: 'https://example.com' }

let log: KeptLog
let started: Destinations[]

beforeEach(async () => {
  log = new KeptLog()
  started = []
  await db.query('delete from webhook_destinations')
  await db.query('delete from event_deliveries')
})

afterEach(() => Promise.all(started.map((each) => each.stop())))

/** As a node has them: it reads when the test says so. */
async function node(): Promise<Destinations> {
  const made = new Destinations({ db, log, pollMs: 3_600_000 })
  started.push(made)
  await made.start()
  return made
}

function fail(destinations: Destinations, times: number): boolean[] {
  return Array.from({ length: times }, () => destinations.recordFailure(endpoint, 'HTTP_STATUS', false))
}

async function written(): Promise<(string | null)[]> {
  return (await listTroubledDestinations(db)).map(({ state }) => state)
}

test('20 failures in a row open a breaker, not 19; known at once here, and to others when they read', async () => {
  const [here, there] = [await node(), await node()]
  expect(fail(here, BREAKER_THRESHOLD - 1)).not.toContain(true)
  here.recordSuccess(endpoint)
  expect(fail(here, BREAKER_THRESHOLD - 1)).not.toContain(true)
  expect(here.stateOf(endpoint)).toBeNull()
  expect(fail(here, 1)).toEqual([true])
  expect(here.stateOf(endpoint)).toBe('open')
  expect(here.stateOf({ ...endpoint, planId: silentPlan })).toBeNull()
  expect(here.inState('open')).toMatchObject([endpoint])
  expect(here.count('open')).toBe(1)
  await eventually(async () => (await written()).join() === 'open')
  expect(there.stateOf(endpoint)).toBeNull()
  await there.runOnce()
  expect(there.stateOf(endpoint)).toBe('open')
  expect(log.lines).toMatchObject([{ message: 'webhook breaker opened', destination: 'https://example.com' }])
})

test('one failure is enough where it says so', async () => {
  const here = await node()
  expect(here.recordFailure(endpoint, 'HTTP_STATUS', true)).toBe(true)
  await eventually(async () => (await written()).join() === 'open')
})

test.each(['QUEUE_FULL', 'QUEUE_TIMEOUT', 'INVALID_REQUEST'])(
  '%s is not its failure: the request was not sent',
  async (error) => {
    const here = await node()
    for (let count = 0; count < 2 * BREAKER_THRESHOLD; count += 1)
      expect(here.recordFailure(endpoint, error, false)).toBe(false)
    fail(here, BREAKER_THRESHOLD)
    expect(here.recordFailure(endpoint, error, false)).toBe(true)
  },
)

test('a success closes it, for all nodes', async () => {
  const [here, there] = [await node(), await node()]
  here.recordFailure(endpoint, 'HTTP_STATUS', true)
  await eventually(async () => (await written()).join() === 'open')
  await there.runOnce()
  there.recordSuccess(endpoint)
  expect(there.stateOf(endpoint)).toBe('recovering')
  await eventually(async () => (await written()).join() === 'recovering')
  await here.runOnce()
  expect(here.stateOf(endpoint)).toBe('recovering')
  expect(here.inState('recovering')).toMatchObject([endpoint])
  // Where it fails again, it is open again.
  expect(fail(here, BREAKER_THRESHOLD).at(-1)).toBe(true)
  await eventually(async () => (await written()).join() === 'open')
})

test('one that recovered long ago is forgotten by the run after it was read', async () => {
  await db.query(
    `insert into webhook_destinations (plan_id, destination, state, since)
     values ($1, $2, 'recovering', now() - interval '1 hour')`,
    [plan, endpoint.destination],
  )
  const here = await node()
  expect(here.stateOf(endpoint)).toBe('recovering')
  await here.runOnce()
  expect(here.stateOf(endpoint)).toBeNull()
  expect(await written()).toEqual([])
})

test('what waits there for an attempt is parked', async () => {
  const here = await node()
  const msgId = await storeDelivered(db, plan)
  await db.query('update event_deliveries set destination = $1, failed_attempts = 1', [endpoint.destination])
  here.recordFailure(endpoint, 'HTTP_STATUS', true)
  await eventually(async () => {
    const { rows } = await db.query(`select 1 from event_deliveries where msg_id = $1 and state = 'parked'`, [
      msgId,
    ])
    return rows.length === 2
  })
})

describe('a pause', () => {
  test('is trouble whatever is answered, and stays', async () => {
    const here = await node()
    await pauseDestination(db, endpoint, 'operator')
    await here.runOnce()
    expect(here.stateOf(endpoint)).toBe('paused')
    expect(fail(here, 1)).toEqual([true])
    here.recordSuccess(endpoint)
    here.closeBreaker(endpoint)
    await here.runOnce()
    expect(here.stateOf(endpoint)).toBe('paused')
    expect(log.lines).toEqual([])
  })

  test('that came while the breaker was opened here wins', async () => {
    const here = await node()
    await pauseDestination(db, endpoint, 'customer')
    here.recordFailure(endpoint, 'HTTP_STATUS', true)
    await eventually(() => here.stateOf(endpoint) === 'paused')
    expect(await written()).toEqual(['paused'])
  })
})

test('a plan with 1,000 destinations in trouble: no more breakers are opened, its events follow their schedules', async () => {
  await db.query(
    `insert into webhook_destinations (plan_id, destination, state)
     select $1, 'https://' || n || '.example.com', 'open' from generate_series(1, 1000) n`,
    [plan],
  )
  const here = await node()
  expect(fail(here, 2 * BREAKER_THRESHOLD)).not.toContain(true)
  expect(here.stateOf(endpoint)).toBeNull()
  expect(here.recordFailure({ ...endpoint, planId: silentPlan }, 'HTTP_STATUS', true)).toBe(true)
})

test('a node that starts knows what there is', async () => {
  const here = await node()
  here.recordFailure(endpoint, 'HTTP_STATUS', true)
  await eventually(async () => (await written()).join() === 'open')
  expect((await node()).stateOf(endpoint)).toBe('open')
})

test('what the database does not take is told, and tried again with the next failure', async () => {
  const here = await node()
  await db.query('alter table webhook_destinations rename to away')
  here.recordFailure(endpoint, 'HTTP_STATUS', true)
  await eventually(() => log.causes.some((cause) => String(cause).includes('webhook_destinations')))
  await db.query('alter table away rename to webhook_destinations')
  await here.runOnce()
  expect(here.stateOf(endpoint)).toBeNull()
  here.recordFailure(endpoint, 'HTTP_STATUS', true)
  await eventually(async () => (await written()).join() === 'open')
})
