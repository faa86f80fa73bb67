import { appendFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signWebhook } from '../../src/domain/webhooks/requests.ts'
import { STRICT_CALLBACK_POLICY } from '../support/callback-policy.ts'
import { type Running, scratchFolder, start } from '../support/process.ts'
import { INBOUND_NUMBER, type Service, startService } from '../support/service.ts'

const FIXTURE = fileURLToPath(import.meta.resolve('./receiver-from-docs.ts'))
const OTHER_SECRET = `whsec_${Buffer.alloc(32).toString('base64')}`

const folder = scratchFolder()
const journal = join(folder.path, 'events.jsonl')
let service: Service
let receiver: Running
let port = '0'
let url: string

function run(args: readonly string[]): Running {
  return start(process.execPath, [FIXTURE, ...args], {
    env: {
      ALDIS_WEBHOOK_SECRETS: `${OTHER_SECRET} ${service.webhookSecret}`,
      ALDIS_URL: service.app.url,
      ALDIS_TOKEN: service.token,
      ALDIS_PLAN: service.servicePlanId,
    },
  })
}

/** `feedEvery`: seconds; webhooks come first where the feed is not to be read again. */
async function startReceiver(feedEvery = 3_600): Promise<void> {
  receiver = run(['serve', '--port', port, '--journal', journal, '--feed-every', `${feedEvery}`])
  port = await receiver.until(() => /"listening":(\d+)/.exec(receiver.stdout)?.[1])
  url = `http://localhost:${port}`
}

async function stopReceiver(): Promise<void> {
  receiver.kill('SIGTERM')
  expect(await receiver.exited).toMatchObject({ code: 0, stderr: '' })
}

