import { expect, test } from 'vitest'
import { adminServerOfFile, createPlan } from '../../../support/admin-server.ts'

const PERSON = '+15551230000'

const server = await adminServerOfFile()
const { servicePlanId } = await createPlan(server)

const query = (fields: Record<string, string>) => `/opt-outs?${new URLSearchParams(fields)}`
const listed = async (fields: Record<string, string>) => {
  const { body } = await server.request('GET', query(fields))
  return body.items.map((item: { from: string; to: string }) => `${item.from} ${item.to}`)
}

test('201, then 200 for the same; listed; 204, then 404', async () => {
  const optOut = { servicePlanId, from: '+15550001000', to: PERSON }
  const { status, body } = await server.request('POST', '/opt-outs', optOut)
  expect(status).toBe(201)
  expect(body).toEqual({ ...optOut, createdAt: expect.any(String) })
  const again = await server.request('POST', '/opt-outs', {
    ...optOut,
    servicePlanId: servicePlanId.toUpperCase(),
  })
  expect([again.status, again.body]).toEqual([200, body])
  expect((await server.request('GET', query({ servicePlanId }))).body).toEqual({
    items: [body],
    nextAfter: null,
  })
  expect((await server.request('DELETE', query(optOut))).status).toBe(204)
  expect((await server.request('DELETE', query(optOut))).status).toBe(404)
  expect(await listed({ servicePlanId })).toEqual([])
})

test('200: imported, all or none; in pages; of one sender or person', async () => {
  const plan = (await createPlan(server)).servicePlanId
  const optOuts = Array.from({ length: 1_000 }, (_, n) => {
    return { servicePlanId: plan, from: n % 2 ? '71234' : 'Aldis', to: `+1555123${1_000 + n}` }
  })
  const request = { optOuts }
  expect((await server.request('POST', '/opt-outs/import', request)).body).toEqual({
    created: 1_000,
    known: 0,
  })
  expect((await server.request('POST', '/opt-outs/import', request)).body).toEqual({
    created: 0,
    known: 1_000,
  })
  const seen: string[] = []
  let after: string | null = ''
  while (after !== null) {
    const page: Record<string, string> = { servicePlanId: plan, limit: '300', ...(after && { after }) }
    const { body } = await server.request('GET', query(page))
    seen.push(...body.items.map((item: { from: string; to: string }) => `${item.from} ${item.to}`))
    after = body.nextAfter
  }
  expect(new Set(seen)).toEqual(new Set(optOuts.map(({ from, to }) => `${from} ${to}`)))
  expect(seen).toHaveLength(1_000)
  expect(await listed({ servicePlanId: plan, to: '+15551231001' })).toEqual(['71234 +15551231001'])
  expect(await listed({ servicePlanId: plan, from: 'Aldis', limit: '1' })).toEqual(['Aldis +15551231000'])
  expect(await listed({ servicePlanId: plan, from: 'Other' })).toEqual([])
})

test('an unescaped plus is read as one', async () => {
  const plan = (await createPlan(server)).servicePlanId
  await server.request('POST', '/opt-outs', { servicePlanId: plan, from: '+15550001000', to: PERSON })
  const path = `/opt-outs?servicePlanId=${plan}&from=+15550001000&to=${PERSON}`
  expect((await server.request('GET', path)).body.items).toHaveLength(1)
  const behind = `/opt-outs?servicePlanId=${plan}&after=+15550001000/${PERSON}`
  expect((await server.request('GET', behind)).body.items).toEqual([])
  expect((await server.request('DELETE', path)).status).toBe(204)
})

test.each([
  ['to', { to: '15551230000' }],
  ['to', { to: ['+15551230000'] }],
  ['from', { from: 'twelve letters' }],
  ['from', { from: '+1555 000 1000' }],
  ['servicePlanId', { servicePlanId: '0'.repeat(24) }],
  ['servicePlanId', { servicePlanId: 'x' }],
  ['reason', { reason: 'asked' }],
])('400 names %s for %j', async (field, fields) => {
  const optOut = { servicePlanId, from: '+15550001000', to: PERSON, ...fields }
  const one = await server.request('POST', '/opt-outs', optOut)
  expect([one.status, one.body.errors[0].field]).toEqual([400, field])
  const valid = { servicePlanId, from: '71234', to: '+15551239999' }
  const many = await server.request('POST', '/opt-outs/import', { optOuts: [valid, optOut] })
  expect([many.status, many.body.errors[0].field]).toEqual([400, `optOuts.1.${field}`])
  expect(await listed({ servicePlanId })).toEqual([])
})

test.each([
  ['servicePlanId', {}],
  ['servicePlanId', { servicePlanId: '0'.repeat(24) }],
  ['to', { to: 'x' }],
  ['from', { from: '1' }],
])('400: a list names %s for %j', async (field, fields) => {
  const plan: Record<string, string> = field === 'servicePlanId' ? {} : { servicePlanId }
  const { status, body } = await server.request('GET', query({ ...plan, ...fields }))
  expect([status, body.errors[0].field]).toEqual([400, field])
})
