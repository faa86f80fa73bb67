import pg from 'pg'
import { pino } from 'pino'
import { describe, expect, inject, test } from 'vitest'
import { type Databases, openDatabases, prepareDatabases } from '../../src/app/database.ts'
import type { Database } from '../../src/store/database.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { killer } from '../support/database-outage.ts'
import { eventually, startService } from '../support/service.ts'
import { startSharingPooler } from '../support/sharing-pooler.ts'

/** What the statements of the store rely on, as a session shows it. */
const NEEDED = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_indexscan: 'on',
  enable_nestloop: 'on',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  DateStyle: 'ISO, MDY',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  array_nulls: 'on',
  default_transaction_isolation: 'read committed',
  lock_timeout: '0',
  idle_session_timeout: '0',
}

/** Defaults that are allowed everywhere, and under which the statements would be slow, wrong or refused. */
const HOSTILE = {
  enable_seqscan: 'on',
  enable_indexscan: 'off',
  enable_nestloop: 'off',
  enable_bitmapscan: 'off',
  jit: 'on',
  jit_above_cost: '0',
  plan_cache_mode: 'force_custom_plan',
  from_collapse_limit: '1',
  DateStyle: 'German, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Pacific/Chatham',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  transform_null_equals: 'on',
  default_transaction_isolation: 'serializable',
  lock_timeout: '1s',
  statement_timeout: '1s',
  idle_in_transaction_session_timeout: '1s',
  idle_session_timeout: '1s',
  client_encoding: 'LATIN1',
  lc_numeric: 'C',
  synchronous_commit: 'on',
  work_mem: '64kB',
}

interface Started extends Databases, AsyncDisposable {
  /** Every line of the log. */
  readonly lines: Record<string, unknown>[]
}

