import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { CopyRows, copyIn } from '../../src/store/copy.ts'
import {
  CommitOutcomeUnknownError,
  checkDurability,
  isOutcomeUnknown,
  isTransient,
  outageOf,
  sqlState,
  withTransaction,
} from '../../src/store/database.ts'
import { connectionOf } from '../../src/store/database-hosts.ts'
import { openDatabase } from '../../src/store/database-pool.ts'
import { cuttingProxy } from '../support/cutting-proxy.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

let fresh: FreshDatabase

beforeAll(async () => {
  fresh = await freshDatabase({ state: 'empty', direct: true })
  await fresh.db.query('create table notes (id int primary key, text text)')
})

afterAll(() => fresh[Symbol.asyncDispose]())

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

describe('values', () => {
  test('int8 is a number when exact, a bigint beyond; numeric a string; timestamptz a Date; date a day', async () => {
    const { rows } = await fresh.db.query(
      `select 42::int8 as small, 9007199254740993::int8 as large, array[1, null, 9007199254740993]::int8[] as many,
         1.10::numeric(10, 2) as price, timestamptz '2026-01-02T03:04:05.678Z' as at, date '2026-03-29' as day`,
    )
    expect(rows[0]).toEqual({
      small: 42,
      large: 9007199254740993n,
      many: [1, null, 9007199254740993n],
      price: '1.10',
      at: new Date('2026-01-02T03:04:05.678Z'),
      day: '2026-03-29',
    })
  })

  test('parsers of other users of pg in the process stay as they were', async () => {
    const client = new pg.Client(fresh.connectionString)
    await client.connect()
    const { rows } = await client.query('select 42::int8 as small')
    await client.end()
    expect(rows[0].small).toBe('42')
  })
})

describe('the pool', () => {
  test('lets the event loop turn while it reads a large result', async () => {
    const client = await fresh.db.connect()
    let [octets, most] = [0, 0]
    client.connection.stream.on('data', ({ length }: Buffer) => {
      octets += length
      most = Math.max(most, octets)
    })
    const turn = () => {
      octets = 0
      if (!isRead) setImmediate(turn)
    }
    let isRead = false
    turn()
    const { rows } = await client.query(`select repeat('x', 1000) from generate_series(1, 10000)`)
    isRead = true
    client.release(true)
    expect(rows).toHaveLength(10_000)
    expect(most).toBeLessThanOrEqual(256 * 1024)
  })

  test('names itself and bounds each statement', async () => {
    await using database = await opened({ statementTimeoutMs: 100, applicationName: 'aldis test' })
    const { rows } = await database.db.query(
      `select current_setting('application_name') as name, current_setting('statement_timeout') as bound`,
    )
    expect(rows[0]).toEqual({ name: 'aldis test', bound: '100ms' })
    const error = await failureOf(database.db.query('select pg_sleep(30)'))
    expect(sqlState(error)).toBe('57014')
    expect(isTransient(error)).toBe(true)
    expect(isOutcomeUnknown(error)).toBe(false)
  })

  test('named statements are prepared once, and not at all when told so', async () => {
    const statement = { name: 'test-add', text: 'select $1::int + 1 as sum', values: [1] }
    for (const prepared of [true, false]) {
      await using database = await opened({ prepared })
      const sums = [await database.db.query(statement), await database.db.query(statement)]
      expect(sums.map(({ rows }) => rows[0].sum)).toEqual([2, 2])
      const { rows } = await database.db.query('select name from pg_prepared_statements')
      expect(rows).toEqual(prepared ? [{ name: 'test-add' }] : [])
    }
  })

  test('statements without names work in a transaction of an unprepared pool', async () => {
    await using database = await opened({ prepared: false })
    const sum = await withTransaction(database.db, async (transaction) => {
      const { rows } = await transaction.query({ name: 'n', text: 'select $1::int as n', values: [7] })
      return rows[0]!.n
    })
    expect(sum).toBe(7)
  })

  test('a connection killed while idle is reported, replaced, and ends nothing', async () => {
    const reported: Error[] = []
    await using database = await opened({ log: (_message, error) => reported.push(error) })
    const { rows } = await database.db.query('select pg_backend_pid() as pid')
    await fresh.db.query('select pg_terminate_backend($1)', [rows[0].pid])
    await expect.poll(() => reported.length).toBeGreaterThan(0)
    const after = await database.db.query('select pg_backend_pid() as pid')
    expect(after.rows[0].pid).not.toBe(rows[0].pid)
  })
})

