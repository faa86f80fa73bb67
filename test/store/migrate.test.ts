import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

const WAITING = '019a0000-0000-7000-8000-000000000001'
const ROWS_OF_THE_FIRST = `
  insert into accounts (account_id, name, webhook_secret) values ('64f0c0ffee0123456789abcd', 'Example', 'sealed');
  insert into carriers (name, enabled, host, port, system_id, password, id_rule) values
    ('used', true, 'smsc', 2775, 'aldis', 'sealed', 'normalised'),
    ('unused', false, 'smsc', 2775, 'aldis', 'sealed', 'exact');
  insert into routes (name) values ('default');
  insert into route_carriers (route_id, carrier_id) values (1, 1);
  insert into service_plans (service_plan_id, account_id, name, route_id)
    values ('65a1c0ffee0123456789abcd', 1, 'alerts', 1);
  create table messages_day partition of messages default;
  create table submissions_day partition of submissions default;
  insert into messages (plan_id, msg_id, segments, updated_at, sender, recipient, body)
    values (1, '${WAITING}', 2, now(), 'Example', '+46701234567', 'Hello');
  insert into dispatches (bucket, msg_id, plan_id, due_at, expires_at) values (1, '${WAITING}', 1, now(), now());
  insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, segment) values (1, 'a', '${WAITING}', 1, 0);
  insert into parked_receipts (carrier_id, carrier_message_id, outcome, error_code, received_at)
    values (1, 'b', 'DELIVERED', '000', now());`

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

test('the real migrations, on a database that has rows of the first two', async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const { connectionString, db } = database
  const first = ['0001_initial.sql', '0002_inbound_languages.sql'].map((name): [string, string] => {
    const path = new URL(`../../src/store/migrations/${name}`, import.meta.url)
    return [name, readFileSync(path, 'utf8')]
  })
  await migrate({ connectionString, directory: migrationsOf(Object.fromEntries(first)) })
  await db.query(ROWS_OF_THE_FIRST)
  const { rows: before } = await db.query('select version from directory_version')
  expect(await migrate({ connectionString })).toContain('0003_carriers_in_full')

  const { rows: carriers } = await db.query('select name, state, binds, id_rule from carriers order by id')
  expect(carriers).toEqual([
    { name: 'used', state: 'started', binds: 1, id_rule: 'normalised' },
    { name: 'unused', state: 'stopped', binds: 1, id_rule: 'auto' },
  ])
  const { rows: plans } = await db.query(
    'select smart_encoding, national_languages, opt_out from service_plans',
  )
  expect(plans).toEqual([{ smart_encoding: false, national_languages: [], opt_out: null }])
  const { rows: waiting } = await db.query('select msg_id::text as id, route_id, carrier_id from dispatches')
  expect(waiting).toEqual([{ id: WAITING, route_id: 0, carrier_id: null }])
  const { rows: parked } = await db.query('select carrier_message_id as id, id_rule from parked_receipts')
  expect(parked).toEqual([{ id: 'b', id_rule: 'normalised' }])
  // A carrier may give all segments of a message one id.
  await db.query(`insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, segment)
                  select carrier_id, carrier_message_id, msg_id, plan_id, 1 from submissions`)
  const { rows: after } = await db.query('select version from directory_version')
  expect(after[0].version).toBeGreaterThan(before[0].version)
})

async function migrateBefore(first: string, connectionString: string): Promise<void> {
  const folder = new URL('../../src/store/migrations/', import.meta.url)
  const before = readdirSync(folder).filter((name) => name < first)
  const files = before.map((name): [string, string] => [name, readFileSync(new URL(name, folder), 'utf8')])
  await migrate({ connectionString, directory: migrationsOf(Object.fromEntries(files)) })
}

test('0020: carriers under exact, the default, learn their rule, unless messages of theirs are delivered', async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const { connectionString, db } = database
  await migrateBefore('0020', connectionString)
  await db.query(`
    insert into carriers (name, host, port, system_id, password, id_rule)
    select name, 'smsc', 2775, 'aldis', 'sealed', rule
    from (values ('delivers', 'exact'), ('parks', 'exact'), ('set', 'hex-decimal')) as c (name, rule);
    insert into quality_minutes
    select 1, id, now(), 1, 0, 0, 0, array_fill(0, array[15]), 0, 1, (name = 'delivers')::integer, 0, 0,
           array_fill(0, array[18]) from carriers;
    insert into parked_receipts (carrier_id, carrier_message_id, outcome, error_code, received_at)
    select id, '500', 'DELIVERED', '000', now() from carriers`)
  expect(await migrate({ connectionString })).toContain('0020_id_rules')
  const { rows } = await db.query(`
    select name, c.id_rule as rule, p.id_rule as read_under
    from carriers c join parked_receipts p on p.carrier_id = c.id order by name`)
  expect(rows).toEqual([
    { name: 'delivers', rule: 'exact', read_under: 'exact' },
    { name: 'parks', rule: 'auto', read_under: 'exact' },
    { name: 'set', rule: 'hex-decimal', read_under: 'hex-decimal' },
  ])
})

test("0030: a feed goes on behind its plan's last event", async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const { connectionString, db } = database
  await migrateBefore('0030', connectionString)
  await db.query(`
    insert into accounts (account_id, name, webhook_secret) values ('64f0c0ffee0123456789abcd', 'Example', 'sealed');
    insert into routes (name) values ('default');
    insert into service_plans (service_plan_id, account_id, name, route_id)
    select repeat(n::text, 24), 1, n, 1 from generate_series(1, 3) n;
    create table events_day partition of events default;
    insert into events (plan_id, msg_id, seq, position, occurred_at)
    select plan_id, '${WAITING}', n, plan_id * 1000 + n, now()
    from generate_series(1, 2) plan_id, generate_series(1, 3) n`)
  expect(await migrate({ connectionString })).toContain('0030_feeds')
  const { rows } = await db.query('select plan_id as id, position from feeds order by plan_id')
  expect(rows).toEqual([
    { id: 1, position: 1_003 },
    { id: 2, position: 2_003 },
  ])
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
