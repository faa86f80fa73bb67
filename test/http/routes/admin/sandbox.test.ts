import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, createAccount, startAdminServer } from '../../../support/admin-server.ts'

/** What operators can and cannot do with the carrier and the route of sandbox plans. */

let server: AdminServer
let accountId: string
beforeAll(async () => {
  server = await startAdminServer()
  accountId = await createAccount(server)
})
afterAll(() => server[Symbol.asyncDispose]())

const createPlan = (fields: object = {}) =>
  server.request('POST', '/service-plans', { accountId, name: 'Tests', sandbox: true, ...fields })
const statusOf = async (method: string, path: string, body?: unknown) => {
  const answer = await server.request(method, path, body)
  const { errorMessage, errors } = answer.body ?? {}
  return [answer.status, errors?.[0].message ?? errorMessage]
}
const RESERVED = 'must not be sandbox, which is for sandbox plans'
const CARRIER = { host: 'smpp.example.net', systemId: 'aldis', password: 'secret' }

test('before there is a sandbox plan, nobody can take the names', async () => {
  expect((await server.request('GET', '/carriers')).body.items).toEqual([])
  expect(await statusOf('POST', '/carriers', { ...CARRIER, name: 'sandbox' })).toEqual([400, RESERVED])
  expect(await statusOf('POST', '/routes', { name: 'sandbox', carriers: [] })).toEqual([400, RESERVED])
  await server.request('POST', '/carriers', { ...CARRIER, name: 'acme' })
  await server.request('POST', '/routes', { name: 'main', carriers: [{ carrier: 'acme' }] })
  expect(await statusOf('PATCH', '/carriers/acme', { name: 'sandbox' })).toEqual([400, RESERVED])
  expect(await statusOf('PATCH', '/routes/main', { name: 'sandbox' })).toEqual([400, RESERVED])
})

test('the first sandbox plans make one carrier and one route, however many come at once', async () => {
  const answers = await Promise.all([createPlan(), createPlan(), createPlan()])
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
  for (const { body } of answers)
    expect(body).toMatchObject({ sandbox: true, complete: true, route: 'sandbox' })
  const { items: carriers } = (await server.request('GET', '/carriers')).body
  expect(carriers.map(({ name }: { name: string }) => name)).toEqual(['acme', 'sandbox'])
  const { body: route } = await server.request('GET', '/routes/sandbox')
  expect(route.carriers).toEqual([{ carrier: 'sandbox', priority: 0, weight: 1 }])
})

test('a sandbox plan keeps its route, and has no other', async () => {
  const absent = 'must be absent: a sandbox plan has a route of its own'
  expect((await createPlan({ route: 'main' })).body.errors[0]).toMatchObject({
    field: 'route',
    message: absent,
  })
  const { servicePlanId } = (await createPlan()).body
  for (const route of ['main', null, 'sandbox']) {
    expect(await statusOf('PATCH', `/service-plans/${servicePlanId}`, { route })).toEqual([
      409,
      'the route of a sandbox plan cannot be changed',
    ])
  }
  const { status } = await server.request('PATCH', `/service-plans/${servicePlanId}`, { sandbox: false })
  expect(status).toBe(400)
})

test('no other plan, rule or route can have the route or the carrier, by name or number', async () => {
  const { body: plan } = await createPlan({ sandbox: false, route: 'main' })
  expect(plan).toMatchObject({ sandbox: false, route: 'main' })
  const { carrierId } = (await server.request('GET', '/carriers/sandbox')).body
  const { routeId } = (await server.request('GET', '/routes/sandbox')).body
  for (const route of ['sandbox', String(routeId)]) {
    const path = `/service-plans/${plan.servicePlanId}`
    expect(await statusOf('PATCH', path, { route })).toEqual([400, RESERVED])
    expect(await statusOf('POST', '/service-plans', { accountId, name: 'x', route })).toEqual([400, RESERVED])
  }
  expect(await statusOf('POST', '/routing-rules', { country: 'GB', route: 'sandbox' })).toEqual([
    400,
    RESERVED,
  ])
  for (const carrier of ['sandbox', String(carrierId)]) {
    const carriers = [{ carrier: 'acme' }, { carrier }]
    expect((await server.request('POST', '/routes', { name: 'mixed', carriers })).status).toBe(400)
    expect((await server.request('PATCH', '/routes/main', { carriers })).status).toBe(400)
  }
})

test('statistics and quality can be read of the route and the carrier', async () => {
  const { routeId } = (await server.request('GET', '/routes/sandbox')).body
  for (const filter of ['route=sandbox', `route=${routeId}`, 'carrier=sandbox'])
    for (const path of ['/statistics', '/quality'])
      expect((await server.request('GET', `${path}?${filter}`)).status).toBe(200)
})

test('of the carrier only the state can be changed, of the route nothing', async () => {
  const only = [409, 'only the state of the carrier sandbox can be changed']
  const { carrierId } = (await server.request('GET', '/carriers/sandbox')).body
  for (const key of ['sandbox', carrierId]) {
    for (const change of [{ host: 'smpp.example.net' }, { name: 'other' }, { state: 'stopped', port: 2775 }])
      expect(await statusOf('PATCH', `/carriers/${key}`, change)).toEqual(only)
    for (const state of ['stopped', 'draining', 'started'])
      expect((await server.request('PATCH', `/carriers/${key}`, { state })).body).toMatchObject({ state })
  }
  const change = { carriers: [{ carrier: 'acme' }] }
  expect(await statusOf('PATCH', '/routes/sandbox', change)).toEqual([
    409,
    'the route sandbox cannot be changed',
  ])
})

test('both can be deleted once no sandbox plan is left, and are made again with the next', async () => {
  expect((await server.request('DELETE', '/routes/sandbox')).status).toBe(409)
  expect((await server.request('DELETE', '/carriers/sandbox')).status).toBe(409)
  const { items } = (await server.request('GET', '/service-plans')).body
  for (const { servicePlanId, sandbox } of items)
    if (sandbox) await server.request('DELETE', `/service-plans/${servicePlanId}`)
  expect((await server.request('DELETE', '/routes/sandbox')).status).toBe(204)
  expect((await createPlan()).body).toMatchObject({ route: 'sandbox' })
  expect((await server.request('GET', '/routes/sandbox')).status).toBe(200)
})
