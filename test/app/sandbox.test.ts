import { afterAll, beforeAll, expect, test } from 'vitest'
import { OUTCOME_TABLE } from '../../src/services/sandbox/sandbox.ts'
import { eventually, type Service, startService } from '../support/service.ts'
import { type Answer, call } from '../support/tenant.ts'

interface StatisticsAnswer {
  readonly series: readonly {
    readonly group: { readonly route?: string | null } | null
    readonly totals: { readonly delivered: number }
  }[]
}

/** Sandbox plans on a real node: PostgreSQL, SMPP over TCP, webhooks over HTTPS. */

const HANDSET = '+15551234567'

let service: Service
/** A tenant whose plan is a sandbox. Its carrier and its route are there, and not used. */
let sandbox: Service

const SANDBOX = { plan: { sandbox: true, route: undefined } }

beforeAll(async () => {
  service = await startService({ app: { statisticsMs: 20 } })
  sandbox = await service.tenant(SANDBOX)
})
afterAll(() => service[Symbol.asyncDispose]())

function fromHandset(tenant: Service, fields: Record<string, unknown> = {}): Promise<Answer> {
  const { servicePlanId, inboundNumber: to, token, app } = tenant
  const body = { servicePlanId, from: HANDSET, to, body: 'hello', ...fields }
  return call(`${app.url}/v1/sandbox/inbound`, token, 'POST', body)
}

test('messages are delivered by the simulator, cost nothing, and reach no carrier', async () => {
  await service.admin('POST', '/rates', { price: '0.01', currency: 'EUR' })
  const own = await sandbox.sent()
  const real = await service.sent()
  await sandbox.until(own, 'DELIVERED')
  await service.until(real, 'DELIVERED')
  await sandbox.untilWebhooks(own, ['SENT', 'DELIVERED'])
  const nothing = { price: null, ptf: null, currency: null }
  expect((await sandbox.get(own)).body).toMatchObject({ ...nothing, mccmnc: '310260' })
  expect((await service.get(real)).body).toMatchObject({ price: 0.01, currency: 'EUR' })
  expect(service.simulator.stats.accepted).toBe(1)
  expect(sandbox.simulator.stats.submits).toBe(0)
  expect(await sandbox.recorded(own)).toMatchObject({
    carrier: 'sandbox',
    route: 'sandbox',
    routeReason: "plan's route sandbox: only carrier",
  })
})

test('statistics over all plans include them, and tell them apart by route', async () => {
  for (const plan of [sandbox, service]) await plan.until(await plan.sent(), 'DELIVERED')
  const delivered = async (query: string): Promise<[string | null, number][]> => {
    const { series } = (await service.admin('GET', `/statistics?${query}`)) as StatisticsAnswer
    return series.map(({ group, totals }) => [group?.route ?? null, totals.delivered])
  }
  await eventually(async () => {
    const byRoute = await delivered('groupBy=route')
    const ofSandbox = byRoute.find(([route]) => route === 'sandbox')?.[1] ?? 0
    const ofAll = (await delivered(''))[0]?.[1] ?? 0
    return ofSandbox > 0 && ofAll > ofSandbox && ofAll === byRoute.reduce((sum, [, count]) => sum + count, 0)
  })
})

test('each outcome of the table comes true', async () => {
  // Half a minute is too long to wait for a receipt.
  const outcomes = OUTCOME_TABLE.filter(({ lastDigits }) => lastDigits !== '1010')
  const messages = await Promise.all(
    outcomes.map(async ({ lastDigits, status }) => {
      const msgId = await sandbox.sent({ to: `+1555123${lastDigits ?? '0000'}` })
      return { msgId, status }
    }),
  )
  for (const { msgId, status } of messages) {
    await eventually(async () => {
      // A submit that was throttled is to be repeated after seconds.
      await sandbox.makeDue()
      return (await sandbox.get(msgId)).body.status === status
    })
  }
})

test('a message from a handset is received in parts, pushed and listed', async () => {
  const body = `Grüße 👋 ${'x'.repeat(300)}`
  const { status, body: submitted } = await fromHandset(sandbox, { body })
  expect([status, submitted]).toEqual([
    202,
    {
      servicePlanId: sandbox.servicePlanId,
      from: HANDSET,
      to: sandbox.inboundNumber,
      encoding: 'UCS2',
      parts: 5,
    },
  ])
  const { items } = (await sandbox.listInbound({ from: HANDSET })).body
  expect(items).toMatchObject([{ from: HANDSET, to: sandbox.inboundNumber, body, direction: 'MO' }])
  const { body: pushed } = await sandbox.receiver.next(({ path }) => path === '/mo')
  expect(JSON.parse(pushed)).toEqual(items[0])
})

