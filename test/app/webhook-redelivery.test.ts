import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually, type Service } from '../support/service.ts'
import { serviceOfFile } from '../support/tenant-per-test.ts'
import { acknowledge, answerStatus } from '../support/webhook-receiver.ts'

const { tenant } = serviceOfFile()
let service: Service

beforeEach(async () => {
  service = await tenant()
})

afterEach(() => service[Symbol.asyncDispose]())

const event = (id: string) => service.admin('GET', `/webhook-events/${id}`)
const untilState = (id: string, state: string) =>
  eventually(async () => {
    const found = await event(id).catch(() => null)
    return found?.state === state && found
  })
const change = (verb: 'pause' | 'resume') =>
  service.admin('POST', `/webhook-destinations/${verb}`, {
    servicePlanId: service.servicePlanId,
    destination: service.receiver.origin,
  })
const redeliver = (query: Record<string, string> = {}) =>
  service.admin('POST', '/webhook-redeliveries', { servicePlanId: service.servicePlanId, ...query })
/** Id and attempt of the webhooks of a message, as they came. */
const came = (msgId: string) =>
  service.receiver.received
    .filter(({ body }) => body.includes(msgId))
    .map(({ headers }) => `${headers['webhook-id']} ${headers['aldis-attempt']}`)

test('a delivered event is sent again, under its id, as its next attempt', async () => {
  const msgId = await service.sent()
  await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  await service.admin('POST', `/webhook-events/${msgId}-1/redeliver`)
  await service.untilWebhooks(msgId, ['SENT', 'DELIVERED', 'SENT'])
  expect(came(msgId)).toEqual([`${msgId}-1 1`, `${msgId}-2 1`, `${msgId}-1 2`])
  const { attempts, attemptRecords } = await untilState(`${msgId}-1`, 'delivered')
  expect(attempts).toBe(2)
  expect(attemptRecords).toMatchObject([
    { attempt: 1, responseStatus: 200, responseHead: '{"ok":true}' },
    { attempt: 2, responseStatus: 200 },
  ])
})

test('what failed is delivered when it is asked for, each message in order', async () => {
  service.receiver.answerWith(answerStatus(410))
  const callbackUrl = `${service.receiver.origin}/own`
  const ids = await Promise.all([1, 2, 3].map(() => service.sent({ callbackUrl })))
  for (const msgId of ids) {
    await untilState(`${msgId}-1`, 'failed')
    await untilState(`${msgId}-2`, 'failed')
  }
  service.receiver.answerWith(acknowledge)
  const other = await redeliver({ destination: 'https://elsewhere.example.com' })
  expect(other).toEqual({ redelivered: 0, nextAfter: null })
  expect(await redeliver({ destination: service.receiver.origin })).toEqual({
    redelivered: 6,
    nextAfter: null,
  })
  for (const msgId of ids) {
    const again = ['SENT', 'DELIVERED']
    await service.untilWebhooks(msgId, [...again, ...again])
    expect(came(msgId)).toEqual([`${msgId}-1 1`, `${msgId}-2 1`, `${msgId}-1 2`, `${msgId}-2 2`])
  }
})

test('what a pause has held back is delivered when it ends', async () => {
  expect(await change('pause')).toMatchObject({ state: 'paused', pausedBy: 'operator' })
  await eventually(async () => (await metric('aldis_webhook_destinations{state="paused"}')) === 1)
  const msgId = await service.sent()
  await eventually(async () => (await event(`${msgId}-1`).catch(() => null))?.destination)
  expect(await event(`${msgId}-1`)).toMatchObject({ state: 'pending', attempts: 0, nextAttemptAt: null })
  const { items } = await service.admin('GET', `/webhook-destinations?servicePlanId=${service.servicePlanId}`)
  expect(items).toMatchObject([{ destination: service.receiver.origin, state: 'paused', parked: 1 }])
  expect(service.receiver.received).toEqual([])
  await service.until(msgId, 'DELIVERED')
  expect(await change('resume')).toMatchObject({ state: 'recovering' })
  await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  expect(came(msgId)).toEqual([`${msgId}-1 1`, `${msgId}-2 1`])
})

test('what had no URL goes to the one there is later, an inbound message too', async () => {
  const urls = { inboundUrl: `${service.receiver.origin}/mo` }
  await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { inboundUrl: null })
  await service.admin('PATCH', `/accounts/${service.accountId}`, { defaultDlrUrl: null })
  const msgId = await service.sent()
  await service.until(msgId, 'DELIVERED')
  await service.simulator.sendInbound({ from: '+15550002222', to: service.inboundNumber, body: 'hej' })
  const list = () => service.admin('GET', `/webhook-events?servicePlanId=${service.servicePlanId}&state=kept`)
  const kept = await eventually(async () => (await list()).items.length === 3 && (await list()).items)
  expect(await redeliver({ state: 'kept' })).toEqual({ redelivered: 0, nextAfter: null })
  await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, urls)
  expect(await redeliver({ state: 'kept' })).toEqual({ redelivered: 1, nextAfter: null })
  const inbound = kept.find(({ sequence }: { sequence: number }) => sequence === 0).eventId
  await untilState(inbound, 'delivered')
  await service.admin('PATCH', `/accounts/${service.accountId}`, {
    defaultDlrUrl: `${service.receiver.origin}/dlr`,
  })
  await service.admin('POST', `/webhook-events/${msgId}-2/redeliver`)
  await untilState(`${msgId}-2`, 'delivered')
  expect(service.receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([
    inbound,
    `${msgId}-2`,
  ])
})

test('attempts are counted, and what is under way', async () => {
  service.receiver.answerWith(() => undefined)
  const msgId = await service.sent()
  await eventually(async () => (await metric('aldis_webhook_requests_in_flight')) === 1)
  // It counts from the dial on.
  await eventually(() => service.receiver.received.length === 1)
  service.receiver.answerWith(acknowledge)
  await service.restart()
  await service.untilWebhooks(msgId, ['SENT', 'SENT', 'DELIVERED'])
  service.receiver.answerWith(answerStatus(503))
  await service.sent()
  await eventually(async () => (await metric('aldis_webhook_attempts_total{outcome="failed"}')) === 1)
  expect(await metric('aldis_webhook_attempts_total{outcome="delivered"}')).toBe(2)
  expect(await metric('aldis_webhook_destinations{state="open"}')).toBe(0)
})

async function metric(name: string): Promise<number | undefined> {
  const text = await (await fetch(`${service.app.url}/metrics`)).text()
  const line = text.split('\n').find((one) => one.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length))
}
