import { expect, test } from 'vitest'
import { adminServerOfFile, createPlan } from '../../../support/admin-server.ts'

const server = await adminServerOfFile()
const { servicePlanId } = await createPlan(server)

test('201: a number with keywords, at once in the directory; 409 when it is taken', async () => {
  const number = '+46701234567'
  const request = { number, servicePlanId, keywords: ['JOIN', 'Hjälp'] }
  const { status, body } = await server.request('POST', '/inbound-numbers', request)
  expect(status).toBe(201)
  expect(body).toMatchObject(request)
  expect((await server.request('GET', `/inbound-numbers/${number}`)).body).toEqual(body)
  const inbound = server.directory.current().inboundNumber(number)
  expect(inbound).toMatchObject({ keywords: ['JOIN', 'Hjälp'], plan: { servicePlanId } })
  expect((await server.request('POST', '/inbound-numbers', request)).status).toBe(409)
})

test('201: a short code', async () => {
  const { status, body } = await server.request('POST', '/inbound-numbers', {
    number: '71234',
    servicePlanId,
  })
  expect(`${status} ${body.number}`).toBe('201 71234')
  expect(body.keywords).toEqual([])
})

test.each([
  ['number', { number: '0701234567' }],
  ['number', { number: '+46 70 123' }],
  ['servicePlanId', { servicePlanId: '0'.repeat(24) }],
  ['keywords', { keywords: ['STOP', 'stop'] }],
  ['keywords.0', { keywords: ['two words'] }],
  ['keywords.0', { keywords: ['\u0000'] }],
  ['keywords.0', { keywords: ['STOP\u001b'] }],
  ['keywords', { keywords: 'STOP' }],
])('400 names %s for %j', async (field, fields) => {
  const request = { number: '+46709999999', servicePlanId, ...fields }
  const { status, body } = await server.request('POST', '/inbound-numbers', request)
  expect(status).toBe(400)
  expect(body.errors[0].field).toBe(field)
})

test('200: a number moves to another plan and keeps its keywords, or the other way round', async () => {
  const number = '+46701111111'
  await server.request('POST', '/inbound-numbers', { number, servicePlanId, keywords: ['JOIN'] })
  const other = await createPlan(server)
  const moved = await server.request('PATCH', `/inbound-numbers/${number}`, {
    servicePlanId: other.servicePlanId,
  })
  expect(moved.body).toMatchObject({ servicePlanId: other.servicePlanId, keywords: ['JOIN'] })
  const cleared = await server.request('PATCH', `/inbound-numbers/${number}`, { keywords: [] })
  expect(cleared.body).toMatchObject({ servicePlanId: other.servicePlanId, keywords: [] })
})

test('204: a number is taken away; 409 for the plan of one that is not', async () => {
  const number = '+46702222222'
  const { servicePlanId: plan } = await createPlan(server)
  await server.request('POST', '/inbound-numbers', { number, servicePlanId: plan })
  expect((await server.request('DELETE', `/service-plans/${plan}`)).status).toBe(409)
  expect((await server.request('DELETE', `/inbound-numbers/${number}`)).status).toBe(204)
  expect(server.directory.current().inboundNumber(number)).toBeUndefined()
  expect((await server.request('DELETE', `/service-plans/${plan}`)).status).toBe(204)
})

test('200: the numbers of one plan', async () => {
  const { servicePlanId: plan } = await createPlan(server)
  await server.request('POST', '/inbound-numbers', { number: '+46703333333', servicePlanId: plan })
  const { body } = await server.request('GET', `/inbound-numbers?servicePlanId=${plan}`)
  expect(body.items.map((item: { number: string }) => item.number)).toEqual(['+46703333333'])
})