test('messages stay in the simulator whatever rules and rates say', async () => {
  const { admin, carrier, simulator } = service
  const before = simulator.stats.submits
  await admin('PUT', '/number-ranges/+1555', { mccmnc: '310260' })
  await admin('POST', '/routes', { name: 'away', carriers: [{ carrier }, { carrier: sandbox.carrier }] })
  const { servicePlanId } = sandbox
  const destinations = [{}, { prefix: '+1555' }, { country: 'US' }, { mccmnc: '310260' }]
  for (const destination of destinations)
    await admin('POST', '/rates', { ...destination, servicePlanId, price: '1', currency: 'USD' })
  const whose = [{ servicePlanId }, { from: 'Aldis' }, { servicePlanId, from: 'Aldis' }]
  for (const limits of destinations.flatMap((each) => whose.map((limit) => ({ ...each, ...limit })))) {
    const { ruleId } = await admin('POST', '/routing-rules', { ...limits, route: 'away' })
    const msgId = await sandbox.sent()
    const { price } = await sandbox.until(msgId, 'DELIVERED')
    expect([limits, price]).toEqual([limits, null])
    expect(await sandbox.recorded(msgId)).toMatchObject({ carrier: 'sandbox', route: 'sandbox' })
    await admin('DELETE', `/routing-rules/${ruleId}`)
  }
  expect(simulator.stats.submits).toBe(before)
  expect(sandbox.simulator.stats.submits).toBe(0)
})

test('carriers and the simulator do not deliver to each other’s plans', async () => {
  const unowned = async () => (await service.admin('GET', '/unowned-inbound-messages')).items
  await service.simulator.sendInbound({ from: HANDSET, to: sandbox.inboundNumber, body: 'from a person' })
  await eventually(async () =>
    (await unowned()).some(({ body }: { body: string }) => body === 'from a person'),
  )
  const { items } = (await sandbox.listInbound({ from: HANDSET })).body
  expect(items.filter(({ body }: { body: string }) => body === 'from a person')).toEqual([])
  const answer = await fromHandset(sandbox, { to: service.inboundNumber })
  expect([answer.status, answer.body.errors]).toEqual([
    400,
    [{ field: 'to', code: 'NOT_FOUND', message: 'must be an inbound number of the service plan' }],
  ])
})

test('STOP from a handset is acted on', async () => {
  await using stopping = await service.tenant({ plan: { ...SANDBOX.plan, optOut: {} } })
  expect((await fromHandset(stopping, { body: 'STOP' })).status).toBe(202)
  const from = stopping.inboundNumber
  await stopping.admin(
    'PUT',
    `/service-plans/${stopping.servicePlanId}/senders/${encodeURIComponent(from)}`,
    {
      status: 'approved',
    },
  )
  const stopped = await stopping.until(await stopping.sent({ from, to: HANDSET }), 'FAILED')
  expect(stopped.errorCode).toBe('307')
})

test('a sandbox plan has a rate limit, whatever is set', async () => {
  const { admin, servicePlanId } = sandbox
  const path = `/service-plans/${servicePlanId}`
  expect(await admin('GET', path)).toMatchObject({
    sandbox: true,
    complete: true,
    route: 'sandbox',
    rateLimit: { messagesPerSecond: 20, burst: 100 },
  })
  const own = { messagesPerSecond: 1, burst: 1 }
  expect(await admin('PATCH', path, { rateLimit: own })).toMatchObject({ rateLimit: own })
  const answers = await Promise.all([sandbox.send(), sandbox.send(), sandbox.send()])
  expect(answers.map(({ status }) => status)).toContain(429)
  const { rateLimit } = await admin('PATCH', path, { rateLimit: null })
  expect(rateLimit).toEqual({ messagesPerSecond: 20, burst: 100 })
  const { nodes } = await admin('GET', '/carriers/sandbox/binds')
  expect(nodes).toMatchObject([{ configuredRate: 100 }])
})

test('a second node has a simulator of its own, and its end leaves the first alone', async () => {
  const node = await service.startNode({ nodeName: 'node-b' })
  const at = { ...sandbox, app: node }
  await eventually(async () => (await fromHandset(at, { body: 'over the second node' })).status === 202)
  await eventually(async () => (await fromHandset(sandbox, { body: 'over the second node' })).status === 202)
  const { items } = (await sandbox.listInbound({ from: HANDSET })).body
  const bodies = items.map(({ body }: { body: string }) => body)
  expect(bodies.filter((body: string) => body === 'over the second node')).toHaveLength(2)
  const path = `${node.url}/v1/sendsms`
  const message = { servicePlanId: sandbox.servicePlanId, channel: 'SMS', from: 'Aldis', body: 'hello' }
  const ids: string[] = []
  for (const url of [path, `${service.app.url}/v1/sendsms`, path]) {
    const sent = await call(url, sandbox.token, 'POST', { ...message, to: '+15551230000' })
    expect(sent.status).toBe(202)
    ids.push(sent.body.msgId)
  }
  for (const msgId of ids) await sandbox.until(msgId, 'DELIVERED')
  await node.stop()
  await sandbox.until(await sandbox.sent(), 'DELIVERED')
})

test('what the stopped carrier left is sent after a restart, and receipts in memory are lost', async () => {
  const late = await sandbox.sent({ to: '+15551231010' })
  await sandbox.until(late, 'SENT')
  await service.admin('PATCH', '/carriers/sandbox', { state: 'stopped' })
  const msgId = await sandbox.sent()
  await service.restart()
  expect((await sandbox.get(msgId)).body.status).toBe('QUEUED')
  await service.admin('PATCH', '/carriers/sandbox', { state: 'started' })
  await eventually(async () => {
    await sandbox.makeDue()
    return (await sandbox.get(msgId)).body.status === 'DELIVERED'
  })
  expect((await sandbox.get(late)).body.status).toBe('SENT')
})
