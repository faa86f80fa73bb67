import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AldisClient } from '../../client/src/index.ts'
import { signWebhook } from '../../src/domain/webhooks/requests.ts'
import { STRICT_CALLBACK_POLICY } from '../support/callback-policy.ts'
import { ROOT, type Running, scratchFolder, start } from '../support/process.ts'
import { eventually, INBOUND_NUMBER, type Service, startService } from '../support/service.ts'

const folder = scratchFolder()
const file = join(folder.path, 'events.db')
let service: Service
let receiver: Running
let servicePlanId: string
let url: string

/** The example as a person starts it; on a port of its own. */
async function startReceiver(): Promise<void> {
  const args = [join(ROOT, 'examples/receiver.ts'), '--port', url === undefined ? '0' : new URL(url).port]
  receiver = start(process.execPath, [...args, '--file', file], {
    env: {
      ALDIS_WEBHOOK_SECRETS: service.webhookSecret,
      ALDIS_URL: service.app.url,
      ALDIS_TOKEN: service.token,
      ALDIS_PLAN: service.servicePlanId,
    },
  })
  url = await receiver.until(() => /http:\/\/localhost:\d+/.exec(receiver.stdout)?.[0])
}

beforeAll(async () => {
  service = await startService({
    webhooks: false,
    app: { callbackPolicy: { ...STRICT_CALLBACK_POLICY, allowLoopback: true } },
  })
  servicePlanId = service.servicePlanId
  await startReceiver()
  // Else what is sent now may come by the feed first.
  await eventually(hasReadFeed)
  await service.admin('PATCH', `/accounts/${service.accountId}`, { defaultDlrUrl: `${url}/receipts` })
  await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { inboundUrl: `${url}/inbound` })
})
afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

/** Whether it has written down how far it has read the feed. */
function hasReadFeed(): boolean {
  using events = new DatabaseSync(file, { readOnly: true })
  return events.prepare('select 1 from feeds').get() !== undefined
}

/** An event of a message, POSTed by hand. */
async function post(id: string, body = `{"msgId":"${id}","status":"SENT"}`, secret = service.webhookSecret) {
  const headers = { ...signWebhook({ id, timestampMs: Date.now(), body }, [secret]) }
  return (await fetch(url, { method: 'POST', headers, body })).status
}

const client = () => new AldisClient({ baseUrl: service.app.url, token: service.token })

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

const printed = (line: string) => receiver.until(() => receiver.stdout.includes(`${line}\n`))
const times = (line: string) => receiver.stdout.split(`${line}\n`).length - 1

describe('with the service', () => {
  it('receipts come, in their order', async () => {
    const msgIds = await Promise.all(Array.from({ length: 20 }, () => service.sent()))
    for (const msgId of msgIds) {
      await printed(`receipt ${msgId} DELIVERED`)
      const statuses = [...receiver.stdout.matchAll(new RegExp(`^receipt ${msgId} (\\w+)$`, 'gm'))]
      expect(statuses.map(([, status]) => status)).toEqual(['SENT', 'DELIVERED'])
    }
    using events = new DatabaseSync(file, { readOnly: true })
    const rows = events
      .prepare('select event from events where id like ? order by position')
      .all(`${msgIds[0]}-%`)
    expect(rows.map(({ event }) => JSON.parse(String(event)))).toMatchObject([
      { eventId: `${msgIds[0]}-1`, attempt: 1, sequence: 1, data: { msgId: msgIds[0], status: 'SENT' } },
      { eventId: `${msgIds[0]}-2`, attempt: 1, sequence: 2, data: { msgId: msgIds[0], status: 'DELIVERED' } },
    ])
  })

  it('an inbound message comes, with its keyword', async () => {
    await service.simulator.sendInbound({ from: '+15551230002', to: INBOUND_NUMBER, body: 'stop it' })
    await receiver.until(() => /^inbound [\da-f-]{36} STOP$/m.test(receiver.stdout))
  })
})

it('a test event is answered, and told from the others', async () => {
  const test = await client().sendTestWebhook({ servicePlanId, type: 'inboundMessage' })
  expect(test).toMatchObject({ delivered: true, responseStatus: 200 })
  await printed('test inboundMessage')
  expect(receiver.stdout).not.toContain(test.eventId)
})

