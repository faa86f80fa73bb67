import { pino } from 'pino'
import { Webhook } from 'standardwebhooks'
import { afterEach, expect, test } from 'vitest'
import type { Database } from '../../src/store/database.ts'
import { foldedNames, headersToShow } from '../support/attempt-headers.ts'
import { eventually, RECIPIENT, type Service } from '../support/service.ts'
import { call } from '../support/tenant.ts'
import { serviceOfFile } from '../support/tenant-per-test.ts'
import { acknowledge, type ReceivedWebhook, type WebhookAnswer } from '../support/webhook-receiver.ts'

/** How a receiver knows that a webhook is ours: headers, credentials and signatures of the account. */

const logs: string[] = []
const log = pino({ level: 'debug' }, { write: (line: string) => logs.push(line) })
const { tenant } = serviceOfFile({ log })
let service: Service

afterEach(() => service[Symbol.asyncDispose]())

const KEY = 'opensesame-key'
const CREDENTIALS = { username: 'aldis', password: 'opensesame-password' }
const BASIC = `Basic ${Buffer.from('aldis:opensesame-password').toString('base64')}`
/** Of the header and of the credentials, as they are and in Base64. */
const SECRETS = ['opensesame', BASIC.slice('Basic '.length)]
const GUARDED = { webhookHeaders: [{ name: 'X-Api-Key', value: KEY }], webhookCredentials: CREDENTIALS }

/** A receiver at its worst: it answers with what it was sent. */
const echo: WebhookAnswer = (exchange) =>
  exchange.respond(500, { 'content-type': 'application/json' }, JSON.stringify(exchange.request.headers))

function webhooksOf(msgId: string): ReceivedWebhook[] {
  return service.receiver.received.filter(({ body }) => body.includes(msgId))
}

/** A message whose first event has failed `error` and waits. */
async function failed(answer: WebhookAnswer, error: string): Promise<string> {
  service.receiver.answerWith(answer)
  const msgId = await service.sent()
  await eventually(async () => (await shown(msgId)).includes(error))
  service.receiver.answerWith(acknowledge)
  return msgId
}

/** What the operator sees of a message. */
async function shown(msgId: string): Promise<string> {
  return JSON.stringify(await service.admin('GET', `/messages/${msgId}`))
}

/** Tables with a row that holds the text. */
async function tablesWith(db: Database, text: string): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select format('%I', relname) as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  )
  const found: string[] = []
  for (const { name } of rows) {
    const holding = await db.query(`select 1 from ${name} t where t::text like '%' || $1 || '%' limit 1`, [
      text,
    ])
    if (holding.rows.length > 0) found.push(name)
  }
  return found
}

test('every webhook of the account carries its headers and credentials, and nothing else tells of them', async () => {
  service = await tenant({ account: GUARDED })
  const echoed = await failed(echo, 'HTTP_STATUS')
  const reset = await failed((exchange) => exchange.close(), 'CONNECTION_RESET')
  const plain = await service.sent()
  await service.untilWebhooks(plain, ['SENT', 'DELIVERED'])
  await service.simulator.sendInbound({ from: RECIPIENT, to: service.inboundNumber, body: 'inbound' })
  await service.receiver.next(({ path }) => path === '/mo')
  await service.makeDue()
  for (const msgId of [echoed, reset]) await service.untilWebhooks(msgId, ['SENT', 'SENT', 'DELIVERED'])

  expect(service.receiver.received).toHaveLength(9)
  for (const { headers, body } of service.receiver.received) {
    expect(headers).toMatchObject({ 'x-api-key': KEY, authorization: BASIC })
    expect(new Webhook(service.webhookSecret).verify(body, headers as Record<string, string>)).toBeTruthy()
  }
  const metrics = await (await fetch(`${service.app.url}/metrics`)).text()
  const account = JSON.stringify(await service.admin('GET', `/accounts/${service.accountId}`))
  expect(account).toContain('X-Api-Key')
  const messages = [await shown(echoed), await shown(reset), await shown(plain)]
  expect(logs.length).toBeGreaterThan(5)
  for (const secret of SECRETS) {
    expect([...logs, metrics, account, ...messages].filter((text) => text.includes(secret))).toEqual([])
    expect(await tablesWith(service.db, secret)).toEqual([])
  }
  expect(await tablesWith(service.db, '***')).not.toEqual([])
})

