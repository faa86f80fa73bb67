import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
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

const database = await databaseOfFile()
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

test('a port of the operators that is in use is named', async () => {
  await using taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const { code, stderr } = await runAldis(['serve'], {
    env: {
      ...SERVE_SECRETS,
      ...env,
      HTTP_HOST: '127.0.0.1',
      HTTP_PORT: '0',
      OPERATOR_PORT: String(port),
      LOG_LEVEL: 'warn',
    },
  })
  expect([code, stderr]).toEqual([1, `error: port ${port} is in use; choose another with OPERATOR_PORT\n`])
})
