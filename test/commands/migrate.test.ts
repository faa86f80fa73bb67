import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { freePort, ROOT, runAldis } from '../support/process.ts'

const MIGRATIONS = readdirSync(join(ROOT, 'src', 'store', 'migrations')).map((name) =>
  name.replace('.sql', ''),
)

test.concurrent('an empty database gets every migration, and then no more', async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const env = { DATABASE_URL: database.connectionString }
  const first = await runAldis(['migrate'], { env })
  expect(first).toMatchObject({ code: 0, stdout: `Applied: ${MIGRATIONS.join(', ')}\n` })
  const second = await runAldis(['migrate'], { env })
  expect(second).toMatchObject({ code: 0, stdout: 'The schema is up to date.\n' })
})

test.concurrent('processes that migrate at the same time leave one schema, and none of them fails', async () => {
  await using database = await freshDatabase({ state: 'empty' })
  const env = { DATABASE_URL: database.connectionString }
  const exits = await Promise.all([1, 2, 3].map(() => runAldis(['migrate'], { env })))
  expect(exits.map(({ code }) => code)).toEqual([0, 0, 0])
  expect(exits.filter(({ stdout }) => stdout.startsWith('Applied: '))).toHaveLength(1)
})

test.concurrent('the schema of a newer version: what this one can do with it, in one line', async () => {
  await using database = await freshDatabase({ state: 'migrated' })
  const env = { DATABASE_URL: database.connectionString }
  await database.db.query(`insert into schema_migrations (name, run_on) values ('9999_next', now())`)
  expect(await runAldis(['migrate'], { env })).toMatchObject({
    code: 0,
    stdout: 'The schema is that of a newer version, with which this one can work: 9999_next\n',
  })
  await database.db.query(`select require_migration('9999_next')`)
  const { code, stderr } = await runAldis(['migrate'], { env })
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^error: a newer version of Aldis has changed the schema \(9999_next\).+\n$/),
  ])
})

test.concurrent.each([
  ['no DATABASE_URL', {}, /^error: DATABASE_URL is required: .+\n$/],
  ['one of something else', { DATABASE_URL: 'mysql://u:hunter2@db/x' }, /^error: DATABASE_URL must be .+\n$/],
])('%s: one line', async (_, env, line) => {
  const exit = await runAldis(['migrate'], { env })
  expect(exit).toMatchObject({ code: 1, stdout: '' })
  expect(exit.stderr).toMatch(line)
  expect(exit.stderr).not.toContain('hunter2')
})

test.concurrent('a server that cannot be reached is tried again, then the reason is told', async () => {
  const DATABASE_URL = `postgresql://u:hunter2@127.0.0.1:${await freePort()}/x`
  const exit = await runAldis(['migrate'], { env: { DATABASE_URL } })
  expect(exit).toMatchObject({ code: 1, stdout: '' })
  expect(exit.stderr).toMatch(/, trying again\n.*error: .+ECONNREFUSED.+\n$/s)
  expect(exit.stderr).not.toContain('hunter2')
})