test('the headers of an attempt are shown as they came, but for what is secret', async () => {
  service = await tenant({ account: GUARDED })
  const own = service.receiver.origin.replace('https://', 'https://own:secret@')
  const msgId = await failed(echo, 'HTTP_STATUS')
  await service.makeDue()
  const other = await service.sent({ callbackUrl: `${own}/own` })
  for (const [id, ...statuses] of [
    [msgId, 'SENT', 'SENT', 'DELIVERED'] as const,
    [other, 'SENT', 'DELIVERED'] as const,
  ])
    await service.untilWebhooks(id, statuses)
  await service.simulator.sendInbound({ from: RECIPIENT, to: service.inboundNumber, body: 'inbound' })
  await service.receiver.next(({ path }) => path === '/mo')
  const came = service.receiver.received
  expect(came).toHaveLength(6)
  for (const webhook of came) {
    const path = `/webhook-events/${webhook.eventId}`
    const recorded = await eventually(async () => {
      const { attemptRecords } = await service.admin('GET', path)
      return attemptRecords.find(({ attempt }: { attempt: number }) => attempt === webhook.attempt)
    })
    expect(foldedNames(recorded.requestHeaders)).toEqual(headersToShow(webhook))
    const url = `${service.app.url}/v1/webhooks/events/${webhook.eventId}?servicePlanId=${service.servicePlanId}`
    const { body } = await call(url, service.token)
    expect(body.attemptRecords).toContainEqual(recorded)
    if (webhook.sequence === 0) continue
    const { webhookAttempts } = await service.admin('GET', `/messages/${webhook.msgId}`)
    const { attempt, requestHeaders } = recorded
    expect(webhookAttempts).toContainEqual(
      expect.objectContaining({ event: webhook.sequence, attempt, requestHeaders }),
    )
  }
})

test('what the account has when an event is sent counts, also for one that failed before', async () => {
  service = await tenant({ account: GUARDED })
  const msgId = await failed(echo, 'HTTP_STATUS')
  await service.admin('PATCH', `/accounts/${service.accountId}`, {
    webhookHeaders: [{ name: 'Authorization', value: 'Bearer new' }],
    webhookCredentials: null,
  })
  await service.makeDue()
  await service.untilWebhooks(msgId, ['SENT', 'SENT', 'DELIVERED'])
  await service.admin('PATCH', `/accounts/${service.accountId}`, { webhookHeaders: null })
  const last = await service.sent()
  await service.untilWebhooks(last, ['SENT', 'DELIVERED'])
  const carried = [...webhooksOf(msgId), ...webhooksOf(last)].map(({ headers }) => [
    headers['x-api-key'],
    headers.authorization,
  ])
  expect(carried).toEqual([
    [KEY, BASIC],
    [undefined, 'Bearer new'],
    [undefined, 'Bearer new'],
    [undefined, undefined],
    [undefined, undefined],
  ])
})

test('user info of a callbackUrl takes the place of the credentials; an account without has none', async () => {
  service = await tenant({ account: GUARDED })
  const own = service.receiver.origin.replace('https://', 'https://own:secret@')
  const msgId = await service.sent({ callbackUrl: `${own}/own` })
  await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  const authorization = `Basic ${Buffer.from('own:secret').toString('base64')}`
  for (const { headers } of webhooksOf(msgId))
    expect(headers).toMatchObject({ 'x-api-key': KEY, authorization })

  const other = await service.admin('POST', '/accounts', {
    name: 'Other',
    defaultDlrUrl: `${service.receiver.origin}/other`,
  })
  const plan = await service.admin('POST', '/service-plans', {
    accountId: other.accountId,
    name: 'Other',
    inboundUrl: `${service.receiver.origin}/other`,
  })
  const number = '+15550001999'
  await service.admin('POST', '/inbound-numbers', { number, servicePlanId: plan.servicePlanId })
  await service.simulator.sendInbound({ from: RECIPIENT, to: number, body: 'to the other' })
  const { headers } = await service.receiver.next(({ path }) => path === '/other')
  expect(headers).not.toHaveProperty('x-api-key')
  expect(headers).not.toHaveProperty('authorization')
})

test('while a secret is rotated both sign, also what failed before; afterwards the new one alone', async () => {
  service = await tenant()
  const verified = ({ body, headers }: ReceivedWebhook, secret: string) => {
    try {
      new Webhook(secret).verify(body, headers as Record<string, string>)
      return true
    } catch {
      return false
    }
  }
  const path = `/accounts/${service.accountId}/webhook-secret`
  const before = service.webhookSecret
  const msgId = await failed(echo, 'HTTP_STATUS')
  const { webhookSecret: after } = await service.admin('POST', `${path}/rotate`)
  await expect(service.admin('POST', `${path}/rotate`)).rejects.toThrow('409')
  await service.makeDue()
  await service.untilWebhooks(msgId, ['SENT', 'SENT', 'DELIVERED'])
  await service.admin('DELETE', `${path}/previous`)
  const last = await service.sent()
  await service.untilWebhooks(last, ['SENT', 'DELIVERED'])

  const [first, again, ...rest] = [...webhooksOf(msgId), ...webhooksOf(last)]
  expect(again!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
  expect(
    [first!, again!, ...rest].map((webhook) => [verified(webhook, before), verified(webhook, after)]),
  ).toEqual([
    [true, false],
    [true, true],
    [true, true],
    [false, true],
    [false, true],
  ])
  expect((await service.admin('POST', `${path}/rotate`)).webhookSecret).not.toBe(after)
})
