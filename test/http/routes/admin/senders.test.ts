import { expect, test } from 'vitest'
import { adminServerOfFile, createPlan } from '../../../support/admin-server.ts'

const server = await adminServerOfFile()

test.each(['Example', '12345', '+46701234567', 'A & B', 'constructor'])(
  '201, then 200: sender %s',
  async (sender) => {
    const { servicePlanId } = await createPlan(server)
    const path = `/service-plans/${servicePlanId}/senders/${encodeURIComponent(sender)}`
    const created = await server.request('PUT', path, { status: 'pending' })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({ servicePlanId, sender, status: 'pending' })
    const changed = await server.request('PUT', path, { status: 'approved' })
    expect(changed.status).toBe(200)
    expect((await server.request('GET', path)).body).toEqual({ ...created.body, status: 'approved' })
    const directory = server.directory.current()
    expect(directory.senderStatus(directory.planByPublicId(servicePlanId)!.id, sender)).toBe('approved')
  },
)

test('400: a status that is none of the three; with force it is kept as it was written', async () => {
  const { servicePlanId } = await createPlan(server)
  const path = `/service-plans/${servicePlanId}/senders/Example`
  for (const status of ['in review', 'aproved', 'Approved']) {
    const refused = await server.request('PUT', path, { status })
    expect([refused.status, refused.body.errors[0].field]).toEqual([400, 'status'])
    expect((await server.request('PUT', path, { status, force: true })).body.status).toBe(status)
  }
  expect((await server.request('PUT', path, { status: 'denied', force: false })).status).toBe(200)
  for (const status of ['', ' ', 'x'.repeat(33), 1, null]) {
    expect((await server.request('PUT', path, { status })).status, String(status)).toBe(400)
  }
})

test.each(['1', 'ThisIsFarTooLong', '+0123', 'snö'])('400: %s is no sender', async (sender) => {
  const { servicePlanId } = await createPlan(server)
  const path = `/service-plans/${servicePlanId}/senders/${encodeURIComponent(sender)}`
  const { status, body } = await server.request('PUT', path, { status: 'approved' })
  expect(status).toBe(400)
  expect(body.errors[0].field).toBe('sender')
})

test('400: a sender that no text of the database can be, wherever it stands', async () => {
  const { servicePlanId } = await createPlan(server)
  const path = `/service-plans/${servicePlanId}/senders`
  for (const bad of ['%00', 'a%00b', '%C3%A9']) {
    for (const method of ['GET', 'DELETE'] as const) {
      expect((await server.request(method, `${path}/${bad}`)).status, `${method} ${bad}`).toBe(400)
    }
    expect((await server.request('GET', `${path}?after=${bad}`)).status, bad).toBe(400)
  }
})

test('204: a subscription ends; 404 when there is none', async () => {
  const { servicePlanId } = await createPlan(server)
  const path = `/service-plans/${servicePlanId}/senders/Example`
  await server.request('PUT', path, { status: 'approved' })
  expect((await server.request('DELETE', path)).status).toBe(204)
  expect((await server.request('DELETE', path)).status).toBe(404)
  const directory = server.directory.current()
  expect(directory.senderStatus(directory.planByPublicId(servicePlanId)!.id, 'Example')).toBeUndefined()
})

test('200: the senders of one plan, in pages', async () => {
  const { servicePlanId } = await createPlan(server)
  const path = `/service-plans/${servicePlanId}/senders`
  for (const sender of ['Alpha', 'Beta', 'Gamma']) {
    await server.request('PUT', `${path}/${sender}`, { status: 'approved' })
  }
  const first = await server.request('GET', `${path}?limit=2`)
  expect(first.body.items.map((item: { sender: string }) => item.sender)).toEqual(['Alpha', 'Beta'])
  const second = await server.request('GET', `${path}?limit=2&after=${first.body.nextAfter}`)
  expect(second.body.items.map((item: { sender: string }) => item.sender)).toEqual(['Gamma'])
  expect(second.body.nextAfter).toBeNull()
})

test('of two changes at once, the second records what the first made', async () => {
  const { servicePlanId } = await createPlan(server)
  for (const sender of ['One', 'Two', 'Three']) {
    const path = `/service-plans/${servicePlanId}/senders/${sender}`
    await Promise.all(['approved', 'denied'].map((status) => server.request('PUT', path, { status })))
    const { body } = await server.request('GET', '/audit-log?limit=2')
    const [second, first] = body.items
    expect([first.before, second.before]).toEqual([null, first.after])
  }
})
