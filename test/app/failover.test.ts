import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkDurability, NoPrimaryError, sqlState } from '../../src/store/database.ts'
import { DatabaseHosts } from '../../src/store/database-hosts.ts'
import { openDatabase } from '../../src/store/database-pool.ts'
import { eventually, startService } from '../support/service.ts'
import { ask, type Pair, startPair } from '../support/stock-postgres.ts'

let pair: Pair

beforeAll(async () => {
  pair = await startPair()
})

afterAll(() => pair[Symbol.asyncDispose]())

/** A connection string of several servers, in this order. */
function several(...ports: number[]): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  return `postgresql://aldis@${hosts}/postgres?target_session_attrs=read-write`
}

/** Accepts connections and never says a word, as a host that is frozen does. */
async function silentServer() {
  const listener = createServer().listen(0, '127.0.0.1')
  const sockets: { destroy(): void }[] = []
  listener.on('connection', (socket) => sockets.push(socket))
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
}

describe('which of several servers is the primary', () => {
  test('not a standby, and not one that is silent', async () => {
    await using silent = await silentServer()
    const { primary, standby } = pair
    const hosts = new DatabaseHosts(several(silent.port, standby.port, primary.port))
    expect((await hosts.find()).port).toBe(primary.port)
    // The silent one does not hold the answer up for as long as it may take.
    hosts.doubt(hosts.primary)
    expect((await hosts.find()).port).toBe(primary.port)
  })

  test('none: each is named with what is wrong with it', async () => {
    await using silent = await silentServer()
    const hosts = new DatabaseHosts(several(silent.port, pair.standby.port))
    const failure = await hosts.find().catch((error) => error)
    expect(failure).toBeInstanceOf(NoPrimaryError)
    expect(failure.message).toContain(`127.0.0.1:${pair.standby.port} is a standby`)
    expect(failure.message).toMatch(new RegExp(`127\\.0\\.0\\.1:${silent.port} cannot be used`))
  })

  test('a standby alone is refused as well', async () => {
    const db = openDatabase({ connectionString: pair.standby.connectionString, poolSize: 1 })
    await expect(db.query('select 1')).rejects.toThrow(/accepts no writes: it is a standby/)
    await db.end()
  })
})

test('a node goes on with the standby that is promoted, and leaves the server that takes no writes', async () => {
  const { primary, standby } = pair
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  await using service = await startService({
    app: { connectionString: several(standby.port, primary.port), heartbeatMs: 200, log },
  })
  expect(lines.filter((line) => line.includes('replication is asynchronous'))).toHaveLength(1)
  const ready = await fetch(`${service.app.url}/readyz`)
  expect([ready.status, await ready.json()]).toEqual([
    200,
    {
      ok: true,
      checks: { lease: 'ok', database: 'ok', replication: expect.stringContaining('asynchronous') },
    },
  ])
  await service.until(await service.sent(), 'DELIVERED')

  await ask(primary, 'alter system set default_transaction_read_only = on')
  await ask(primary, 'select pg_reload_conf()')
  const [last] = await ask<{ lsn: string }>(primary, 'select pg_current_wal_lsn() as lsn')
  await eventually(async () => {
    const [replayed] = await ask<{ done: boolean }>(
      standby,
      `select pg_last_wal_replay_lsn() >= '${last!.lsn}' as done`,
    )
    return replayed!.done
  })
  await ask(standby, 'select pg_promote()')
  const msgId = await eventually(async () => {
    const { status, body } = await service.send()
    return status === 202 && body.msgId
  })
  await service.until(msgId, 'DELIVERED')
  expect(await ask(standby, `select status from messages where msg_id = '${msgId}'`)).toEqual([
    { status: 'DELIVERED' },
  ])
  const sessions = `select count(*)::integer as count from pg_stat_activity where application_name = 'aldis'`
  await eventually(async () => (await ask<{ count: number }>(primary, sessions))[0]!.count === 0)
})

