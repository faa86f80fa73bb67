import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../../src/app/start.ts'
import { exchangeInTurn, requestBytes } from '../support/raw-http.ts'
import { eventually, RECIPIENT, type Service, startService } from '../support/service.ts'
import { call } from '../support/tenant.ts'

/** Caps of plans, counted over two nodes. */

let service: Service
let second: App

beforeAll(async () => {
  service = await startService({ app: { limitsMs: 20 } })
  second = await service.startNode({ nodeName: 'second', limitsMs: 20 })
})
afterAll(() => service[Symbol.asyncDispose]())

/** A tenant whose plan has these caps. Either node may have its carrier. A month ends less often than a day. */
function capped(caps: object, more: object = {}): Promise<Service> {
  return service.tenant({ bound: false, plan: { caps, limitEvents: true, ...more } })
}

function sendTo(url: string, { servicePlanId, token }: Service, fields: object = {}) {
  const body = { servicePlanId, channel: 'SMS', from: 'Aldis', to: RECIPIENT, body: 'hello', ...fields }
  return call(`${url}/v1/sendsms`, token, 'POST', body)
}

async function limitsOf({ servicePlanId }: Service) {
  return await service.admin('GET', `/service-plans/${servicePlanId}/limits`)
}

/** As the customer sees them. */
async function ownLimitsOf({ servicePlanId, token }: Service) {
  return (await call(`${service.app.url}/v1/limits?servicePlanId=${servicePlanId}`, token, 'GET')).body
}

/** The bodies of the limit events that came, by percentage. */
async function told({ receiver }: Service, count: number) {
  const events = () =>
    receiver.received.map(({ body }) => JSON.parse(body)).filter(({ type }) => type !== undefined)
  await eventually(() => events().length >= count)
  return events().toSorted((one, other) => one.percent - other.percent)
}

test('both nodes together let exactly as many through as the cap says, and tell of 80 and 100 % once', async () => {
  const plan = await capped({ messagesPerMonth: 100 })
  await service.app.refresh()
  await second.refresh()
  const answers: { status: number }[] = []
  // Twelve at a time, on both nodes in turn.
  for (let round = 0; round < 10; round += 1)
    answers.push(
      ...(await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          sendTo(index % 2 === 0 ? service.app.url : second.url, plan),
        ),
      )),
    )
  const refused = answers.filter(({ status }) => status === 429)
  const accepted = answers.filter(({ status }) => status === 202)
  expect(accepted.length + refused.length).toBe(120)
  // A node may hold a share that the other one needs.
  expect(accepted.length).toBeLessThanOrEqual(100)
  expect(accepted.length).toBeGreaterThanOrEqual(90)
  // What a node holds and does not use comes back, and is used then.
  const last = await eventually(async () => {
    const answer = await plan.send()
    if (answer.status === 202) accepted.push(answer)
    return accepted.length === 100 && (await plan.send())
  })
  expect(last).toMatchObject({
    status: 429,
    body: { errorCode: 'CAP_REACHED', errorMessage: expect.stringContaining('100 messages a month') },
  })
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
  const { usage } = await limitsOf(plan)
  expect(usage).toMatchObject([
    { per: 'month', used: { messages: 100 }, cap: { messages: 100 }, percent: 100 },
  ])
  expect(await ownLimitsOf(plan)).toEqual({ servicePlanId: plan.servicePlanId, usage, pauses: [] })
  const { servicePlanId, accountId } = plan
  const [eighty, full, ...more] = await told(plan, 2)
  const cap = { per: 'month', messages: 100, cost: null, currency: null }
  expect(eighty).toMatchObject({ type: 'capReached', accountId, servicePlanId, percent: 80, cap })
  expect([full, more]).toMatchObject([{ percent: 100, cap }, []])
  const events = await eventually(async () => {
    const { events: all } = await limitsOf(plan)
    return all.every(({ takenAt }: { takenAt: string | null }) => takenAt !== null) && all
  })
  expect(events.map(({ text }: { text: string }) => text).sort()).toEqual([
    '100 % of 100 messages a month',
    '80 % of 100 messages a month',
  ])
  const { items } = await service.admin('GET', '/alarms')
  expect(items).toContainEqual(
    expect.objectContaining({ name: 'cap-reached', object: `${servicePlanId} messages month` }),
  )
  const stored = await service.db.query('select from messages where plan_id = $1', [await plan.planKey()])
  expect(stored.rowCount).toBeLessThanOrEqual(100)
})

