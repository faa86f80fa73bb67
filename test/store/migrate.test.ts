import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { type Database, withTransaction } from '../../src/store/database.ts'
import { migrate, migrateIfBehind } from '../../src/store/migrate.ts'
import { heartbeat, registerNode, registerNodeAgain, removeNode } from '../../src/store/nodes.ts'
import { MIGRATIONS, migrationsIn } from '../../src/store/schema.ts'
import { freshDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { ROOT } from '../support/process.ts'

const directories: string[] = []

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true })
})

function migrationsOf(files: Record<string, string>): string {
  const directory = mkdtempSync(join(tmpdir(), 'aldis migrations-'))
  directories.push(directory)
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(directory, name), sql)
  return directory
}

const FILES = {
  '0001_initial.sql': `create table schema_requirement as select '0001_initial' as must_know;
    create table things (id int primary key, tags jsonb not null default '{}');
    create function twice(n int) returns int language plpgsql as $$ begin return n * 2; end $$;`,
  // Anything that ran twice would fail on its key; the sleep widens the window in which others arrive.
  '0002_rows.sql': `insert into things (id) values (1); select pg_sleep(0.2);`,
}

test('runs the files in order, once, and tells its progress', async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const { connectionString } = database
  const directory = migrationsOf(FILES)
  const lines: string[] = []
  const log = (line: string) => void lines.push(line)
  expect(await migrate({ connectionString, directory, log })).toEqual({
    applied: ['0001_initial', '0002_rows'],
    newer: [],
  })
  expect(lines.splice(0).join('\n')).toMatch(/0001_initial[\s\S]+0002_rows/)
  expect((await migrate({ connectionString, directory, log })).applied).toEqual([])
  expect(lines).toEqual([])
  const { rows } = await database.db.query('select id, tags, twice(id) from things')
  expect(rows).toEqual([{ id: 1, tags: {}, twice: 2 }])
})

test('a later release adds its own', async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const { connectionString } = database
  const directory = migrationsOf(FILES)
  await migrate({ connectionString, directory })
  writeFileSync(join(directory, '0003_more.sql'), 'alter table things add column note text;')
  expect((await migrate({ connectionString, directory })).applied).toEqual(['0003_more'])
})

test('a migration that fails leaves nothing of any of them', async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const { connectionString } = database
  const directory = migrationsOf({ ...FILES, '0003_wrong.sql': 'select 1 / 0;' })
  await expect(migrate({ connectionString, directory })).rejects.toThrow('division by zero')
  const { rows } = await database.db.query(`select to_regclass('things') as things`)
  expect(rows).toEqual([{ things: null }])
})

test('waiting for another that migrates is bounded', async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const { connectionString } = database
  const directory = migrationsOf(FILES)
  const holder = await database.db.connect()
  await holder.query('begin')
  await holder.query('select pg_advisory_xact_lock($1)', [0x616c6469])
  await expect(migrate({ connectionString, directory, lockTimeoutMs: 50 })).rejects.toMatchObject({
    code: '55P03',
  })
  await holder.query('rollback')
  holder.release()
  expect((await migrate({ connectionString, directory })).applied).toHaveLength(2)
})

test('a start runs what is pending, and waits for nobody where nothing is', async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const { connectionString, db } = database
  const directory = migrationsOf(FILES)
  const start = () => migrateIfBehind(db, { connectionString, directory })
  expect((await start()).applied).toEqual(['0001_initial', '0002_rows'])
  const holder = await db.connect()
  await holder.query('begin')
  await holder.query('select pg_advisory_xact_lock($1)', [0x616c6469])
  expect(await start()).toEqual({ applied: [], newer: [] })
  await holder.query('rollback')
  holder.release()
})

test('a migration waits for a table in use, without blocking later statements on that table', async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const { connectionString, db } = database
  const directory = migrationsOf(FILES)
  await migrate({ connectionString, directory })
  writeFileSync(join(directory, '0003_more.sql'), 'alter table things add column note text;')
  const reader = await db.connect()
  await reader.query('begin; select from things')
  const lines: string[] = []
  const migration = migrate({ connectionString, directory, log: (line) => void lines.push(line) })
  await eventually(() => lines.some((line) => line.includes('lock timeout')))
  expect((await db.query('select from things')).rowCount).toBe(1)
  await reader.query('commit')
  reader.release()
  expect((await migration).applied).toEqual(['0003_more'])
})

