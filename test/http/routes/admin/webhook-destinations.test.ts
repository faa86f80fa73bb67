import { expect, test } from 'vitest'
import { adminServerOfFile, createPlan } from '../../../support/admin-server.ts'
import { DESTINATION, storeEvent } from '../../../support/stored-events.ts'

const PAUSED = 'https://a.example.com'

const server = await adminServerOfFile({ state: 'started' })
const { db } = server.database
const { servicePlanId } = await createPlan(server)
const planId = server.directory.current().planByPublicId(servicePlanId)!.id
const other = await createPlan(server)

const change = (verb: 'pause' | 'resume', body: unknown) =>
  server.request('POST', `/webhook-destinations/${verb}`, body)
const list = (query: Record<string, string> = {}) =>
  server.request('GET', `/webhook-destinations?${new URLSearchParams({ servicePlanId, ...query })}`)

test('200: paused, listed page by page, resumed', async () => {
  await storeEvent(db, { planId, state: 'failed' })
  const counts = { waiting: 0, parked: 0, failed: 0 }
  const paused = await change('pause', { servicePlanId, destination: PAUSED })
  const record = { destination: PAUSED, state: 'paused', since: expect.any(String), error: null, ...counts }
  expect([paused.status, paused.body]).toEqual([200, { ...record, pausedBy: 'operator' }])
  const first = await list({ limit: '1' })
  expect(first.body).toEqual({ items: [paused.body], nextAfter: PAUSED })
  const rest = await list({ limit: '1', after: PAUSED })
  const none = { since: null, error: null, pausedBy: null }
  expect(rest.body).toEqual({
    items: [{ destination: DESTINATION, state: 'delivering', ...none, ...counts, failed: 1 }],
    nextAfter: null,
  })
  expect((await list({ servicePlanId: other.servicePlanId })).body.items).toEqual([])
  const resumed = await change('resume', { servicePlanId, destination: PAUSED })
  expect([resumed.status, resumed.body]).toEqual([200, { ...record, state: 'recovering', pausedBy: null }])
})

test('200 resumes one whose events wait for a retry: they are due at once', async () => {
  const destination = 'https://retry.example.com'
  await storeEvent(db, { planId, state: 'pending', destination, attempts: 1 })
  const { status, body } = await change('resume', { servicePlanId, destination })
  expect([status, body]).toMatchObject([200, { state: 'recovering', waiting: 0, parked: 1 }])
  const { body: log } = await server.request('GET', '/audit-log?limit=2')
  const object = { objectType: 'webhook-destination', objectId: `${servicePlanId}/${destination}` }
  expect(log.items).toMatchObject([
    { ...object, after: { retried: 1 } },
    { ...object, after: { state: 'recovering' } },
  ])
})

test.each<[unknown, string, string]>([
  [{}, 'destination', 'REQUIRED'],
  [{ servicePlanId: 'f'.repeat(24), destination: PAUSED }, 'servicePlanId', 'NOT_FOUND'],
  [{ servicePlanId, destination: `${PAUSED}/` }, 'destination', 'INVALID_FORMAT'],
  [{ servicePlanId, destination: 'https://me:hush@a.example.com' }, 'destination', 'INVALID_FORMAT'],
  [{ servicePlanId, destination: `${PAUSED}\0` }, 'destination', 'INVALID_FORMAT'],
  [{ servicePlanId, destination: 7 }, 'destination', 'WRONG_TYPE'],
  [{ servicePlanId, destination: PAUSED, by: 'customer' }, 'by', 'UNKNOWN_FIELD'],
])('400 to %j', async (body, field, code) => {
  for (const verb of ['pause', 'resume'] as const) {
    const answer = await change(verb, body)
    expect(answer.status).toBe(400)
    expect(answer.body.errors).toContainEqual(expect.objectContaining({ field, code }))
  }
})

test('400 to a list of no plan, or of one there is not', async () => {
  expect((await server.request('GET', '/webhook-destinations')).status).toBe(400)
  const { status, body } = await list({ servicePlanId: 'f'.repeat(24) })
  expect([status, body.errors[0].code]).toEqual([400, 'NOT_FOUND'])
})

test('200 also where the customer has paused a thousand', async () => {
  await db.query(
    `insert into webhook_destinations (plan_id, destination, state, paused_by)
     select $1, 'https://' || n || '.example.com', 'paused', 'customer' from generate_series(1, 1000) n`,
    [planId],
  )
  const { status, body } = await change('pause', { servicePlanId, destination: PAUSED })
  expect([status, body.state, body.pausedBy]).toEqual([200, 'paused', 'operator'])
})