test('costs are those of price and pass-through fee in the currency of the cap; a higher cap counts at once', async () => {
  const plan = await capped({ costPerMonth: '0.1', currency: 'EUR' })
  await service.admin('POST', '/rates', {
    servicePlanId: plan.servicePlanId,
    price: '0.02',
    ptf: '0.01',
    currency: 'EUR',
  })
  await service.admin('POST', '/rates', {
    ...{ servicePlanId: plan.servicePlanId, country: 'SE', price: '9', currency: 'USD' },
  })
  const statuses = async (count: number, fields = {}) => {
    const found: number[] = []
    for (let index = 0; index < count; index += 1) found.push((await plan.send(fields)).status)
    return found
  }
  expect(await statuses(4)).toEqual([202, 202, 202, 429])
  // Another currency is not counted, and neither is a text that costs too much for what is left.
  expect(await statuses(1, { to: '+46701234567' })).toEqual([202])
  const { usage } = await limitsOf(plan)
  expect(usage).toMatchObject([
    { used: { messages: null, currency: 'EUR' }, cap: { cost: '0.1', currency: 'EUR' } },
  ])
  const caps = { costPerMonth: 0.15, currency: 'EUR' }
  await service.admin('PATCH', `/service-plans/${plan.servicePlanId}`, { caps })
  expect(await statuses(3)).toEqual([202, 202, 429])
  await service.admin('PATCH', `/service-plans/${plan.servicePlanId}`, { caps: null })
  expect(await statuses(1)).toEqual([202])
})

test('what is not accepted is not counted; preflight tells of the cap and counts nothing', async () => {
  const plan = await capped({ messagesPerDay: 1_000, messagesPerMonth: 2 }, { limitEvents: false })
  const body = {
    servicePlanId: plan.servicePlanId,
    channel: 'SMS',
    from: 'Aldis',
    to: RECIPIENT,
    body: 'hello',
  }
  const preflight = async () =>
    (await call(`${service.app.url}/v1/sendsms/preflight`, plan.token, 'POST', body)).body.refusal
  const key = { 'idempotency-key': 'once' }
  const first = await plan.send({}, key)
  const again = await plan.send({}, key)
  expect([first.status, again.body.msgId]).toEqual([202, first.body.msgId])
  expect([await preflight(), await preflight()]).toEqual([null, null])
  expect((await plan.send()).status).toBe(202)
  const refused = await plan.send()
  const { errorCode, errorMessage } = refused.body
  expect([refused.status, errorCode]).toEqual([429, 'CAP_REACHED'])
  // Whoever lost the first answer learns of it nevertheless.
  const late = await plan.send({}, key)
  expect([late.status, late.body.msgId]).toEqual([202, first.body.msgId])
  expect((await plan.send({ body: 'another' }, key)).body.errorCode).toBe('IDEMPOTENCY_KEY_REUSED')
  expect((await plan.send({}, { 'idempotency-key': 'new' })).body.errorCode).toBe('CAP_REACHED')
  expect(await preflight()).toEqual({ status: 429, errorCode, errorMessage })
  // A message that one cap refuses is not counted towards the other.
  await eventually(async () => {
    const { usage } = await limitsOf(plan)
    return usage.every(({ used }: { used: { messages: number } }) => used.messages === 2)
  })
  expect(plan.receiver.received.some(({ body: text }) => text.includes('capReached'))).toBe(false)
})

test('while the database counts nothing, every send of a connection is answered 503, and then they go on', async () => {
  const { servicePlanId, token } = await capped({ messagesPerDay: 1_000_000 })
  await service.app.refresh()
  const bytes = requestBytes({
    method: 'POST',
    path: '/v1/sendsms',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      connection: 'keep-alive',
    },
    body: JSON.stringify({ servicePlanId, channel: 'SMS', from: 'Aldis', to: RECIPIENT, body: 'hello' }),
  })
  const statuses = async () => {
    const answers = await exchangeInTurn(Number(new URL(service.app.url).port), [bytes, bytes, bytes])
    return answers.map(({ status }) => status)
  }
  await service.db.query('alter table plan_usage rename to plan_usage_away')
  expect(await statuses()).toEqual([503, 503, 503])
  await service.db.query('alter table plan_usage_away rename to plan_usage')
  expect(await statuses()).toEqual([202, 202, 202])
})

test('a node that stops returns what it has not used; one that starts counts on', async () => {
  const plan = await capped({ messagesPerMonth: 1_000 })
  // Long enough that only stopping returns them.
  await service.restart({ limitsMs: 600_000 })
  for (let index = 0; index < 3; index += 1) expect((await plan.send()).status).toBe(202)
  const taken = async () => (await limitsOf(plan)).usage[0].used.messages
  expect(await taken()).toBeGreaterThan(3)
  await service.restart({ limitsMs: 20 })
  expect(await taken()).toBe(3)
})