async function started(connectionString: string): Promise<Started> {
  const lines: Record<string, unknown>[] = []
  const start = {
    connectionString,
    databasePoolSize: 4,
    databasePrepared: true,
    databaseStatementTimeoutMs: 30_000,
    allowUnsafeDurability: false,
    log: pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
  }
  const databases = openDatabases(start)
  const { db, reads, beats } = databases
  const close = async () => void (await Promise.all([db.end(), reads.end(), beats.end()]))
  try {
    await prepareDatabases(databases, start)
    return { ...databases, lines, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What a fresh transaction has of each needed setting. */
async function settingsOf(db: Database): Promise<Record<string, string>> {
  const { rows } = await db.query<{ name: string; setting: string }>(
    'select name, setting from pg_settings where name = any($1)',
    [Object.keys(NEEDED)],
  )
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
}

/** The database of a role of its own, that may do no more than it needs to. */
async function databaseOf(role: string, options = "encoding 'UTF8'"): Promise<FreshDatabase> {
  const fresh = await freshDatabase({ state: 'empty', direct: true })
  const outside = new pg.Client(inject('serverUrl'))
  await outside.connect()
  await outside.query(`drop database ${nameOf(fresh)} with (force)`)
  const owner = pg.escapeIdentifier(role)
  await outside.query(`create role ${owner} login`).catch(() => undefined)
  await outside.query(`create database ${nameOf(fresh)} owner ${owner} template template0 ${options}`)
  await outside.end()
  const url = new URL(fresh.connectionString)
  url.username = role
  return { ...fresh, connectionString: url.href }
}

function nameOf({ connectionString }: { connectionString: string }): string {
  return new URL(connectionString).pathname.slice(1)
}

describe('every session has the settings that the statements need', () => {
  test('each pool of a node, on a server with its own defaults', async () => {
    await using database = await freshDatabase({ state: 'started', direct: true })
    await using node = await started(database.connectionString)
    for (const pool of [node.db, node.reads, node.beats]) expect(await settingsOf(pool)).toEqual(NEEDED)
  })

  test('a role and a database with hostile defaults carry a message from the request to its receipt', async () => {
    await using database = await databaseOf('hostile', "locale_provider icu icu_locale 'en-US'")
    const { connectionString } = database
    for (const [name, value] of Object.entries(HOSTILE)) {
      await database.db.query(`alter role hostile in database ${nameOf(database)} set ${name} = '${value}'`)
    }
    await using service = await startService({ app: { connectionString } })
    const msgId = await service.sent({ body: `Grüße — ${'x'.repeat(200)}` })
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    const { createdAt } = (await service.get(msgId)).body
    expect(Date.now() - Date.parse(createdAt)).toBeLessThan(60_000)
    expect((await service.get(msgId)).body).toMatchObject({ status: 'DELIVERED' })
  })

  test('the start says on what the node runs, and no password', async () => {
    await using database = await freshDatabase({ state: 'started', direct: true })
    const url = new URL(database.connectionString)
    url.password = 'hunter2'
    await using node = await started(url.href)
    const said = node.lines.find(({ msg }) => String(msg).startsWith('database'))
    expect(said).toMatchObject({
      server: expect.stringMatching(/^PostgreSQL \d+\.\d+/),
      host: url.host,
      database: nameOf(database),
      role: 'aldis',
      schema: 'public',
      settings: expect.objectContaining({ jit: 'off', statement_timeout: '30000' }),
    })
    expect(JSON.stringify(node.lines)).not.toContain('hunter2')
  })
})

describe('a database that no node can work on is refused in one line', () => {
  test.each([
    ['default_transaction_read_only', 'on', /accepts no writes: .*default_transaction_read_only/],
    ['search_path', 'nowhere', /search_path of \w+ names no schema/],
    [
      'session_replication_role',
      'replica',
      /do not keep the settings they need: session_replication_role=replica/,
    ],
  ])('%s = %s', async (name, value, message) => {
    await using database = await freshDatabase({ direct: true })
    await database.db.query(`alter database ${nameOf(database)} set ${name} = '${value}'`)
    await expect(started(database.connectionString)).rejects.toThrow(message)
  })

  test('another encoding than UTF8', async () => {
    await using database = await databaseOf('latin', "encoding 'LATIN1' locale 'C'")
    await expect(started(database.connectionString)).rejects.toThrow(/has the encoding LATIN1/)
  })

  test('a schema in which the role may make no table', async () => {
    await using database = await freshDatabase({ state: 'empty', direct: true })
    await database.db.query('create role guest login').catch(() => undefined)
    const url = new URL(database.connectionString)
    url.username = 'guest'
    await expect(started(url.href)).rejects.toThrow(
      /^guest may make no tables in the schema public: alter database \w+ owner to guest$/,
    )
  })
})

describe('behind a pooler that shares connections', () => {
  test('the role keeps the settings, every pool has them, nothing is set for a session, and another role keeps the defaults', async () => {
    await using database = await databaseOf('shared')
    await using pooler = await startSharingPooler(database.connectionString)
    // A connection that the pooler has from before, with the server's own defaults.
    const other = new pg.Client(pooler.connectionString)
    await other.connect()
    expect((await other.query('show enable_seqscan')).rows).toEqual([{ enable_seqscan: 'on' }])
    await using node = await started(pooler.connectionString)
    for (const pool of [node.db, node.reads, node.beats]) {
      const all = await Promise.all(Array.from({ length: pool.options.max }, () => settingsOf(pool)))
      for (const settings of all) expect(settings).toEqual(NEEDED)
    }
    const { rows } = await database.db.query(
      `select count(*)::integer as sessions from pg_stat_activity
       where datname = current_database() and usename = 'shared'`,
    )
    expect(rows[0].sessions).toBeLessThanOrEqual(3)
    const said = node.lines.find(({ msg }) => String(msg).startsWith('database'))
    expect(said).toMatchObject({ pooler: true, prepared: false })
    await other.end().catch(() => undefined)
    const program = new pg.Client(database.db.options.connectionString)
    await program.connect()
    expect((await program.query('show jit')).rows).toEqual([{ jit: 'on' }])
    await program.end()
    // A second node changes nothing more.
    await using second = await started(pooler.connectionString)
    expect(second.lines.filter(({ msg }) => String(msg).startsWith('set the defaults'))).toEqual([])
  })

  test('the name of the role may have capitals and dots', async () => {
    await using database = await databaseOf('Aldis.Prod')
    await using pooler = await startSharingPooler(database.connectionString)
    await using node = await started(pooler.connectionString)
    expect(await settingsOf(node.db)).toEqual(NEEDED)
    await using second = await started(pooler.connectionString)
    expect(second.lines.filter(({ msg }) => String(msg).startsWith('set the defaults'))).toEqual([])
  })

  test('a message is delivered', async () => {
    await using database = await databaseOf('shared')
    await using pooler = await startSharingPooler(database.connectionString)
    await using service = await startService({ app: { connectionString: pooler.connectionString } })
    await service.untilWebhooks(await service.sent(), ['SENT', 'DELIVERED'])
    expect(service.logs.filter((line) => /26000|42P05/.test(line))).toEqual([])
  })

  test('one that comes between later is recognised by what it mixes up, and statements go unprepared', async () => {
    await using database = await freshDatabase({ state: 'started', direct: true })
    await using node = await started(database.connectionString)
    const statement = { name: 'test_mixed_up', text: 'select 1 as one' }
    const client = await node.db.connect()
    await client.query(statement)
    await client.query('deallocate test_mixed_up')
    await expect(client.query(statement)).rejects.toMatchObject({ code: '26000' })
    expect((await client.query(statement)).rows).toEqual([{ one: 1 }])
    client.release()
    expect(node.lines.filter(({ msg }) => /mixes up prepared/.test(String(msg)))).toHaveLength(1)
  })
})

test('connections that are killed are made anew with the settings', async () => {
  await using database = await freshDatabase({ state: 'started', direct: true })
  await using node = await started(database.connectionString)
  await using outside = await killer(database)
  await settingsOf(node.db)
  await outside.kill()
  await eventually(async () => (await settingsOf(node.db).catch(() => null)) !== null)
  expect(await settingsOf(node.db)).toEqual(NEEDED)
})

test('a connection for reads knows the partitions of every day before its first list', async () => {
  await using database = await freshDatabase({ state: 'started', direct: true })
  await using node = await started(database.connectionString)
  // Of the catalog. A connection that knows the partitions reads next to nothing.
  const blocksToPlan = async (pool: Database) => {
    const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()))
    const plans = clients.map((client) =>
      client.query(
        `explain (buffers, summary, format json) select * from messages where plan_id = 1 and recipient = ''`,
      ),
    )
    const blocks = (await Promise.all(plans)).map(
      ({ rows }) => rows[0]['QUERY PLAN'][0].Planning['Shared Hit Blocks'] as number,
    )
    for (const client of clients) client.release()
    return blocks
  }
  const [most, least] = [
    Math.max(...(await blocksToPlan(node.reads))),
    Math.min(...(await blocksToPlan(node.db))),
  ]
  expect(most).toBeLessThan(least / 4)
})
