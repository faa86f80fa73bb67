import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startEmbeddedPostgres } from '../../src/postgres/embedded-server.ts'
import { directoryOfFile, hold, isAlive, keepOne, killed, postmasterOf, query, release } from './holding.ts'

const directory = directoryOfFile()

test('kill -9 of the server: it runs again by itself at the same address, with all that was committed', async () => {
  const lines: string[] = []
  const server = await startEmbeddedPostgres({ dataDir: directory.path, log: (line) => lines.push(line) })
  await keepOne(server.connectionString)
  const pid = postmasterOf(directory.path)
  process.kill(pid, 'SIGKILL')
  await expect
    .poll(() => query(server.connectionString, 'select one from kept').catch(() => []))
    .toEqual([{ one: 1 }])
  expect(postmasterOf(directory.path)).not.toBe(pid)
  expect(lines).toEqual([expect.stringContaining('ended unexpectedly (SIGKILL)')])
  await server.stop()
})

test('a server that cannot be started again is reported once', async () => {
  const server = await startEmbeddedPostgres({ dataDir: directory.path })
  const exit = new Promise((resolve) => server.onExit(resolve))
  writeFileSync(join(directory.path, 'cluster', 'postgresql.auto.conf'), "shared_buffers = 'plenty'\n")
  process.kill(postmasterOf(directory.path), 'SIGKILL')
  expect(await exit).toEqual({ code: null, signal: 'SIGKILL' })
  await server.stop()
  writeFileSync(join(directory.path, 'cluster', 'postgresql.auto.conf'), '')
})

test('kill -9 of the service: the server does not linger, and the next start has everything', async () => {
  const holder = hold(directory.path)
  const { connectionString } = await holder.line()
  await keepOne(connectionString!)
  const pid = postmasterOf(directory.path)
  await killed(holder)
  await expect.poll(() => isServer(pid)).toBe(false)
  const server = await startEmbeddedPostgres({ dataDir: directory.path })
  expect(await query(server.connectionString, 'select one from kept')).toEqual([{ one: 1 }])
  await server.stop()
})

test('kill -9 and a start in the same instant: the old server is waited for', async () => {
  const holder = hold(directory.path)
  const { connectionString } = await holder.line()
  await keepOne(connectionString!)
  await killed(holder)
  const server = await startEmbeddedPostgres({ dataDir: directory.path })
  expect(server.connectionString).toBe(connectionString)
  expect(await query(server.connectionString, 'select one from kept')).toEqual([{ one: 1 }])
  await server.stop()
})

test('a server that was left running is stopped first', async () => {
  const holder = hold(directory.path)
  const { connectionString } = await holder.line()
  await keepOne(connectionString!)
  const left = postmasterOf(directory.path)
  // Without the watcher, which would stop the server when its service is gone.
  for (const pid of watchersOf(left)) process.kill(pid, 'SIGKILL')
  await killed(holder)
  expect(isServer(left)).toBe(true)
  const lines: string[] = []
  const server = await startEmbeddedPostgres({ dataDir: directory.path, log: (line) => lines.push(line) })
  expect(isServer(left)).toBe(false)
  expect(lines).toEqual([expect.stringContaining('an earlier run had left')])
  expect(await query(server.connectionString, 'select one from kept')).toEqual([{ one: 1 }])
  await server.stop()
})

test('backends whose postmaster was killed are cleared before the next start', async () => {
  const holder = hold(directory.path)
  const { connectionString } = await holder.line()
  const postmaster = postmasterOf(directory.path)
  for (const pid of watchersOf(postmaster)) process.kill(pid, 'SIGKILL')
  // A busy backend notices only at its end that the postmaster has gone.
  const busy = query(connectionString!, `select count(*) from generate_series(1, 100000000000)`).catch(
    () => 'ended',
  )
  await expect
    .poll(() =>
      query(connectionString!, `select 1 from pg_stat_activity where query like '%generate_series(1%'`),
    )
    .not.toEqual([])
  await killed(holder)
  process.kill(postmaster, 'SIGKILL')
  const server = await startEmbeddedPostgres({ dataDir: directory.path })
  expect(await busy).toBe('ended')
  expect(await query(server.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
  await server.stop()
})

test('another process on the directory gets one line and ends', async () => {
  const server = await startEmbeddedPostgres({ dataDir: directory.path })
  const holder = hold(directory.path)
  expect(await holder.line()).toEqual({
    code: 'DATA_DIR_IN_USE',
    message: expect.stringContaining('in use by another aldis process'),
  })
  await release(holder)
  await server.stop()
})

test("the terminal's Ctrl-C reaches the service alone", async () => {
  const holder = hold(directory.path)
  const { connectionString } = await holder.line()
  const pid = postmasterOf(directory.path)
  process.kill(-holder.child.pid!, 'SIGINT')
  expect(await holder.line()).toEqual({ heard: 'SIGINT' })
  expect(await query(connectionString!, 'select 1 as one')).toEqual([{ one: 1 }])
  expect(postmasterOf(directory.path)).toBe(pid)
  await release(holder)
  expect(isServer(pid)).toBe(false)
})

test('where user namespaces are forbidden it runs all the same, and not as root', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'aldis open-'))
  chmodSync(parent, 0o755)
  const programs = join(parent, 'bin')
  mkdirSync(programs)
  // As unshare(1) answers where the kernel forbids it.
  writeFileSync(
    join(programs, 'unshare'),
    '#!/bin/sh\necho "unshare failed: Operation not permitted" >&2\nexit 1\n',
  )
  chmodSync(join(programs, 'unshare'), 0o755)
  const dataDir = join(parent, 'data')
  for (const round of [1, 2]) {
    const holder = hold(dataDir, { ...process.env, PATH: `${programs}:${process.env.PATH}` })
    const { connectionString, message } = await holder.line()
    expect([round, message]).toEqual([round, undefined])
    expect(await query(connectionString!, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(statSync(`/proc/${postmasterOf(dataDir)}`).uid).not.toBe(0)
    await release(holder)
  }
  rmSync(parent, { recursive: true })
})

/** Looks at the program, so that a zombie or a reused number does not count. */
function isServer(pid: number): boolean {
  try {
    return isAlive(pid) && readlinkSync(`/proc/${pid}/exe`).endsWith('/postgres')
  } catch {
    return false
  }
}

/** The shells that wait for the service of server `pid` to end: its number is their last argument. */
function watchersOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0')
        return words[0] === '/bin/sh' && words.at(-2) === String(pid)
      } catch {
        return false
      }
    })
    .map(Number)
}
