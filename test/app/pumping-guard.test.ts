import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, type Service, startService } from '../support/service.ts'
import { call } from '../support/tenant.ts'

/** Pumping guards of plans, on a real node. */

let service: Service
beforeAll(async () => {
  service = await startService({ app: { limitsMs: 20, statisticsMs: 20 } })
})
afterAll(() => service[Symbol.asyncDispose]())

function guarded(pumpingGuard: object): Promise<Service> {
  return service.tenant({ plan: { sandbox: true, route: undefined, limitEvents: true, pumpingGuard } })
}

async function limitsOf({ servicePlanId }: Service) {
  return await service.admin('GET', `/service-plans/${servicePlanId}/limits`)
}

/** What preflight says: it sends nothing that would count. */
async function refusalOf({ servicePlanId, token }: Service, to: string) {
  const fields = { servicePlanId, channel: 'SMS', from: 'Aldis', to, body: 'hello' }
  return (await call(`${service.app.url}/v1/sendsms/preflight`, token, 'POST', fields)).body.refusal
}

/** Sends until the country is paused, at most so often. Gives how many messages were accepted, and the refusal. */
async function untilPaused(plan: Service, to: () => string, most: number) {
  for (let accepted = 0; accepted <= most; accepted += 1) {
    const answer = await plan.send({ to: to() })
    if (answer.status !== 202) return { accepted, ...answer }
    // What is counted is judged without holding up the sends.
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error(`no pause after ${most} messages`)
}

test('too many messages to one range pause its country alone, say so, and can be lifted', async () => {
  const plan = await guarded({ messagesPerPrefix: 5, pauseMinutes: 10 })
  let last = 1_000
  const ofRange = () => `+46701${String(200_000 + last++)}`
  // Other ranges of the same country, each below the limit.
  for (let range = 0; range < 10; range += 1)
    expect((await plan.send({ to: `+4670${range}112233` })).status).toBe(202)
  const { accepted, status, body, headers } = await untilPaused(plan, ofRange, 200)
  expect(accepted).toBeGreaterThan(5)
  expect([status, body.errorCode]).toEqual([429, 'COUNTRY_PAUSED'])
  expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(600)
  expect((await plan.send({ to: '+46731234567' })).body.errorCode).toBe('COUNTRY_PAUSED')
  expect((await plan.send({ to: '+4740123456' })).status).toBe(202)
  expect(await refusalOf(plan, ofRange())).toMatchObject({ status: 429, errorCode: 'COUNTRY_PAUSED' })
  const { pauses } = await limitsOf(plan)
  expect(pauses).toMatchObject([
    { country: 'SE', reason: expect.stringMatching(/^more than 5 messages to \+4670120… in/) },
  ])
  const events = () =>
    plan.receiver.received.map(({ body: text }) => JSON.parse(text)).filter(({ type }) => type !== undefined)
  await eventually(() => events().length > 0)
  expect(events()).toMatchObject([{ type: 'countryPaused', country: 'SE', until: pauses[0].until }])
  // Another node, or this one after a restart, knows of it too.
  await service.restart({ limitsMs: 20, statisticsMs: 20 })
  await eventually(async () => (await plan.send({ to: ofRange() })).status === 429)
  await service.admin('DELETE', `/service-plans/${plan.servicePlanId}/pauses/SE`)
  // What was counted before is forgotten.
  for (let message = 0; message < 4; message += 1)
    expect((await plan.send({ to: ofRange() })).status).toBe(202)
  expect((await limitsOf(plan)).pauses).toEqual([])
})

test('a country in which too few are delivered is paused, judged by the statistics', async () => {
  const plan = await guarded({ minDelivered: 60, minMessages: 4 })
  // 1001: undeliverable; the others are delivered.
  for (const to of [
    '+4740121001',
    '+4740131001',
    '+46701231001',
    '+46701234567',
    '+46701234568',
    '+46701234569',
  ])
    expect((await plan.send({ to })).status).toBe(202)
  await eventually(async () => {
    const { series } = await service.admin(
      'GET',
      `/statistics?servicePlanId=${plan.servicePlanId}&groupBy=country`,
    )
    const ended = series.map(
      ({ totals }: { totals: { delivered: number; failed: number } }) => totals.delivered + totals.failed,
    )
    return ended.reduce((sum: number, each: number) => sum + each, 0) === 6
  })
  // Norway has too few, and in Sweden enough are delivered.
  for (const to of ['+4740141001', '+4740151001']) expect((await plan.send({ to })).status).toBe(202)
  await eventually(async () => (await refusalOf(plan, '+4740123456'))?.errorCode === 'COUNTRY_PAUSED')
  expect((await plan.send({ to: '+46701234567' })).status).toBe(202)
  const { pauses } = await limitsOf(plan)
  expect(pauses).toMatchObject([{ country: 'NO', reason: expect.stringContaining('delivered 0 of 4') }])
})