/** What a command of the fixture answers. */
// biome-ignore lint/suspicious/noExplicitAny: any JSON
async function command(...args: string[]): Promise<any> {
  await using running = run(args)
  const { code, stdout, stderr } = await running.exited
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

const lines = () =>
  receiver.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
const printed = (what: Record<string, unknown>) =>
  receiver.until(() =>
    lines().some((line) => Object.entries(what).every(([name, value]) => line[name] === value)),
  )
const of = (msgId: string) => lines().filter(({ event }) => String(event).startsWith(`${msgId}-`))
const setDlrUrl = (defaultDlrUrl: string | null) =>
  service.admin('PATCH', `/accounts/${service.accountId}`, { defaultDlrUrl })

/** The event of a message that is not there, POSTed by hand. */
async function post(id: string, { secret = service.webhookSecret, secondsAgo = 0, changed = '' } = {}) {
  const body = JSON.stringify({ msgId: id.slice(0, id.lastIndexOf('-')), direction: 'MT', status: 'SENT' })
  const timestampMs = Date.now() - secondsAgo * 1_000
  const headers = { ...signWebhook({ id, timestampMs, body }, [secret]) }
  return (await fetch(url, { method: 'POST', headers, body: body + changed })).status
}

/** Between service and receiver: does to the first requests what it is told, and passes on the others. */
async function startBetween(first: ('lose the answer' | 410)[]): Promise<{ url: string; server: Server }> {
  const server = createServer(async (request, response) => {
    const what = first.shift()
    if (what === 410) return response.writeHead(410).end()
    const body = await new Response(request as unknown as ReadableStream).arrayBuffer()
    const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
    const headers = Object.fromEntries(signed.map((name) => [name, String(request.headers[name])]))
    const { status } = await fetch(url, { method: 'POST', headers, body })
    if (what === 'lose the answer') return response.destroy()
    return response.writeHead(status).end()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return { url: `http://localhost:${(server.address() as AddressInfo).port}`, server }
}

beforeAll(async () => {
  const callbackPolicy = { ...STRICT_CALLBACK_POLICY, allowLoopback: true }
  service = await startService({ webhooks: false, app: { callbackPolicy } })
  await startReceiver()
  await setDlrUrl(`${url}/receipts`)
  await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { inboundUrl: `${url}/inbound` })
})
afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

describe('webhooks', () => {
  it('receipts come, each once and in their order', async () => {
    const msgIds = await Promise.all(Array.from({ length: 10 }, () => service.sent()))
    for (const msgId of msgIds) {
      await printed({ event: `${msgId}-2` })
      expect(of(msgId)).toEqual([
        { event: `${msgId}-1`, via: 'webhook', status: 'SENT' },
        { event: `${msgId}-2`, via: 'webhook', status: 'DELIVERED' },
      ])
    }
  })

  it('an inbound message comes', async () => {
    await service.simulator.sendInbound({ from: '+15551230002', to: INBOUND_NUMBER, body: 'Good evening' })
    await printed({ via: 'webhook', body: 'Good evening' })
  })

  it('an event that overtook another waits for it', async () => {
    expect(await post('overtaken-2')).toBe(200)
    expect(await post('overtaken-1')).toBe(200)
    await printed({ event: 'overtaken-2' })
    expect(of('overtaken').map(({ event }) => event)).toEqual(['overtaken-1', 'overtaken-2'])
  })

  it('a retry is known where the answer was lost', async () => {
    const between = await startBetween(['lose the answer'])
    try {
      const msgId = await service.sent({ callbackUrl: between.url })
      await printed({ event: `${msgId}-1` })
      await receiver.until(async () => {
        await service.makeDue()
        return of(msgId).length === 2
      })
      expect(lines()).toContainEqual({ repeated: `${msgId}-1` })
      expect(of(msgId).map(({ status }) => status)).toEqual(['SENT', 'DELIVERED'])
    } finally {
      between.server.close()
    }
  })
})

describe('what is forged is refused', () => {
  it.each([
    ['by another secret', { secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` }],
    ['a body that was changed', { changed: ' ' }],
    ['an old request', { secondsAgo: 400 }],
    ['a request from the future', { secondsAgo: -400 }],
  ])('%s', async (name, how) => {
    const id = `${name.replaceAll(' ', '_')}-1`
    expect(await post(id, how)).toBe(401)
    await printed({ refused: id })
    expect(of(name.replaceAll(' ', '_'))).toEqual([])
  })

  it('one without a signature', async () => {
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401)
    await printed({ refused: null })
  })
})

describe('after it was away', () => {
  it('the feed brings what no webhook brought, in order, and the webhooks that follow are known', async () => {
    const brought = await service.sent()
    await printed({ event: `${brought}-2` })
    await stopReceiver()
    appendFileSync(journal, '{"events":[{"eventId":"cut')
    await setDlrUrl(null)
    const missed = await service.sent()
    await startReceiver(1)
    await printed({ event: `${missed}-2` })
    expect(of(missed)).toEqual([
      { event: `${missed}-1`, via: 'feed', status: 'SENT' },
      { event: `${missed}-2`, via: 'feed', status: 'DELIVERED' },
    ])
    expect(of(brought)).toEqual([])

    await setDlrUrl(`${url}/receipts`)
    expect(await command('redeliver', '--state', 'kept')).toEqual({ redelivered: 2 })
    await printed({ repeated: `${missed}-2` })
    expect(of(missed)).toHaveLength(2)
  })

  it('an inbound message without URL is delivered when there is one', async () => {
    const plan = `/service-plans/${service.servicePlanId}`
    await service.admin('PATCH', plan, { inboundUrl: null })
    await service.simulator.sendInbound({ from: '+15551230002', to: INBOUND_NUMBER, body: 'Nobody there' })
    await printed({ via: 'feed', body: 'Nobody there' })
    await service.admin('PATCH', plan, { inboundUrl: `${url}/inbound` })
    const { event } = lines().find(({ body }) => body === 'Nobody there')!
    expect(await command('redeliver', '--state', 'kept')).toEqual({ redelivered: 1 })
    await printed({ repeated: event })
  })
})

describe('by hand', () => {
  it('a test event is sent, and told from the others', async () => {
    const test = await command('test', '--url', `${url}/try`)
    expect(test).toMatchObject({ delivered: true, responseStatus: 200 })
    await printed({ test: 'MT' })
    expect(receiver.stdout).not.toContain(test.eventId)
  })

  it('failed events are listed and redelivered', async () => {
    const between = await startBetween([410, 410])
    try {
      const msgId = await service.sent({ callbackUrl: between.url })
      const failed = await receiver.until(async () => {
        const events: { eventId: string; responseStatus: number }[] = await command('failed')
        return events.length === 2 && events
      })
      expect(failed.map(({ eventId, responseStatus }) => [eventId, responseStatus]).sort()).toEqual([
        [`${msgId}-1`, 410],
        [`${msgId}-2`, 410],
      ])
      await printed({ event: `${msgId}-2`, via: 'feed' })
      expect(await command('redeliver')).toEqual({ redelivered: 2 })
      await printed({ repeated: `${msgId}-2` })
      expect(await command('failed')).toEqual([])
    } finally {
      between.server.close()
    }
  })

  it('its destination is paused and resumed', async () => {
    expect(await command('pause', '--url', url)).toMatchObject({ destination: url, state: 'paused' })
    // It takes some seconds until the node knows.
    const held = async () => {
      const msgId = await service.sent()
      await printed({ event: `${msgId}-2` })
      return of(msgId)[1]!.via === 'feed' && msgId
    }
    const msgId = await receiver.until(held)
    expect((await command('resume', '--url', url)).state).not.toBe('paused')
    await printed({ repeated: `${msgId}-2` })
  })
})