describe('withTransaction', () => {
  test('commits and gives the value', async () => {
    const value = await withTransaction(fresh.db, async (transaction) => {
      await transaction.query('insert into notes values (1, $1)', ['kept'])
      return 'value'
    })
    const { rows } = await fresh.db.query('select text from notes where id = 1')
    expect([value, rows]).toEqual(['value', [{ text: 'kept' }]])
  })

  test('rolls back on a throw, passes it on, and the connection is good for the next', async () => {
    const wanted = new Error('changed my mind')
    const error = await failureOf(
      withTransaction(fresh.db, async (transaction) => {
        await transaction.query(`insert into notes values (2, 'x')`)
        throw wanted
      }),
    )
    const { rows } = await fresh.db.query('select count(*) as n from notes where id = 2')
    expect([error, rows[0].n]).toEqual([wanted, 0])
  })

  test('does not take a swallowed failure for a commit', async () => {
    const error = await failureOf(
      withTransaction(fresh.db, async (transaction) => {
        await failureOf(transaction.query('select 1 / 0'))
      }),
    )
    expect((error as Error).message).toContain('rolled back')
    expect(isOutcomeUnknown(error)).toBe(false)
  })

  test('a backend killed between two statements is a transient fault, not a crash', async () => {
    const error = await failureOf(
      withTransaction(fresh.db, async (transaction) => {
        const { rows } = await transaction.query('select pg_backend_pid() as pid')
        await fresh.db.query('select pg_terminate_backend($1)', [rows[0]!.pid])
        await transaction.query('select 1')
      }),
    )
    expect(isTransient(error)).toBe(true)
    expect((await fresh.db.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  test('a session that was ended because its process stood still in a transaction is a transient fault', async () => {
    const error = await failureOf(
      withTransaction(fresh.db, async (transaction) => {
        const { rows } = await transaction.query('select pg_backend_pid() as pid')
        const { stream } = connectionOf(transaction as unknown as pg.Client)
        // Long enough to stop reading before the session ends.
        await transaction.query('set local idle_in_transaction_session_timeout = 500')
        // As a process that stands still, it has its next statement ready before it has read that the session has ended.
        // Corked, because a write to the closed socket may fail before that is read.
        stream.pause()
        stream.cork()
        const session = 'select from pg_stat_activity where pid = $1'
        await eventually(async () => (await fresh.db.query(session, [rows[0]!.pid])).rows.length === 0)
        const next = transaction.query('select 1')
        stream.resume()
        await next
      }),
    )
    expect([sqlState(error), isTransient(error), isOutcomeUnknown(error)]).toEqual(['25P03', true, false])
  })

  test('a constraint that fails is final: neither transient nor of unknown outcome', async () => {
    await fresh.db.query(`insert into notes values (9, 'first')`)
    const error = await failureOf(fresh.db.query(`insert into notes values (9, 'again')`))
    expect([sqlState(error), isTransient(error), isOutcomeUnknown(error)]).toEqual(['23505', false, false])
  })

  test('a serialisation failure is transient', async () => {
    await fresh.db.query(`insert into notes values (20, 'a')`)
    const error = await failureOf(
      withTransaction(fresh.db, async (transaction) => {
        await transaction.query('set transaction isolation level repeatable read')
        await transaction.query('select * from notes where id = 20')
        await fresh.db.query(`update notes set text = 'b' where id = 20`)
        await transaction.query(`update notes set text = 'c' where id = 20`)
      }),
    )
    expect([sqlState(error), isTransient(error), isOutcomeUnknown(error)]).toEqual(['40001', true, false])
  })
})

describe('lost connections', () => {
  test('lost during COMMIT: unknown, and the row may well stand', async () => {
    await using proxy = await cuttingProxy(fresh, (sent) => sent.includes('commit\0'))
    await using database = await opened({ connectionString: proxy.connectionString })
    const error = await failureOf(
      withTransaction(database.db, (transaction) =>
        transaction.query(`insert into notes values (30, 'stands')`),
      ),
    )
    expect(error).toBeInstanceOf(CommitOutcomeUnknownError)
    expect([isOutcomeUnknown(error), isTransient(error)]).toEqual([true, true])
    await expect
      .poll(async () => (await fresh.db.query('select text from notes where id = 30')).rows)
      .toEqual([{ text: 'stands' }])
  })

  test('lost during a statement that commits alone: unknown', async () => {
    await using proxy = await cuttingProxy(fresh, (sent) => sent.includes('alone'))
    await using database = await opened({ connectionString: proxy.connectionString })
    const error = await failureOf(database.db.query(`insert into notes values (31, 'alone')`))
    expect([isOutcomeUnknown(error), isTransient(error), outageOf(error)]).toEqual([
      true,
      true,
      'unreachable',
    ])
  })

  test('no server at all: nothing was done, and later may be better', async () => {
    const port = await freePort()
    await using database = await opened({ connectionString: `postgresql://u:p@127.0.0.1:${port}/x` })
    const error = await failureOf(database.db.query('select 1'))
    expect([isOutcomeUnknown(error), isTransient(error), outageOf(error)]).toEqual([
      false,
      true,
      'unreachable',
    ])
  })

  test('no answer within the time: unknown, and the database was reached', async () => {
    await using database = await opened({})
    const statement = { text: `insert into notes values (32, 'waits')`, query_timeout: 1 }
    const error = await withTransaction(fresh.db, async (transaction) => {
      await transaction.query('lock table notes')
      return await failureOf(database.db.query(statement as pg.QueryConfig))
    })
    expect([isOutcomeUnknown(error), isTransient(error), outageOf(error)]).toEqual([true, true, 'unanswered'])
  })

  test('no connection free within the time: nothing was done, and later may be better', async () => {
    await using database = await opened({ poolSize: 1, connectTimeoutMs: 1_000 })
    const held = await database.db.connect()
    const error = await failureOf(database.db.query('select 1'))
    held.release()
    expect([isOutcomeUnknown(error), isTransient(error), outageOf(error)]).toEqual([false, true, 'busy'])
  })

  test('a wrong database name is final', async () => {
    const url = new URL(inject('serverUrl'))
    url.pathname = '/no_such_database'
    await using database = await opened({ connectionString: url.href })
    const error = await failureOf(database.db.query('select 1'))
    expect([sqlState(error), isTransient(error), isOutcomeUnknown(error)]).toEqual(['3D000', false, false])
  })

  test.each([undefined, 'text', new Error('of the program')])('%s is no database error', (error) => {
    expect([sqlState(error), isTransient(error), isOutcomeUnknown(error)]).toEqual([undefined, false, false])
    expect(outageOf(error)).toBeNull()
  })
})

test('a connection whose COPY was refused is not used again', async () => {
  await using database = await opened({ poolSize: 1 })
  const processId = async () => (await database.db.query('select pg_backend_pid() as id')).rows[0].id
  const copied = (ids: readonly number[]) =>
    withTransaction(database.db, async (transaction) => {
      const rows = new CopyRows('notes')
      for (const id of ids) {
        rows.row()
        rows.int4('id', id)
      }
      await copyIn(transaction, [rows])
    })
  const before = await processId()
  await copied([41])
  expect(await processId()).toBe(before)
  expect(sqlState(await failureOf(copied([42, 41])))).toBe('23505')
  expect(await processId()).not.toBe(before)
})

describe('durability', () => {
  test('a server with its own defaults keeps what it has committed', async () => {
    expect(await checkDurability(fresh.db)).toEqual({ faults: [], replicated: false, synchronous: false })
  })

  test('synchronous_commit off for the database is found', async () => {
    await using other = await freshDatabase({ state: 'empty', direct: true })
    const name = new URL(other.connectionString).pathname.slice(1)
    await fresh.db.query(`alter database ${name} set synchronous_commit = off`)
    expect(await checkDurability(other.db)).toMatchObject({ faults: ['synchronous_commit=off'] })
  })
})

type Options = Partial<Parameters<typeof openDatabase>[0]>

async function opened(options: Options) {
  const db = openDatabase({ connectionString: fresh.connectionString, poolSize: 2, ...options })
  return { db, [Symbol.asyncDispose]: () => db.end() }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
