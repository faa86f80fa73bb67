import { beforeEach, expect, test } from 'vitest'
import { MAX_SENDER_RULES } from '../../../../src/operations/configuration/rules.ts'
import { adminServerOfFile, createPlan } from '../../../support/admin-server.ts'

const server = await adminServerOfFile()
const { servicePlanId } = await createPlan(server)
beforeEach(() => server.database.db.query('delete from sender_rules'))

const RULE = { country: 'US', senderTypes: ['short-code', 'e164'] }

test('201: a rule for all plans, at once in the directory; 409 for the same plan and country', async () => {
  const { status, body, headers } = await server.request('POST', '/sender-rules', RULE)
  expect(status).toBe(201)
  expect(body).toEqual({
    ruleId: expect.any(Number),
    servicePlanId: null,
    ...RULE,
    createdAt: expect.any(String),
  })
  expect(headers.get('location')).toBe(`/admin/v1/sender-rules/${body.ruleId}`)
  expect((await server.request('GET', `/sender-rules/${body.ruleId}`)).body).toEqual(body)
  expect(server.directory.current().senderTypesTowards(1, 'US')).toEqual(new Set(RULE.senderTypes))
  expect((await server.request('POST', '/sender-rules', RULE)).status).toBe(409)
})

test('201: a rule of one plan beside that for all, and one that allows none', async () => {
  await server.request('POST', '/sender-rules', RULE)
  const own = { ...RULE, servicePlanId: servicePlanId.toUpperCase(), senderTypes: [] }
  const { body } = await server.request('POST', '/sender-rules', own)
  expect(body).toMatchObject({ servicePlanId, senderTypes: [] })
  const directory = server.directory.current()
  const planId = directory.planByPublicId(servicePlanId)!.id
  expect(directory.senderTypesTowards(planId, 'US')).toEqual(new Set())
  expect(directory.senderTypesTowards(planId + 1, 'US')).toEqual(new Set(RULE.senderTypes))
  expect(directory.senderTypesTowards(planId, 'CA')).toBeNull()
})

test.each([
  ['country', { country: 'ZZ' }],
  ['country', { country: 'us' }],
  ['country', { country: null }],
  ['senderTypes.0', { senderTypes: ['shortcode'] }],
  ['senderTypes', { senderTypes: ['e164', 'e164'] }],
  ['senderTypes', { senderTypes: 'e164' }],
  ['servicePlanId', { servicePlanId: '0'.repeat(24) }],
  ['prefix', { prefix: '+1' }],
])('400 names %s for %j', async (field, fields) => {
  const { status, body } = await server.request('POST', '/sender-rules', { ...RULE, ...fields })
  expect(status).toBe(400)
  expect(body.errors[0].field).toBe(field)
})

test('200: what a rule allows changes; 404 where there is none', async () => {
  const { body } = await server.request('POST', '/sender-rules', RULE)
  const path = `/sender-rules/${body.ruleId}`
  const changed = await server.request('PATCH', path, { senderTypes: ['alphanumeric'] })
  expect(changed.body).toEqual({ ...body, senderTypes: ['alphanumeric'] })
  expect((await server.request('PATCH', path, { country: 'CA' })).status).toBe(400)
  expect((await server.request('PATCH', '/sender-rules/99999', { senderTypes: [] })).status).toBe(404)
})

test('204: a rule is gone; those of a plan go with it', async () => {
  const { body } = await server.request('POST', '/sender-rules', RULE)
  expect((await server.request('DELETE', `/sender-rules/${body.ruleId}`)).status).toBe(204)
  expect((await server.request('DELETE', `/sender-rules/${body.ruleId}`)).status).toBe(404)
  const { servicePlanId: plan } = await createPlan(server)
  await server.request('POST', '/sender-rules', { ...RULE, servicePlanId: plan })
  expect((await server.request('DELETE', `/service-plans/${plan}`)).status).toBe(204)
  expect(server.directory.current().contents.senderRules).toEqual([])
})

test('200: filters and pages', async () => {
  const ids: number[] = []
  for (const fields of [{}, { country: 'CA' }, { servicePlanId }]) {
    ids.push((await server.request('POST', '/sender-rules', { ...RULE, ...fields })).body.ruleId)
  }
  const listed = async (query: string) => {
    const { body } = await server.request('GET', `/sender-rules?${query}`)
    return body.items.map((item: { ruleId: number }) => item.ruleId)
  }
  expect(await listed('country=US')).toEqual([ids[0], ids[2]])
  expect(await listed(`servicePlanId=${servicePlanId}`)).toEqual([ids[2]])
  expect(await listed('limit=2')).toEqual(ids.slice(0, 2))
  expect(await listed(`limit=2&after=${ids[1]}`)).toEqual([ids[2]])
})

test('409: there are never more than can be kept in memory', async () => {
  const { db } = server.database
  await db.query('alter table sender_rules drop constraint sender_rules_plan_id_country_key')
  await db.query(
    `insert into sender_rules (country, sender_types) select 'SE', '{}' from generate_series(1, $1)`,
    [MAX_SENDER_RULES],
  )
  const { status, body } = await server.request('POST', '/sender-rules', RULE)
  expect(`${status} ${body.errorMessage}`).toBe('409 there can be at most 50000 sender rules')
})
