import { expect, test } from 'vitest'
import { adminServerOfFile, CARRIER, createPlan } from '../../../support/admin-server.ts'
import { newId } from '../../../support/installation.ts'

const AT = Date.parse('2026-01-02T03:04:05.678Z')
const ids = Array.from({ length: 5 }, (_, n) => newId(AT + n, n))

const server = await adminServerOfFile()
const { db } = server.database
await server.request('POST', '/carriers', CARRIER)
const { accountId, servicePlanId } = await createPlan(server)
const other = await createPlan(server)
await db.query('create table inbound_messages_all partition of inbound_messages default')
await db.query(
  `insert into inbound_messages (plan_id, msg_id, carrier_id, sender, recipient, keyword, body)
   select p.id, i.msg_id, 1, i.sender, i.recipient, i.keyword, 'hej'
   from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[]) as i (msg_id, plan, sender, recipient, keyword)
   join service_plans p on p.service_plan_id = i.plan`,
  [
    ids,
    [servicePlanId, servicePlanId, servicePlanId, servicePlanId, other.servicePlanId],
    ['+46701234567', '+46701234567', 'Åland', '+46701234567', '+46701234567'],
    ['71234', '+15550001111', '71234', '71234', '71234'],
    ['JOIN', null, null, null, null],
  ],
)

async function idsOf(query: Record<string, string>): Promise<string[]> {
  const search = new URLSearchParams({ servicePlanId, ...query })
  const { status, body } = await server.request('GET', `/inbound-messages?${search}`)
  expect(status).toBe(200)
  return body.items.map(({ msgId }: { msgId: string }) => msgId)
}

test('200: those of a plan, newest first, page by page', async () => {
  const path = `/inbound-messages?servicePlanId=${servicePlanId}&limit=3`
  const first = await server.request('GET', path)
  expect(first.body.items.map(({ msgId }: { msgId: string }) => msgId)).toEqual([ids[3], ids[2], ids[1]])
  expect(first.body.nextAfter).toBe(ids[1])
  const rest = await server.request('GET', `${path}&after=${first.body.nextAfter}`)
  const oldest = {
    accountId,
    servicePlanId,
    msgId: ids[0],
    carrier: 'acme',
    from: '+46701234567',
    to: '71234',
    keyword: 'JOIN',
    body: 'hej',
    parts: 1,
    partsExpected: 1,
    receivedAt: '2026-01-02T03:04:05.678Z',
  }
  expect(rest.body).toEqual({ items: [oldest], nextAfter: null })
})

test('200: filtered', async () => {
  expect(await idsOf({ from: 'Åland' })).toEqual([ids[2]])
  expect(await idsOf({ to: '+15550001111' })).toEqual([ids[1]])
  expect(await idsOf({ keyword: 'join' })).toEqual([ids[0]])
  expect(await idsOf({ from: '+46701234567', to: '71234' })).toEqual([ids[3], ids[0]])
  const at = '2026-01-02T03:04:05.678Z'
  expect(await idsOf({ fromDate: at, toDate: at })).toEqual([ids[0]])
  expect(await idsOf({ from: '+46701234567', fromDate: '2026-01-02T03:04:05.679Z' })).toEqual([
    ids[3],
    ids[1],
  ])
})

test('200: one, whosever it is', async () => {
  const { status, body } = await server.request('GET', `/inbound-messages/${ids[4]!.toUpperCase()}`)
  expect(status).toBe(200)
  expect(body).toMatchObject({ msgId: ids[4], servicePlanId: other.servicePlanId, keyword: null })
})

test.each([
  ['', 'servicePlanId', 'REQUIRED'],
  ['servicePlanId=x', 'servicePlanId', 'INVALID_FORMAT'],
  [`servicePlanId=${'f'.repeat(24)}`, 'servicePlanId', 'NOT_FOUND'],
  [`servicePlanId=${servicePlanId}&from=%00`, 'from', 'INVALID_FORMAT'],
  [`servicePlanId=${servicePlanId}&to=Aldis`, 'to', 'INVALID_FORMAT'],
  [`servicePlanId=${servicePlanId}&keyword=two%20words`, 'keyword', 'INVALID_FORMAT'],
  [`servicePlanId=${servicePlanId}&fromDate=today`, 'fromDate', 'INVALID_FORMAT'],
  [`servicePlanId=${servicePlanId}&after=x`, 'after', 'INVALID_FORMAT'],
  [`servicePlanId=${servicePlanId}&status=SENT`, 'status', 'UNKNOWN_FIELD'],
])('400 to ?%s', async (query, field, code) => {
  const { status, body } = await server.request('GET', `/inbound-messages?${query}`)
  expect([status, body.errors?.[0].field, body.errors?.[0].code]).toEqual([400, field, code])
})

test('404 for one there is not, 400 for an id that is none', async () => {
  const missing = await server.request('GET', `/inbound-messages/${newId(AT, 0)}`)
  expect([missing.status, missing.body.errorCode]).toEqual([404, 'MESSAGE_NOT_FOUND'])
  expect((await server.request('GET', '/inbound-messages/12345')).status).toBe(400)
})
