import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { runAldis as runCommand } from '../support/cli.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import {
  type Exit,
  freePort,
  lookUp,
  provision,
  runAldis,
  SERVE_SECRETS,
  type Served,
  scratchFolder,
  send,
  serverProcesses,
  startServe,
} from '../support/process.ts'

/** Of one that is to be refused: what it logs before that is not asked for. */
const REFUSED = { ...SERVE_SECRETS, LOG_LEVEL: 'warn', HTTP_HOST: '127.0.0.1', HTTP_PORT: '0' }

/** Tried for some seconds, beside the other tests; a process, so that one that is refused is seen to end by itself. */
let unreachable: Promise<Exit>
beforeAll(async () => {
  const nowhere = `postgresql://u:hunter2@127.0.0.1:${await freePort()}/x`
  unreachable = runAldis(['serve'], { env: { ...REFUSED, DATABASE_URL: nowhere } })
})

test('without DATABASE_URL: one line, and no database is made', async () => {
  using folder = scratchFolder()
  const exit = await runCommand(['serve'], { env: { ...SERVE_SECRETS, DATA_DIR: folder.path } })
  expect(exit).toMatchObject({ code: 1, stdout: '' })
  expect(exit.stderr).toMatch(/^error: DATABASE_URL is required: .+ or embedded, .+\n$/)
  expect(readdirSync(folder.path)).toEqual([])
})

test.each([
  ['HTTP_PORT', 'by another'],
  ['OPERATOR_PORT', 'by another'],
  ['OPERATOR_PORT', 'by HTTP_PORT'],
])('%s in use, %s: one line, and no database is made', async (setting, by) => {
  using folder = scratchFolder()
  await using taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const port = by === 'by another' ? (taken.address() as AddressInfo).port : await freePort()
  const ports = by === 'by another' ? {} : { HTTP_PORT: String(port) }
  const exit = await runCommand(['serve'], {
    env: { ...REFUSED, ...ports, DATABASE_URL: 'embedded', DATA_DIR: folder.path, [setting]: String(port) },
  })
  expect(exit).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `error: port ${port} is in use; choose another with ${setting}\n`,
  })
  expect(readdirSync(folder.path)).toEqual([])
})

test('the faults of the configuration are listed all at once, and none repeats a secret', async () => {
  const exit = await runCommand(['serve'], {
    env: { DATABASE_URL: 'mysql://u:hunter2hunter2@db/x', SECRET_KEY: 'hunter2', HTTP_PORT: '99999' },
  })
  expect(exit).toMatchObject({ code: 1, stdout: '' })
  const lines = exit.stderr.trimEnd().split('\n')
  expect(lines.map((line) => line.trim().split(' ')[0])).toEqual([
    'error:',
    'DATABASE_URL',
    'HTTP_PORT',
    'SECRET_KEY',
    'OPERATOR_TOKEN',
  ])
  expect(exit.stderr).not.toContain('hunter2')
})

test('with its own database: live, ready, set up over HTTP, delivers, ends at SIGTERM with nothing left', async () => {
  using folder = scratchFolder()
  const simulator = await startSimulator({ port: 0 })
  const dataDir = join(folder.path, 'data')
  await using service = await startServe({ DATABASE_URL: 'embedded', DATA_DIR: dataDir })
  for (const path of ['/livez', '/readyz']) {
    const { status } = await fetch(`${service.baseUrl}${path}`)
    expect([path, status]).toEqual([path, 200])
  }
  const access = await provision(service, simulator.port)
  const { json } = await send(access)
  await eventually(async () => (await lookUp(access, json.msgId)).json.status === 'DELIVERED')
  service.running.kill('SIGTERM')
  expect(await service.running.exited).toMatchObject({ code: 0, signal: null, stdout: '' })
  expect(serverProcesses(dataDir)).toEqual([])
  await simulator.stop()
})

describe('one that runs', () => {
  const secrets = { to: '+15551237777', body: 'a secret text' }
  let database: FreshDatabase
  let simulator: Simulator
  let service: Served
  let token: string

  beforeAll(async () => {
    database = await freshDatabase({ state: 'started' })
    simulator = await startSimulator({ port: 0 })
    service = await startServe({ DATABASE_URL: database.connectionString, LOG_LEVEL: 'trace' })
    const access = await provision(service, simulator.port)
    token = access.token
    const { json } = await send(access, secrets)
    await eventually(async () => (await lookUp(access, json.msgId)).json.status === 'DELIVERED')
  })
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]()
    await simulator?.stop()
    await database?.[Symbol.asyncDispose]()
  })

  test('has its port: another is refused in one line', async () => {
    const { port } = new URL(service.baseUrl)
    const second = await runCommand(['serve'], {
      env: { ...REFUSED, DATABASE_URL: database.connectionString, HTTP_PORT: port },
    })
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toBe(`error: port ${port} is in use; choose another with HTTP_PORT\n`)
  })

  test('is not ready once its database has turned unsafe', async () => {
    const name = new URL(database.connectionString).pathname.slice(1)
    await database.db.query(`alter database ${name} set synchronous_commit = off`)
    // New sessions have it: the present ones are ended.
    await database.db.query(`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`)
    await eventually(async () => (await fetch(`${service.baseUrl}/readyz`)).status === 503)
    expect((await fetch(`${service.baseUrl}/livez`)).status).toBe(200)
  })

  test('has logged JSON on every line, without the number or the text of a message', async () => {
    service.running.kill('SIGTERM')
    const { code, stderr } = await service.running.exited
    expect(code).toBe(0)
    const lines = stderr.trimEnd().split('\n')
    expect(lines.length).toBeGreaterThan(20)
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow()
    expect(stderr).not.toMatch(/5551237777|a secret text/)
    expect(stderr).not.toContain(token)
  })
})

test('a database with synchronous_commit off is refused, unless that is wanted', async () => {
  await using database = await freshDatabase({ state: 'started' })
  const name = new URL(database.connectionString).pathname.slice(1)
  await database.db.query(`alter database ${name} set synchronous_commit = off`)
  const env = { ...REFUSED, DATABASE_URL: database.connectionString }
  const exit = await runCommand(['serve'], { env })
  expect(exit).toMatchObject({ code: 1, stdout: '' })
  expect(exit.stderr).toMatch(/^error: the database can lose accepted messages \(.*synchronous_commit.*\n$/)
  await using service = await startServe({ ...env, LOG_LEVEL: 'info', ALLOW_UNSAFE_DURABILITY: 'on' })
  expect((await fetch(`${service.baseUrl}/readyz`)).status).toBe(200)
})

test('a database that cannot be reached: one line, without its password', async () => {
  const { code, stderr } = await unreachable
  expect(code).toBe(1)
  expect(stderr).toMatch(/^error: the database cannot be reached: .*ECONNREFUSED.*\n$/)
  expect(stderr).not.toContain('hunter2')
})