describe('beside the release before', () => {
  /** A database of the next release, and the migrations that this one has. */
  async function ahead(next: string) {
    const database = await freshDatabase({ state: 'migrated' })
    const { connectionString } = database
    const own = migrationsIn(MIGRATIONS)
    const directory = migrationsOf({ '9999_next.sql': next })
    for (const name of own) copyFileSync(join(MIGRATIONS, `${name}.sql`), join(directory, `${name}.sql`))
    const upgrade = () => migrate({ connectionString, directory })
    return { database, upgrade, downgrade: () => migrateIfBehind(database.db, { connectionString }) }
  }

  test('a program works with the schema of a newer one', async () => {
    const { database, upgrade, downgrade } = await ahead('alter table messages add column note text;')
    await using _ = database
    expect(await upgrade()).toEqual({ applied: ['9999_next'], newer: [] })
    expect(await downgrade()).toEqual({ applied: [], newer: ['9999_next'] })
  })

  test('unless it must know a migration that it does not know', async () => {
    const { database, upgrade, downgrade } = await ahead(`select require_migration('9999_next');`)
    await using _ = database
    await upgrade()
    const document = readFileSync(join(ROOT, 'docs', 'upgrading.md'), 'utf8')
    const [, shown] = /^error: (a newer version .+)$/m.exec(document)!
    await expect(downgrade()).rejects.toThrow(shown!.replace(/\d{4}_\w+/, '9999_next'))
    expect((await upgrade()).newer).toEqual([])
  })

  test('a migration that living nodes must know waits until they are stopped', async () => {
    const { database, upgrade, downgrade } = await ahead(`select require_migration('9999_next');`)
    await using _ = database
    const node = await registerNode(database.db, 'node-a')
    await expect(upgrade()).rejects.toThrow(
      'stop these nodes first, their version cannot work with the new schema: node-a',
    )
    expect((await downgrade()).newer).toEqual([])
    await removeNode(database.db, node)
    expect((await upgrade()).applied).toEqual(['9999_next'])
  })

  const TOO_NEW = /^a newer version of Aldis has changed the schema \(9999_next\)/

  test('a program that had its schema before the upgrade does not register after it', async () => {
    const { database, upgrade, downgrade } = await ahead(`select require_migration('9999_next');`)
    await using _ = database
    await downgrade()
    await upgrade()
    await expect(registerNode(database.db, 'node-a')).rejects.toThrow(TOO_NEW)
    await expect(registerNodeAgain(database.db, 'node-a')).rejects.toThrow(TOO_NEW)
    expect((await database.db.query('select from nodes')).rowCount).toBe(0)
  })

  test('nor one that registers while it runs', async () => {
    await using database = await freshDatabase({ state: 'migrated' })
    const { db } = database
    const { registered } = await withTransaction(db, async (migration) => {
      await migration.query(`select require_migration('9999_next')`)
      const registered = registerNode(db, 'node-a').catch(String)
      await blocked(db)
      return { registered }
    })
    expect(await registered).toContain('9999_next')
  })

  test('one that was cut off for longer than its lease is gone, and does not come back', async () => {
    await using database = await freshDatabase({ state: 'migrated' })
    const { db } = database
    const nodeId = await registerNode(db, 'node-a')
    await db.query(`update nodes set expires_at = now() - interval '1 ms'`)
    await db.query(`select require_migration('9999_next')`)
    expect(await heartbeat(db, { nodeId, name: 'node-a', mayRemove: true })).toMatchObject({
      state: 'expired',
    })
    await expect(registerNodeAgain(db, 'node-a')).rejects.toThrow(TOO_NEW)
  })

  test('unless it renews its lease at that moment: then the migration waits for it', async () => {
    await using database = await freshDatabase({ state: 'migrated' })
    const { db } = database
    const nodeId = await registerNode(db, 'node-a')
    await db.query(`update nodes set expires_at = now() - interval '1 ms'`)
    const { required } = await withTransaction(db, async (transaction) => {
      await heartbeat(transaction, { nodeId, name: 'node-a', mayRemove: true })
      const required = db.query(`select require_migration('9999_next')`).catch(String)
      await blocked(db)
      return { required }
    })
    expect(await required).toContain('stop these nodes first')
  })

  const blocked = (db: Database) =>
    eventually(async () => {
      const { rows } = await db.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length === 1
    })
})

test('twenty at once in one process: one migrates, all succeed', async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const { connectionString } = database
  const directory = migrationsOf(FILES)
  const runs = await Promise.all(Array.from({ length: 20 }, () => migrate({ connectionString, directory })))
  expect(runs.flatMap(({ applied }) => applied).sort()).toEqual(['0001_initial', '0002_rows'])
})

test('eight processes at once, with the real migrations: one migrates, all succeed', async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const module = fileURLToPath(new URL('../../src/store/migrate.ts', import.meta.url))
  const program = `const { migrate } = await import(process.argv[1])
    console.log(JSON.stringify((await migrate({ connectionString: process.argv[2] })).applied))`
  const run = () =>
    promisify(execFile)(process.execPath, [
      '--input-type=module',
      '--eval',
      program,
      '--',
      module,
      database.connectionString,
    ])
  const outputs = await Promise.all(Array.from({ length: 8 }, run))
  const done = outputs.map(({ stdout }) => JSON.parse(stdout) as string[])
  expect(done.filter((names) => names.length > 0)).toHaveLength(1)
  expect(done.flat()).toContain('0001_initial')
  const { rows } = await database.db.query('select name from schema_migrations order by id')
  expect(rows.map(({ name }) => name)).toEqual(done.flat())
})
