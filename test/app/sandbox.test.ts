import { afterAll, beforeAll, expect, test } from 'vitest'
import { OUTCOME_TABLE } from '../../src/services/sandbox/outcome-table.ts'
import { eventually, type Service, startService } from '../support/service.ts'
import { type Answer, call } from '../support/tenant.ts'

/** Sandbox plans on a real node: PostgreSQL, SMPP over TCP, webhooks over HTTPS. */

const HANDSET = '+15551234567'

let service: Service
/** A tenant whose plan is a sandbox. Its carrier and its route are there, and not used. */
let sandbox: Service

const SANDBOX = { plan: { sandbox: true, route: undefined } }

beforeAll(async () => {
  service = await startService()
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
