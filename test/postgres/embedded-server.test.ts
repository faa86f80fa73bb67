import { once } from 'node:events'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startEmbeddedPostgres } from '../../src/postgres/embedded-server.ts'
import { checkDurability } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/database-pool.ts'
import { directoryOfFile, isAlive, postmasterOf, query, scratchDirectory } from './holding.ts'

const directory = directoryOfFile()

test('a new directory: made, ready over TCP and socket, durable; stopped and started again it is the same', async () => {
  using directory = scratchDirectory()
  const first = await startEmbeddedPostgres({ dataDir: directory.path })
  await query(first.connectionString, 'create table kept as select 1 as one')
  expect(await query(first.localConnectionString, 'select one from kept')).toEqual([{ one: 1 }])
  const db = openDatabase({ connectionString: first.connectionString, poolSize: 1 })
  expect(await checkDurability(db)).toMatchObject({ faults: [] })
  await db.end()
  const pid = postmasterOf(directory.path)
  await first.stop()
  expect(isAlive(pid)).toBe(false)

  const second = await startEmbeddedPostgres({ dataDir: directory.path })
  expect(second.connectionString).toBe(first.connectionString)
  expect(await query(second.connectionString, 'select one from kept')).toEqual([{ one: 1 }])
  await second.stop()
})

test('only who has the password gets in, and only this user reads it', async () => {
  const server = await startEmbeddedPostgres({ dataDir: directory.path })
  const url = new URL(server.connectionString)
  expect(url.hostname).toBe('127.0.0.1')
  url.password = 'wrong'
  await expect(query(url.href, 'select 1')).rejects.toMatchObject({ code: '28P01' })
  url.search = new URL(server.localConnectionString).search
  await expect(query(url.href, 'select 1')).rejects.toMatchObject({ code: '28P01' })
  expect(statSync(join(directory.path, 'password')).mode & 0o777).toBe(0o600)
  expect(statSync(join(directory.path, 'cluster')).mode & 0o077).toBe(0)
  await server.stop()
})

test("an operator's ALTER SYSTEM wins over our settings", async () => {
  const first = await startEmbeddedPostgres({ dataDir: directory.path })
  await query(first.connectionString, 'alter system set fsync = off')
  await first.stop()
  const second = await startEmbeddedPostgres({ dataDir: directory.path })
  expect(await query(second.connectionString, 'show fsync')).toEqual([{ fsync: 'off' }])
  await query(second.connectionString, 'alter system reset fsync')
  await second.stop()
})

test('the log of the server holds neither statements nor values', async () => {
  const server = await startEmbeddedPostgres({ dataDir: directory.path })
  await query(server.connectionString, 'create table t (body text check (length(body) < 5))')
  await expect(query(server.connectionString, `insert into t values ('confidential')`)).rejects.toThrow()
  await server.stop()
  const written = readFileSync(join(directory.path, 'postgres.log'), 'utf8')
  expect(written).toContain('violates check constraint')
  expect(written).not.toContain('confidential')
})

test('stop may be called twice', async () => {
  const server = await startEmbeddedPostgres({ dataDir: directory.path })
  await Promise.all([server.stop(), server.stop()])
  await server.stop()
})

test('a cluster left half-made by a kill is made anew', async () => {
  using directory = scratchDirectory()
  mkdirSync(join(directory.path, 'staging', 'cluster', 'base'), { recursive: true })
  writeFileSync(join(directory.path, 'staging', 'cluster', 'PG_VERSION'), '18\n')
  writeFileSync(join(directory.path, 'password'), 'of a cluster that never was')
  const server = await startEmbeddedPostgres({ dataDir: directory.path })
  expect(await query(server.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
  await server.stop()
})

test('a postmaster.pid that names a living process of somebody else is stale', async () => {
  const first = await startEmbeddedPostgres({ dataDir: directory.path })
  const lines = readFileSync(join(directory.path, 'cluster', 'postmaster.pid'), 'utf8').split('\n')
  await first.stop()
  const stale = [String(process.pid), ...lines.slice(1)].join('\n')
  writeFileSync(join(directory.path, 'cluster', 'postmaster.pid'), stale)
  const second = await startEmbeddedPostgres({ dataDir: directory.path })
  expect(await query(second.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
  await second.stop()
})

test('the second on a directory is told so in one line; the first runs on', async () => {
  const server = await startEmbeddedPostgres({ dataDir: directory.path })
  await expect(startEmbeddedPostgres({ dataDir: directory.path })).rejects.toMatchObject({
    code: 'DATA_DIR_IN_USE',
    message: expect.stringMatching(/^the data directory .+ is in use by another aldis process$/),
  })
  expect(await query(server.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
  await server.stop()
})

test('a wanted port that is taken is an error, and frees the directory; the last port taken is replaced', async () => {
  const first = await startEmbeddedPostgres({ dataDir: directory.path })
  await first.stop()
  const other = createServer().listen(first.port, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await expect(startEmbeddedPostgres({ dataDir: directory.path, port })).rejects.toMatchObject({
    code: 'PORT_IN_USE',
  })
  const second = await startEmbeddedPostgres({ dataDir: directory.path })
  expect(second.port).not.toBe(port)
  expect(await query(second.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
  await second.stop()
  other.close()
})

test('a data directory that cannot be one is named in one line', async () => {
  using directory = scratchDirectory()
  writeFileSync(directory.path, 'a file')
  await expect(startEmbeddedPostgres({ dataDir: directory.path })).rejects.toMatchObject({
    code: 'DATA_DIR_UNWRITABLE',
    message: expect.stringContaining(directory.path),
  })
  await expect(startEmbeddedPostgres({ dataDir: '/proc/aldis' })).rejects.toMatchObject({
    code: 'DATA_DIR_UNWRITABLE',
  })
})

test('a server that does not start says why in one line', async () => {
  const first = await startEmbeddedPostgres({ dataDir: directory.path })
  await first.stop()
  writeFileSync(join(directory.path, 'cluster', 'postgresql.auto.conf'), "shared_buffers = 'plenty'\n")
  const failure = startEmbeddedPostgres({ dataDir: directory.path })
  await expect(failure).rejects.toMatchObject({
    code: 'START_FAILED',
    message: expect.stringMatching(/FATAL.+$/),
  })
  writeFileSync(join(directory.path, 'cluster', 'postgresql.auto.conf'), '')
})
