import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { migrate } from '../../src/store/migrate.ts'
import { freshDatabase } from '../support/database.ts'

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
  '0001_initial.sql': `create table things (id int primary key, tags jsonb not null default '{}');
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
  expect(await migrate({ connectionString, directory, log })).toEqual(['0001_initial', '0002_rows'])
  expect(await migrate({ connectionString, directory, log })).toEqual([])
  expect(lines.join('\n')).toMatch(/0001_initial[\s\S]+0002_rows[\s\S]+No migrations to run/)
  const { rows } = await database.db.query('select id, tags, twice(id) from things')
  expect(rows).toEqual([{ id: 1, tags: {}, twice: 2 }])
})

test('a later release adds its own', async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const { connectionString } = database
  const directory = migrationsOf(FILES)
  await migrate({ connectionString, directory })
  writeFileSync(join(directory, '0003_more.sql'), 'alter table things add column note text;')
  expect(await migrate({ connectionString, directory })).toEqual(['0003_more'])
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
  expect(await migrate({ connectionString, directory })).toHaveLength(2)
})

test('twenty at once in one process: one migrates, all succeed', async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const { connectionString } = database
  const directory = migrationsOf(FILES)
  const runs = await Promise.all(Array.from({ length: 20 }, () => migrate({ connectionString, directory })))
  expect(runs.flat().sort()).toEqual(['0001_initial', '0002_rows'])
})

test('eight processes at once, with the real migrations: one migrates, all succeed', async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const module = fileURLToPath(new URL('../../src/store/migrate.ts', import.meta.url))
  const program = `const { migrate } = await import(process.argv[1])
    console.log(JSON.stringify(await migrate({ connectionString: process.argv[2] })))`
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
