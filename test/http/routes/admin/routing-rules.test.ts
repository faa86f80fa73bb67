import { expect, test } from 'vitest'
import { adminServerOfFile, CARRIER, createPlan } from '../../../support/admin-server.ts'

const server = await adminServerOfFile()
await server.request('POST', '/carriers', CARRIER)
for (const name of ['default', 'uk', 'spare']) {
  await server.request('POST', '/routes', { name, carriers: [{ carrier: CARRIER.name }] })
}
const { servicePlanId } = await createPlan(server)

const NONE = { servicePlanId: null, from: null, prefix: null, country: null, mccmnc: null }

test.each([
  { country: 'GB' },
  { prefix: '+4479' },
  { mccmnc: '23415' },
  { from: '12345' },
  { from: 'A & B', country: 'XK' },
  { from: '+46701234567', mccmnc: '310260' },
])('201: a rule for %j', async (limits) => {
  const { status, body, headers } = await server.request('POST', '/routing-rules', { ...limits, route: 'uk' })
  expect(status).toBe(201)
  expect(body).toEqual({
    ...NONE,
    ...limits,
    ruleId: expect.any(Number),
    route: 'uk',
    createdAt: expect.any(String),
  })
  expect(headers.get('location')).toBe(`/admin/v1/routing-rules/${body.ruleId}`)
  expect((await server.request('GET', `/routing-rules/${body.ruleId}`)).body).toEqual(body)
  const again = await server.request('POST', '/routing-rules', { ...NONE, ...limits, route: 'default' })
  expect(`${again.status} ${again.body.errorCode}`).toBe('409 CONFLICT')
})

test('201: the rule of a plan is in the directory at once', async () => {
  const rule = { servicePlanId: servicePlanId.toUpperCase(), country: 'SE', route: 'uk' }
  const { status, body } = await server.request('POST', '/routing-rules', rule)
  expect(status).toBe(201)
  expect(body.servicePlanId).toBe(servicePlanId)
  const directory = server.directory.current()
  const plan = directory.planByPublicId(servicePlanId)!
  expect(directory.routeFor(plan, 'Example', '+46701234567')).toMatchObject({
    route: { name: 'uk' },
    rule: { id: body.ruleId, planId: plan.id, country: 'SE' },
  })
})

test.each([
  ['request', {}],
  ['request', NONE],
  ['country', { country: 'XX' }],
  ['country', { country: 'gb' }],
  ['prefix', { prefix: '4479' }],
  ['prefix', { prefix: '+0' }],
  ['prefix', { prefix: '+1234567890123456' }],
  ['mccmnc', { mccmnc: '1234' }],
  ['country', { prefix: '+44', country: 'GB' }],
  ['mccmnc', { country: 'GB', mccmnc: '23415' }],
  ['from', { from: '12' }],
  ['from', { from: 'ThisIsFarTooLong' }],
  ['from', { from: 'far too long for a sender' }],
  ['servicePlanId', { servicePlanId: '0'.repeat(24) }],
  ['servicePlanId', { servicePlanId: 'x' }],
  ['route', { country: 'FR', route: 'nowhere' }],
  ['route', { country: 'FR', route: null }],
  ['to', { country: 'FR', to: '+33' }],
])('400 names %s in %j', async (field, rule) => {
  const { status, body } = await server.request('POST', '/routing-rules', { route: 'uk', ...rule })
  expect(status).toBe(400)
  expect(body.errors.map((each: { field: string }) => each.field)).toEqual([field])
})

test('200: a rule is led to another route, and that is all of it that changes', async () => {
  const made = await server.request('POST', '/routing-rules', { country: 'NO', route: 'uk' })
  const path = `/routing-rules/${made.body.ruleId}`
  const changed = await server.request('PATCH', path, { route: 'default' })
  expect(changed).toMatchObject({ status: 200, body: { ...made.body, route: 'default' } })
  const missing = await server.request('PATCH', path, { route: 'nowhere' })
  expect(missing.body.errors[0].field).toBe('route')
  const limits = await server.request('PATCH', path, { route: 'uk', country: 'DK' })
  expect(limits.body.errors[0]).toMatchObject({ field: 'country', code: 'UNKNOWN_FIELD' })
  expect((await server.request('DELETE', path)).status).toBe(204)
  expect((await server.request('DELETE', path)).status).toBe(404)
  expect((await server.request('PATCH', path, { route: 'default' })).status).toBe(404)
})

test('409: a route stays while a rule leads to it', async () => {
  const { body } = await server.request('POST', '/routing-rules', { country: 'DK', route: 'spare' })
  const refused = await server.request('DELETE', '/routes/spare')
  expect(refused).toMatchObject({
    status: 409,
    body: { errorMessage: expect.stringContaining('routing rule') },
  })
  await server.request('DELETE', `/routing-rules/${body.ruleId}`)
  expect((await server.request('DELETE', '/routes/spare')).status).toBe(204)
})

test('200: the list, in pages, of one plan or to one route', async () => {
  const all = await server.request('GET', '/routing-rules?limit=1000')
  const ids = all.body.items.map((rule: { ruleId: number }) => rule.ruleId)
  expect(ids).toEqual([...ids].sort((a, b) => a - b))
  const first = await server.request('GET', '/routing-rules?limit=2')
  expect(first.body).toEqual({ items: all.body.items.slice(0, 2), nextAfter: String(ids[1]) })
  const second = await server.request('GET', `/routing-rules?limit=2&after=${first.body.nextAfter}`)
  expect(second.body.items).toEqual(all.body.items.slice(2, 4))
  const ofPlan = await server.request('GET', `/routing-rules?servicePlanId=${servicePlanId}`)
  expect(ofPlan.body.items).toMatchObject([{ servicePlanId, country: 'SE' }])
  const ofRoute = await server.request('GET', '/routing-rules?route=default')
  expect(ofRoute.body.items).toEqual([])
})

test('a plan takes its rules with it', async () => {
  const plan = await createPlan(server)
  const rule = { servicePlanId: plan.servicePlanId, country: 'SE', route: 'uk' }
  const { body } = await server.request('POST', '/routing-rules', rule)
  expect((await server.request('DELETE', `/service-plans/${plan.servicePlanId}`)).status).toBe(204)
  expect((await server.request('GET', `/routing-rules/${body.ruleId}`)).status).toBe(404)
})

test('409: 100,000 rules are the most', async () => {
  const { db } = server.database
  await db.query(
    `insert into routing_rules (prefix, route_id)
     select '+' || 100000 + n, (select id from routes where name = 'uk')
     from generate_series(1, 100000 - (select count(*)::int from routing_rules)) n`,
  )
  const refused = await server.request('POST', '/routing-rules', { country: 'PL', route: 'uk' })
  expect(refused).toMatchObject({ status: 409, body: { errorMessage: expect.stringContaining('100000') } })
  expect((await server.request('GET', '/routing-rules?route=uk&limit=1')).status).toBe(200)
  await db.query("delete from routing_rules where prefix = '+100001'")
  expect((await server.request('POST', '/routing-rules', { country: 'PL', route: 'uk' })).status).toBe(201)
})
