import { expect, test } from 'vitest'
import type { CarrierCondition } from '../../../../src/domain/routing/routing.ts'
import { adminServerOfFile, CARRIER, createPlan } from '../../../support/admin-server.ts'

const conditions = new Map<string, CarrierCondition>()
const named = (id: number) => server.directory.current().carrierById(id)!.name
const server = await adminServerOfFile({ carrierCondition: (id) => conditions.get(named(id)) ?? 'usable' })
await server.request('POST', '/carriers', CARRIER)
await server.request('POST', '/carriers', { ...CARRIER, name: 'backup' })
const carriers = [{ carrier: 'acme', weight: 3 }, { carrier: 'backup' }]
await server.request('POST', '/routes', { name: 'default', carriers })
await server.request('POST', '/routes', { name: 'uk', carriers: [{ carrier: 'backup' }] })
const { servicePlanId } = await createPlan(server, { route: 'default' })
await server.request('PUT', `/service-plans/${servicePlanId}/senders/ACME`, { status: 'approved' })

const QUESTION = { from: 'ACME', to: '+447400123456' }

function explain(question: Record<string, string> = {}) {
  const query = new URLSearchParams({ servicePlanId, ...QUESTION, ...question })
  return server.request('GET', `/route-explanation?${query}`)
}

test("200: the plan's own route, and no rate", async () => {
  expect(await explain()).toMatchObject({
    status: 200,
    body: {
      servicePlanId,
      ...QUESTION,
      country: 'GB',
      mccmnc: null,
      problems: [],
      route: 'default',
      rule: null,
      carriers: [
        {
          carrier: 'acme',
          priority: 0,
          weight: 3,
          condition: 'usable',
          share: 75,
          reason: "plan's route default: weight 3 of 4",
        },
        { carrier: 'backup', share: 25 },
      ],
      encoding: null,
      segments: 1,
      charge: null,
    },
  })
})

test('200: the conditions of now', async () => {
  conditions.set('acme', 'unbound')
  expect((await explain()).body.carriers).toMatchObject([
    { carrier: 'acme', condition: 'unbound', share: 0, reason: null },
    { carrier: 'backup', share: 100, reason: "plan's route default: after acme (unbound)" },
  ])
  conditions.clear()
})

test('200: a rule, the network, the text and its price', async () => {
  await server.request('PUT', '/number-ranges/+4474', { mccmnc: '23415' })
  const rule = await server.request('POST', '/routing-rules', { servicePlanId, mccmnc: '23415', route: 'uk' })
  const rate = await server.request('POST', '/rates', {
    mccmnc: '23415',
    price: '0.0075',
    ptf: '0.001',
    currency: 'EUR',
  })
  const { body } = await explain({ body: 'Ж'.repeat(71) })
  expect(body).toMatchObject({
    mccmnc: '23415',
    route: 'uk',
    rule: {
      ruleId: rule.body.ruleId,
      servicePlanId,
      from: null,
      prefix: null,
      country: null,
      mccmnc: '23415',
    },
    carriers: [{ carrier: 'backup', share: 100, reason: "plan's rule 23415 → route uk: only carrier" }],
    encoding: 'UCS2',
    segments: 2,
    charge: {
      price: '0.015',
      ptf: '0.002',
      currency: 'EUR',
      rate: { rateId: rate.body.rateId, servicePlanId: null, mccmnc: '23415', prefix: null, country: null },
    },
  })
})

test('200: what a send would be refused for, in its order', async () => {
  const { servicePlanId: incomplete } = await createPlan(server, { active: false })
  const { body } = await explain({ servicePlanId: incomplete.toUpperCase() })
  expect(body).toMatchObject({ servicePlanId: incomplete, route: null, carriers: [] })
  expect(body.problems.map((each: { errorCode: string }) => each.errorCode)).toEqual([
    'SERVICE_PLAN_INACTIVE',
    'SERVICE_PLAN_INCOMPLETE',
    'SENDER_NOT_AUTHORIZED',
  ])
  const own = { senderTypes: ['e164'], allowedCountries: ['SE'] }
  await server.request('PATCH', `/service-plans/${servicePlanId}`, own)
  expect((await explain()).body.problems).toMatchObject([
    { errorCode: 'SENDER_NOT_AUTHORIZED' },
    { errorCode: 'COUNTRY_NOT_ALLOWED', errorMessage: 'The service plan may not send to recipients in GB' },
  ])
  const before = { senderTypes: ['alphanumeric'], allowedCountries: [] }
  await server.request('PATCH', `/service-plans/${servicePlanId}`, before)
})

test('200: an opt-out, which a send fails for while the plan goes by them', async () => {
  const to = '+447400999999'
  await server.database.db.query(
    'insert into opt_outs (plan_id, sender, recipient) select id, $2, $3 from service_plans where service_plan_id = $1',
    [servicePlanId, QUESTION.from, to],
  )
  expect((await explain({ to })).body.problems).toEqual([])
  await server.request('PATCH', `/service-plans/${servicePlanId}`, { optOut: {} })
  expect((await explain({ to })).body.problems).toEqual([
    { errorCode: '307', errorMessage: 'Recipient has opted out' },
  ])
})

test('a plus that was not escaped is one', async () => {
  const { body } = await server.request(
    'GET',
    `/route-explanation?servicePlanId=${servicePlanId}&from=+46701234567&to=+447400123456`,
  )
  expect(body).toMatchObject({ from: '+46701234567', to: '+447400123456' })
})

test.each([
  ['servicePlanId', { servicePlanId: '0'.repeat(24) }],
  ['servicePlanId', { servicePlanId: 'x' }],
  ['from', { from: 'far too long for one' }],
  ['to', { to: '447400123456' }],
  ['body', { body: '' }],
  ['body', { body: 'x'.repeat(1_601) }],
  ['body', { body: 'a\u0000' }],
  ['text', { text: 'typing error' }],
])('400 names %s: %j', async (field, question) => {
  const { status, body } = await explain(question)
  expect(status).toBe(400)
  expect(body.errors.map((each: { field: string }) => each.field)).toEqual([field])
})
