import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatWebhookSecret, signWebhook } from '../../src/domain/webhooks/requests.ts'
import { type HttpService, PLAN, startHttpService, TOKEN } from '../support/http-service.ts'
import { ROOT, type Running, start } from '../support/process.ts'

const SECRETS = [formatWebhookSecret(randomBytes(32)), formatWebhookSecret(randomBytes(32))]
const EDGE = join(ROOT, 'test/support/edge-runtime.ts')
const WORKER = join(ROOT, 'examples/edge-receiver.ts')

const lines = (running: Running) =>
  running.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

async function startEdge(secrets: string, ...args: string[]) {
  const flags = ['--experimental-vm-modules', '--no-warnings']
  const env = { ALDIS_WEBHOOK_SECRETS: secrets }
  const running = start(process.execPath, [...flags, EDGE, WORKER, ...args], { env })
  const port: number = await running.until(
    () => running.stdout.includes('"port"') && lines(running).at(-1).port,
  )
  return { running, url: `http://127.0.0.1:${port}/hooks` }
}

describe('in a context without Node', () => {
  let service: HttpService
  let edge: Awaited<ReturnType<typeof startEdge>>

  beforeAll(async () => {
    service = await startHttpService()
    await service.send()
    edge = await startEdge(SECRETS.join(' '), `http://127.0.0.1:${service.port}`, TOKEN, PLAN)
  })
  afterAll(async () => {
    await edge?.running[Symbol.asyncDispose]()
    await service?.[Symbol.asyncDispose]()
  })

  it('there is nothing of it', () => {
    expect(lines(edge.running)[0]).toEqual({ globals: ['fetch'] })
  })

  it('the client works', () => {
    const [, listed, { refused }] = lines(edge.running)
    expect(listed).toEqual({ listed: 1 })
    expect(refused).toMatchObject({ name: 'AldisError', status: 400, errorCode: 'VALIDATION_ERROR' })
  })

  it.each(SECRETS.map((secret, index) => [index, secret] as const))(
    'an event is kept under its id, signed by secret %d',
    async (index, secret) => {
      const id = `01a1fbf8-b10c-7f19-92b9-534f86494a01-${index + 1}`
      const body = JSON.stringify({ msgId: '01a1fbf8-b10c-7f19-92b9-534f86494a01', status: 'SENT' })
      const headers = { ...signWebhook({ id, timestampMs: Date.now(), body }, [secret]) }
      expect((await fetch(edge.url, { method: 'POST', headers, body })).status).toBe(200)
      const { value } = await edge.running.until(() => lines(edge.running).find(({ key }) => key === id))
      expect(value).toMatchObject({ type: 'deliveryReceipt', eventId: id, data: JSON.parse(body) })
    },
  )

  it('what is not signed, not POSTed or too long is refused', async () => {
    const before = edge.running.stdout
    const post = { method: 'POST', body: '{}' }
    expect((await fetch(edge.url, post)).status).toBe(401)
    expect((await fetch(edge.url)).status).toBe(405)
    expect((await fetch(edge.url, { ...post, body: 'x'.repeat(1_048_577) })).status).toBe(413)
    expect(edge.running.stdout).toBe(before)
  })
})

it('set up without a secret it keeps nothing, and is sent the event again', async () => {
  const { running, url } = await startEdge('')
  await using _ = running
  const body = '{"msgId":"m","status":"SENT"}'
  const headers = { ...signWebhook({ id: 'm-1', timestampMs: Date.now(), body }, SECRETS) }
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(500)
  expect(running.stdout).not.toContain('"key"')
})