test('every idle connection to a server that takes no writes any more is dropped at the first refusal', async () => {
  const { standby: server, primary: other } = pair
  const db = openDatabase({ connectionString: several(server.port, other.port), poolSize: 3 })
  await Promise.all([1, 2, 3].map(() => db.query('select pg_sleep(0.05)')))
  expect(db.totalCount).toBe(3)
  await ask(server, 'alter system set default_transaction_read_only = on')
  await ask(server, 'select pg_reload_conf()')
  const refused = await eventually(() =>
    db.query('create table if not exists refused ()').then(
      () => null,
      (error) => error,
    ),
  )
  expect(sqlState(refused)).toBe('25006')
  await eventually(() => db.totalCount === 0)
  await db.end()
})

describe('a standby is promoted while its primary goes on taking writes', () => {
  let forked: Pair
  beforeAll(async () => {
    forked = await startPair()
  })
  afterAll(() => forked[Symbol.asyncDispose]())

  test('a node leaves the old primary for the promoted one, and says that there are two', async () => {
    const { primary, standby } = forked
    await using service = await startService({
      app: { connectionString: several(primary.port, standby.port), heartbeatMs: 200 },
    })
    await service.until(await service.sent(), 'DELIVERED')
    await eventually(
      async () => (await ask(standby, `select from messages where status = 'DELIVERED'`)).length === 1,
    )
    await ask(standby, 'select pg_promote()')
    const checks = await eventually(async () => {
      const { checks } = (await (await fetch(`${service.app.url}/readyz`)).json()) as {
        checks: { primaries?: string }
      }
      return checks.primaries !== undefined && checks
    })
    expect(checks.primaries).toBe(`127.0.0.1:${primary.port} takes writes too (timeline 1)`)
    const msgId = await eventually(async () => {
      const { status, body } = await service.send()
      return status === 202 && body.msgId
    })
    await service.until(msgId, 'DELIVERED')
    const found = `select from messages where msg_id = '${msgId}'`
    expect([(await ask(standby, found)).length, (await ask(primary, found)).length]).toEqual([1, 0])
    const sessions = `select from pg_stat_activity where application_name = 'aldis' and state is not null`
    await eventually(async () => (await ask(primary, sessions)).length === 0)
  })

  test('a node that starts takes the promoted one, in either order of their names', async () => {
    const { primary, standby } = forked
    for (const ports of [
      [primary.port, standby.port],
      [standby.port, primary.port],
    ]) {
      const hosts = new DatabaseHosts(several(...ports))
      expect((await hosts.find()).port).toBe(standby.port)
      expect(hosts.rivals).toEqual([`127.0.0.1:${primary.port} takes writes too (timeline 1)`])
    }
  })

  test('two addresses of one primary are no two primaries', async () => {
    const { standby } = forked
    const address = `127.0.0.1:${standby.port}`
    const hosts = new DatabaseHosts(`postgresql://aldis@${address},localhost:${standby.port}/postgres`)
    await hosts.find()
    expect(hosts.rivals).toEqual([])
  })

  test('a process that knows the promoted one does not go back to the old one', async () => {
    const { primary, standby } = forked
    const hosts = new DatabaseHosts(several(primary.port, standby.port))
    await hosts.find()
    await ask(standby, 'alter system set default_transaction_read_only = on')
    await ask(standby, 'select pg_reload_conf()')
    const failure = await eventually(() => {
      hosts.doubt(hosts.primary)
      return hosts.find().then(
        () => null,
        (error) => error,
      )
    })
    expect(failure.message).toContain(
      `127.0.0.1:${primary.port} takes writes too (timeline 1), 127.0.0.1:${standby.port} is read-only`,
    )
  })
})

test('replication that a COMMIT waits for is told from one that it does not wait for', async () => {
  await using again = await startPair()
  const db = openDatabase({ connectionString: again.primary.connectionString, poolSize: 1 })
  await eventually(async () => (await checkDurability(db)).replicated)
  expect(await checkDurability(db)).toMatchObject({ synchronous: false })
  await ask(again.primary, `alter system set synchronous_standby_names = '*'`)
  await ask(again.primary, 'select pg_reload_conf()')
  await eventually(async () => (await checkDurability(db)).synchronous)
  await db.end()
})