it('an event that is delivered again by hand is known', async () => {
  const msgId = await service.sent()
  await printed(`receipt ${msgId} DELIVERED`)
  const eventId = `${msgId}-2`
  const delivered = () => client().getWebhookEvent({ servicePlanId, eventId })
  await eventually(async () => (await delivered()).state === 'delivered')
  await client().redeliverWebhookEvent({ servicePlanId, eventId })
  await printed(`repeated ${eventId}`)
  expect(times(`receipt ${msgId} DELIVERED`)).toBe(1)
})

it('its destination can be paused and resumed', async () => {
  const destination = { servicePlanId, destination: url }
  const states = async () =>
    (await all(client().items('listWebhookDestinations', { servicePlanId }))).map(({ state }) => state)
  await client().pauseWebhookDestination(destination)
  expect(await states()).toEqual(['paused'])
  const msgId = await service.sent()
  await client().resumeWebhookDestination(destination)
  await printed(`receipt ${msgId} DELIVERED`)
  const events = await all(client().items('listWebhookEvents', { servicePlanId, msgId, limit: 1 }))
  expect(events.map(({ eventId }) => eventId).sort()).toEqual([`${msgId}-1`, `${msgId}-2`])
})

describe('what no webhook brought', () => {
  it('is read from the feed after the next start, and only that', async () => {
    const brought = await service.sent()
    await printed(`receipt ${brought} DELIVERED`)
    receiver.kill('SIGTERM')
    await receiver.exited
    await service.admin('PATCH', `/accounts/${service.accountId}`, { defaultDlrUrl: null })
    const missed = await service.sent()
    const inFeed = async () => {
      const { items } = await client().listEvents({ servicePlanId, limit: 1_000 })
      return items.some(({ eventId }) => eventId === `${missed}-2`)
    }
    await eventually(inFeed)
    await startReceiver()
    await printed(`receipt ${missed} DELIVERED`)
    expect(receiver.stdout.split('\n').slice(-4)).toEqual([
      'caught up 2',
      `receipt ${missed} SENT`,
      `receipt ${missed} DELIVERED`,
      '',
    ])
    expect(receiver.stdout).not.toContain(brought)
  })
})

describe('an event', () => {
  it('that comes twice is worked on once, after a kill -9 too', async () => {
    expect(await post('again-1')).toBe(200)
    await printed('receipt again-1 SENT')
    expect(await Promise.all([post('again-1'), post('again-1')])).toEqual([200, 200])
    await receiver.until(() => times('repeated again-1') === 2)

    receiver.kill('SIGKILL')
    await receiver.exited
    await startReceiver()
    expect(await post('again-1')).toBe(200)
    await printed('repeated again-1')
    expect(times('receipt again-1 SENT')).toBe(0)
  })

  it('that was written down and not worked on is worked on after the start', async () => {
    receiver.kill('SIGTERM')
    expect(await receiver.exited).toMatchObject({ code: 0, stderr: '' })
    const events = new DatabaseSync(file)
    const event = { type: 'deliveryReceipt', data: { msgId: 'left-1', status: 'FAILED' } }
    events.prepare('insert into events (id, event) values (?, ?)').run('left-1', JSON.stringify(event))
    events.close()
    await startReceiver()
    await printed('receipt left-1 FAILED')
  })

  it('of a type that is newer is taken', async () => {
    expect(await post('new-1', '{"of":"later"}')).toBe(200)
    await printed('unknown new-1')
  })
})

describe('what is refused', () => {
  it('not signed, or by somebody else', async () => {
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401)
    await printed('refused MISSING_HEADER')
    const other = `whsec_${Buffer.alloc(32).toString('base64')}`
    expect(await post('forged-1', undefined, other)).toBe(401)
    await printed('refused WRONG_SIGNATURE')
    expect(receiver.stdout).not.toContain('forged-1')
  })

  it('not POSTed, or too long', async () => {
    expect((await fetch(url)).status).toBe(405)
    expect(await post('long-1', 'x'.repeat(1_048_577))).toBe(413)
    expect(await post('after-1')).toBe(200)
  })
})

it('does not start without a secret', async () => {
  const lonely = start(process.execPath, [join(ROOT, 'examples/receiver.ts'), '--port', '0'])
  await using _ = lonely
  const { code, stderr } = await lonely.exited
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^ALDIS_WEBHOOK_SECRETS: .+\n$/),
  })
})
