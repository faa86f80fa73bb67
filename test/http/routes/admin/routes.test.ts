import { expect, test } from 'vitest'
import { withTransaction } from '../../../../src/store/database.ts'
import { adminServerOfFile, CARRIER, createAccount } from '../../../support/admin-server.ts'
import { eventually } from '../../../support/eventually.ts'

const server = await adminServerOfFile()
await server.request('POST', '/carriers', CARRIER)
await server.request('POST', '/carriers', { ...CARRIER, name: 'backup' })

test('201: a route over carriers, by priority', async () => {
  const carriers = [{ carrier: 'backup', priority: 1 }, { carrier: 'acme' }]
  const { status, body } = await server.request('POST', '/routes', { name: 'default', carriers })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    name: 'default',
    carriers: [
      { carrier: 'acme', priority: 0, weight: 1 },
      { carrier: 'backup', priority: 1, weight: 1 },
    ],
  })
  expect((await server.request('GET', '/routes/default')).body).toEqual(body)
  expect((await server.request('GET', `/routes/${body.routeId}`)).body).toEqual(body)
  const { routes } = server.directory.current().contents
  expect(routes.find((route) => route.name === 'default')!.carriers).toEqual([
    { carrierId: 1, priority: 0, weight: 1 },
    { carrierId: 2, priority: 1, weight: 1 },
  ])
  expect((await server.request('POST', '/routes', { name: 'default', carriers: [] })).status).toBe(409)
})

test('200: the list of those with a carrier; 400 for no name', async () => {
  await server.request('POST', '/carriers', { ...CARRIER, name: 'lonely' })
  await server.request('POST', '/routes', { name: 'lonely', carriers: [{ carrier: 'lonely' }] })
  const { body } = await server.request('GET', '/routes?carrier=lonely')
  expect(body.items.map(({ name }: { name: string }) => name)).toEqual(['lonely'])
  expect((await server.request('GET', '/routes?carrier=nobody')).body.items).toEqual([])
  expect((await server.request('GET', '/routes?carrier=a%20b')).status).toBe(400)
})

test.each([
  ['carriers.0.carrier', [{ carrier: 'nobody' }]],
  ['carriers', [{ carrier: 'acme' }, { carrier: 'acme', priority: 1 }]],
  ['carriers.0.weight', [{ carrier: 'acme', weight: 0 }]],
  ['carriers.0.carrier', [{}]],
  ['carriers.0.prio', [{ carrier: 'acme', prio: 1 }]],
])('400 names %s for %j, and no route is made', async (field, carriers) => {
  const { status, body } = await server.request('POST', '/routes', { name: 'bad', carriers })
  expect(status).toBe(400)
  expect(body.errors[0].field).toBe(field)
  expect((await server.request('GET', '/routes/bad')).status).toBe(404)
})

test('200: a change of carriers takes the place of all, a new name keeps them', async () => {
  await server.request('POST', '/routes', { name: 'changing', carriers: [{ carrier: 'acme' }] })
  const changed = await server.request('PATCH', '/routes/changing', {
    carriers: [{ carrier: 'backup', weight: 3 }],
  })
  expect(changed.body.carriers).toEqual([{ carrier: 'backup', priority: 0, weight: 3 }])
  const refused = await server.request('PATCH', '/routes/changing', { carriers: [{ carrier: 'nobody' }] })
  expect(refused.status).toBe(400)
  const renamed = await server.request('PATCH', '/routes/changing', { name: 'changed' })
  expect(renamed.body).toMatchObject({ name: 'changed', carriers: [{ carrier: 'backup' }] })
  expect((await server.request('PATCH', '/routes/changed', { name: 'default' })).status).toBe(409)
})

