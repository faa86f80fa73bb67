import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runAldis as runCommand } from '../support/cli.ts'
import { databaseOfFile } from '../support/database.ts'
import {
  freePort,
  MAIN,
  runAldis,
  SERVE_SECRETS,
  scratchFolder,
  start,
  startServe,
} from '../support/process.ts'

const database = await databaseOfFile({ state: 'started' })
const env = { DATABASE_URL: database.connectionString, OPERATOR_PORT: '0' }

function operatorUrl(service: { running: { stderr: string } }): string {
  return `http://127.0.0.1:${/"operatorPort":(\d+)/.exec(service.running.stderr)?.[1]}`
}

async function statusOf(base: string, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${SERVE_SECRETS.OPERATOR_TOKEN}` }
  return (await fetch(`${base}${path}`, { headers })).status
}

test('operators have a listener of their own, and a restored database starts with its carriers stopped', async () => {
  {
    await using service = await startServe(env)
    const operators = operatorUrl(service)
    const paths = ['/readyz', '/admin/v1/carriers', '/metrics', '/v1/messages/sms', '/openapi.json']
    const statuses = (base: string) => Promise.all(paths.map((path) => statusOf(base, path)))
    expect(await statuses(service.baseUrl)).toEqual([200, 404, 404, 401, 200])
    expect(await statuses(operators)).toEqual([200, 200, 200, 404, 200])
    for (const name of ['one', 'two']) {
      const { status } = await fetch(`${operators}/admin/v1/carriers`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${SERVE_SECRETS.OPERATOR_TOKEN}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ name, host: '127.0.0.1', port: 1, systemId: 'esme', password: 'secret' }),
      })
      expect(status).toBe(201)
    }
    service.running.kill('SIGTERM')
    expect(await service.running.exited).toMatchObject({ code: 0 })
  }
  await using restored = await startServe(env, ['--carriers-stopped'])
  expect(restored.running.stderr).toContain('"carriers":["one","two"]')
  const answer = await fetch(`${operatorUrl(restored)}/admin/v1/carriers`, {
    headers: { authorization: `Bearer ${SERVE_SECRETS.OPERATOR_TOKEN}` },
  })
  const { items } = (await answer.json()) as { items: { state: string }[] }
  expect(items.map(({ state }) => state)).toEqual(['stopped', 'stopped'])
})

/** Runs the rest with an /etc/hosts that has both addresses of localhost, where this machine lets us give it one. */
const WITH_HOSTS = `
hosts=$1
shift
bound='mount --bind "$0" /etc/hosts && exec "$@"'
unshare -Urm sh -c "$bound" "$hosts" true 2>/dev/null && exec unshare -Urm sh -c "$bound" "$hosts" "$@"
exec "$@"`

test('each listener of localhost is at one address, without another server beside it', async () => {
  using folder = scratchFolder()
  const hosts = join(folder.path, 'hosts')
  writeFileSync(hosts, '127.0.0.1 localhost\n::1 localhost\n')
  const [command, ...args] = ['sh', '-c', WITH_HOSTS, 'sh', hosts, process.execPath, MAIN, 'serve'] as const
  const ports = { HTTP_PORT: `${await freePort()}`, OPERATOR_PORT: `${await freePort()}` }
  const local = { HTTP_HOST: 'localhost', OPERATOR_HOST: 'localhost', ...ports }
  await using running = start(command, args, { env: { ...SERVE_SECRETS, ...env, ...local } })
  await running.until(() => running.stderr.includes('aldis is ready'), 60_000)
  const answering = async (port: string) =>
    (await Promise.all(['127.0.0.1', '::1'].map((host) => answers(host, Number(port))))).filter(Boolean)
  expect(await answering(ports.HTTP_PORT)).toEqual([true])
  expect(await answering(ports.OPERATOR_PORT)).toEqual([true])
})

async function answers(host: string, at: number): Promise<boolean> {
  const socket = connect(at, host)
  const outcome = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return outcome
}

describe('a start that fails names what can be set', () => {
  const refused = async (settings: NodeJS.ProcessEnv, run: typeof runCommand = runCommand) => {
    const base = { ...SERVE_SECRETS, ...env, HTTP_HOST: '127.0.0.1', HTTP_PORT: '0', LOG_LEVEL: 'warn' }
    const { code, stderr } = await run(['serve'], { env: { ...base, ...settings } })
    expect(code).toBe(1)
    return stderr
  }

  test('a port of the operators that is in use, by another or by HTTP_PORT', async () => {
    await using taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const line = (of: number) => `error: port ${of} is in use; choose another with OPERATOR_PORT\n`
    // A process: nothing of the other listener keeps it.
    expect(await refused({ OPERATOR_PORT: String(port) }, runAldis)).toBe(line(port))
    const free = await freePort()
    expect(await refused({ HTTP_PORT: String(free), OPERATOR_PORT: String(free) })).toBe(line(free))
  })

  test('a host that does not resolve, and one that is not of this machine', async () => {
    // Too long for a name: nobody is asked for its addresses.
    const impossible = 'x'.repeat(64)
    expect(await refused({ HTTP_HOST: impossible })).toMatch(
      /^error: nothing can listen at x+: .+; choose another address with HTTP_HOST\n$/,
    )
    expect(await refused({ OPERATOR_HOST: '192.0.2.1' })).toMatch(
      /^error: nothing can listen at 192\.0\.2\.1: .+; choose another address with OPERATOR_HOST\n$/,
    )
  })

  test('a database behind a socket that is not there', async () => {
    using folder = scratchFolder()
    const socket = encodeURIComponent(folder.path)
    const settings = { DATABASE_URL: `postgresql://u:hunter2@localhost/x?host=${socket}`, OPERATOR_PORT: '' }
    const stderr = await refused(settings)
    expect(stderr).toMatch(/^error: the database cannot be reached: connect ENOENT .+\n$/)
  })
})
