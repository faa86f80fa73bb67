import { describe, expect, it } from 'vitest'
import { SharedTurns } from '../../src/http/shared-turns.ts'
import { openDatabase } from '../../src/store/database-pool.ts'
import { eventually } from '../support/eventually.ts'
import { PLAN, PLAN_OTHER, startHttpService, storePlans, TOKEN_OTHER } from '../support/http-service.ts'

/** Work that lasts until it is told to end. */
function aRun(turns: SharedTurns, account: number) {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const state = { begun: false }
  const done = turns.run(account, () => {
    state.begun = true
    return promise
  })
  done.catch(() => {})
  return { state, done, end: () => resolve(account), fail: () => reject(new Error('failed')) }
}

type Run = ReturnType<typeof aRun>
const begun = (runs: Run[]) => runs.map(({ state }) => state.begun)
const settled = () => new Promise((wake) => setImmediate(wake))

function some(turns: SharedTurns, account: number, count: number): Run[] {
  return Array.from({ length: count }, () => aRun(turns, account))
}

describe('shared turns', () => {
  it('one account alone has some more than half, and another begins at once beside it', async () => {
    const turns = new SharedTurns(5)
    const busy = some(turns, 1, 10)
    const other = aRun(turns, 2)
    await settled()
    expect(begun(busy).filter(Boolean)).toHaveLength(3)
    expect(other.state.begun).toBe(true)
    for (const run of [...busy, other]) run.end()
    expect(await Promise.all([...busy, other].map(({ done }) => done))).toEqual([...Array(10).fill(1), 2])
  })

  it('those that wait go account by account, and those of one in their order', async () => {
    const turns = new SharedTurns(1)
    const first = aRun(turns, 1)
    const runs = [...some(turns, 1, 2), ...some(turns, 2, 2), aRun(turns, 3)]
    const order: number[] = []
    for (const [index, run] of runs.entries()) void run.done.then(() => order.push(index))
    for (const run of runs) run.end()
    await settled()
    expect(order).toEqual([])
    first.end()
    await Promise.all(runs.map(({ done }) => done))
    expect(order).toEqual([0, 2, 4, 1, 3])
  })

  it('what fails gives its turn to the next', async () => {
    const turns = new SharedTurns(1)
    const [failing, next] = some(turns, 1, 2)
    failing!.fail()
    await expect(failing!.done).rejects.toThrow('failed')
    next!.end()
    expect(await next!.done).toBe(1)
  })

  it('429 when too many of an account wait; another still may', async () => {
    const turns = new SharedTurns(1)
    const first = aRun(turns, 1)
    const waiting = some(turns, 1, 250)
    const refused = aRun(turns, 1)
    await expect(refused.done).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      headers: { 'retry-after': '1' },
    })
    const other = aRun(turns, 2)
    for (const run of [first, ...waiting, other]) run.end()
    expect(await other.done).toBe(2)
    expect(await Promise.all(waiting.map(({ done }) => done))).toHaveLength(250)
  })
})

describe('through the server', () => {
  it('one whose redeliveries hang leaves a connection to another, and to its own test events', async () => {
    await using service = await startHttpService()
    const {
      db,
      database: { connectionString },
    } = service
    await storePlans(service)
    const database = openDatabase({ connectionString, poolSize: 2 })
    await using _closed = { [Symbol.asyncDispose]: () => database.end() }
    const locker = await database.connect()
    await locker.query('begin')
    await locker.query('lock table event_deliveries in access exclusive mode')
    const post = (path: string, body: object, headers = {}) =>
      service.request({
        method: 'POST',
        path: `/v1/webhooks${path}`,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
    const pause = { servicePlanId: PLAN, destination: 'https://a.example.com' }
    const hanging = Array.from({ length: 12 }, () => post('/destinations/pause', pause))
    await eventually(async () => {
      const { rows } = await database.query(
        `select from pg_locks where not granted and relation = 'event_deliveries'::regclass`,
      )
      return rows.length === 2
    })
    expect((await post('/test', { servicePlanId: PLAN })).status).toBe(409)
    expect((await db.query('select')).rowCount).toBe(1)
    await locker.query('rollback')
    locker.release()
    expect((await Promise.all(hanging)).map(({ status }) => status)).toEqual(Array(12).fill(200))
  })

  it('one whose lists hang leaves a connection of the database to another', async () => {
    await using service = await startHttpService({ limits: { readsAtOnce: 3 } })
    const { connectionString } = service.database
    const database = openDatabase({ connectionString, poolSize: 2 })
    await using _closed = { [Symbol.asyncDispose]: () => database.end() }
    const locker = await database.connect()
    await locker.query('begin')
    await locker.query('lock table inbound_messages in access exclusive mode')
    const hanging = Array.from({ length: 12 }, () =>
      service.get(`/v1/inbound/sms?servicePlanId=${PLAN}&to=71234`),
    )
    await eventually(async () => {
      const { rows } = await database.query(
        `select from pg_locks where not granted and relation = 'inbound_messages'::regclass`,
      )
      return rows.length === 2
    })
    const asOther = { authorization: `Bearer ${TOKEN_OTHER}` }
    const other = await service.get(`/v1/webhooks/events?servicePlanId=${PLAN_OTHER}`, asOther)
    expect(other.status).toBe(200)
    await locker.query('rollback')
    locker.release()
    expect((await Promise.all(hanging)).map(({ status }) => status)).toEqual(Array(12).fill(200))
  })
})
