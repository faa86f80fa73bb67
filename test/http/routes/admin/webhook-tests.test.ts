import { afterAll, expect, test } from 'vitest'
import { adminServerOfFile, createPlan } from '../../../support/admin-server.ts'
import { startWebhookReceiver } from '../../../support/webhook-receiver.ts'

const server = await adminServerOfFile()
const receiver = await startWebhookReceiver()
afterAll(() => receiver.close())
const send = (body: unknown) => server.request('POST', '/webhook-tests', body)

test('200: what came of it, whichever kind, without the credentials of the URL', async () => {
  const { servicePlanId } = await createPlan(server)
  const url = receiver.origin.replace('//', '//me:hush@')
  const { status, body } = await send({ servicePlanId, type: 'inboundMessage', url })
  expect(status).toBe(200)
  expect(body).toMatchObject({ url: receiver.origin, delivered: true, responseStatus: 200, error: null })
  const { headers, body: sent } = await receiver.next()
  expect(headers).toMatchObject({ 'webhook-id': body.eventId, 'aldis-test': 'true' })
  expect(JSON.parse(sent)).toMatchObject({ servicePlanId, direction: 'MO' })
})

test('200: to where such events go; 409 where there is nowhere', async () => {
  const { servicePlanId } = await createPlan(server)
  const inbound = await send({ servicePlanId, type: 'inboundMessage' })
  expect([inbound.status, inbound.body.errorCode]).toEqual([409, 'CONFLICT'])
  const other = await createPlan(server)
  await server.request('PATCH', `/accounts/${other.accountId}`, { defaultDlrUrl: `${receiver.origin}/dlr` })
  const { status, body } = await send({ servicePlanId: other.servicePlanId })
  expect([status, body.url]).toEqual([200, `${receiver.origin}/dlr`])
})

test('429: one a second for each account', async () => {
  const { servicePlanId } = await createPlan(server)
  await send({ servicePlanId, url: receiver.origin })
  const again = await send({ servicePlanId, url: receiver.origin })
  expect([again.status, again.body.errorCode]).toEqual([429, 'RATE_LIMITED'])
  expect(again.headers.get('retry-after')).toBe('1')
})

const plan = await createPlan(server)
test.each<[Record<string, unknown>, string, string]>([
  [{}, 'servicePlanId', 'REQUIRED'],
  [{ servicePlanId: 'f'.repeat(24) }, 'servicePlanId', 'NOT_FOUND'],
  [{ servicePlanId: plan.servicePlanId, type: 'status' }, 'type', 'NOT_ALLOWED'],
  [{ servicePlanId: plan.servicePlanId, url: 7 }, 'url', 'WRONG_TYPE'],
  [{ servicePlanId: plan.servicePlanId, to: receiver.origin }, 'to', 'UNKNOWN_FIELD'],
  [{ servicePlanId: plan.servicePlanId, url: 'https://10.0.0.1/' }, 'url', 'FORBIDDEN_ADDRESS'],
])('400 to %j', async (body, field, code) => {
  const answer = await send(body)
  expect([answer.status, answer.body.errors?.[0].field, answer.body.errors?.[0].code]).toEqual([
    400,
    field,
    code,
  ])
})