test('409 when a carrier is removed while the route that is to have it is changed; the route keeps its own', async () => {
  const { db } = server.database
  await server.request('POST', '/carriers', { ...CARRIER, name: 'leaving' })
  await server.request('POST', '/routes', { name: 'staying', carriers: [{ carrier: 'acme' }] })
  const carriers = [{ carrier: 'leaving' }]
  const sent: ReturnType<typeof server.request>[] = []
  await withTransaction(db, async (other) => {
    await other.query(`delete from carriers where name = 'leaving'`)
    sent.push(server.request('PATCH', '/routes/staying', { carriers }))
    sent.push(server.request('POST', '/routes', { name: 'coming', carriers }))
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await eventually(async () => (await db.query(waiting)).rowCount === 2)
  })
  for (const { status, body } of await Promise.all(sent)) {
    expect(status).toBe(409)
    expect(body.errorMessage).toContain('leaving')
  }
  const { body } = await server.request('GET', '/routes/staying')
  expect(body.carriers).toMatchObject([{ carrier: 'acme' }])
  expect((await server.request('GET', '/routes/coming')).status).toBe(404)
})

test('a quality floor is set, completed, changed and lifted', async () => {
  const whole = { minDelivered: 70, windowMinutes: 30, minMessages: 50, pauseMinutes: 15 }
  const made = await server.request('POST', '/routes', { name: 'watched', carriers: [], qualityFloor: whole })
  expect(made).toMatchObject({ status: 201, body: { qualityFloor: whole } })
  const inDirectory = () =>
    server.directory.current().contents.routes.find(({ name }) => name === 'watched')!.qualityFloor
  expect(inDirectory()).toEqual(whole)
  const least = await server.request('PATCH', '/routes/watched', { qualityFloor: { minDelivered: 90 } })
  const completed = { minDelivered: 90, windowMinutes: 60, minMessages: 100, pauseMinutes: 30 }
  expect(least.body.qualityFloor).toEqual(completed)
  const other = await server.request('PATCH', '/routes/watched', { carriers: [{ carrier: 'acme' }] })
  expect(other.body).toMatchObject({ qualityFloor: completed, carriers: [{ carrier: 'acme' }] })
  const lifted = await server.request('PATCH', '/routes/watched', { qualityFloor: null })
  expect(lifted.body.qualityFloor).toBeNull()
  expect(inDirectory()).toBeNull()
})

test.each([
  ['qualityFloor.minDelivered', {}],
  ['qualityFloor.minDelivered', { minDelivered: 0 }],
  ['qualityFloor.minDelivered', { minDelivered: 101 }],
  ['qualityFloor.windowMinutes', { minDelivered: 50, windowMinutes: 4 }],
  ['qualityFloor.windowMinutes', { minDelivered: 50, windowMinutes: 1_441 }],
  ['qualityFloor.minMessages', { minDelivered: 50, minMessages: 9 }],
  ['qualityFloor.minMessages', { minDelivered: 50, minMessages: 1_000_001 }],
  ['qualityFloor.pauseMinutes', { minDelivered: 50, pauseMinutes: 0 }],
  ['qualityFloor.pauseMinutes', { minDelivered: 50, pauseMinutes: 1_441 }],
  ['qualityFloor.pause', { minDelivered: 50, pause: 1 }],
])('400 names %s in %j', async (field, qualityFloor) => {
  const { status, body } = await server.request('POST', '/routes', {
    name: 'bad',
    carriers: [],
    qualityFloor,
  })
  expect(status).toBe(400)
  expect(body.errors[0].field).toBe(field)
})

test('204: a route goes with its entries; 409 while a plan uses it', async () => {
  await server.request('POST', '/routes', { name: 'used', carriers: [{ carrier: 'acme' }] })
  const accountId = await createAccount(server)
  const { body } = await server.request('POST', '/service-plans', { accountId, name: 'a', route: 'used' })
  expect((await server.request('DELETE', '/routes/used')).status).toBe(409)
  await server.request('PATCH', `/service-plans/${body.servicePlanId}`, { route: null })
  expect((await server.request('DELETE', '/routes/used')).status).toBe(204)
  expect((await server.request('DELETE', '/routes/used')).status).toBe(404)
})

test('200: the list, in pages', async () => {
  const { body } = await server.request('GET', '/routes?limit=1')
  expect(body.items).toHaveLength(1)
  expect(body.nextAfter).toBe(body.items[0].name)
})
