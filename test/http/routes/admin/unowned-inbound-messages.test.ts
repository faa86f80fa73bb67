import { expect, test } from 'vitest'
import { ensurePartitions } from '../../../../src/services/upkeep/day-partitions.ts'
import { adminServerOfFile, CARRIER, createPlan } from '../../../support/admin-server.ts'
import { newId } from '../../../support/installation.ts'

const server = await adminServerOfFile({ state: 'started' })
const { db } = server.database
await server.request('POST', '/carriers', CARRIER)

async function storeUnowned({ msgId = newId(Date.now()), to = '99999', body = 'hej' } = {}): Promise<string> {
  await db.query(
    `insert into unowned_inbound_messages (msg_id, carrier_id, sender, recipient, body)
     values ($1, 1, '+46701234567', $2, $3)`,
    [msgId, to, body],
  )
  return msgId
}

test('200: newest first, page by page', async () => {
  const at = Date.parse('2026-01-02T03:04:05.678Z')
  const ids = [newId(at), newId(at + 1), newId(at + 2)]
  for (const msgId of ids) await storeUnowned({ msgId })
  const first = await server.request('GET', '/unowned-inbound-messages?limit=2')
  expect(first.body.items.map((item: { msgId: string }) => item.msgId)).toEqual([ids[2], ids[1]])
  expect(first.body.items[1]).toEqual({
    msgId: ids[1],
    carrier: 'acme',
    parts: 1,
    partsExpected: 1,
    from: '+46701234567',
    to: '99999',
    body: 'hej',
    receivedAt: '2026-01-02T03:04:05.679Z',
  })
  const rest = await server.request('GET', `/unowned-inbound-messages?after=${first.body.nextAfter}`)
  expect(rest.body.items.map((item: { msgId: string }) => item.msgId)).toEqual([ids[0]])
})

const give = (msgId: string, servicePlanId: string) =>
  server.request('POST', `/unowned-inbound-messages/${msgId}/give`, { servicePlanId })

test('204: becomes a message of the plan, with its keyword, and its event is due now', async () => {
  const { servicePlanId } = await createPlan(server)
  await server.request('PATCH', `/service-plans/${servicePlanId}`, {
    inboundUrl: 'https://hooks.example.com/',
  })
  await server.request('POST', '/inbound-numbers', { number: '71234', servicePlanId, keywords: ['JOIN'] })
  const fourDaysAgo = Date.now() - 4 * 86_400_000
  await ensurePartitions(db, fourDaysAgo)
  const msgId = await storeUnowned({ msgId: newId(fourDaysAgo), to: '71234', body: 'Join me' })
  expect((await give(msgId, servicePlanId)).status).toBe(204)
  const { body } = await server.request('GET', `/inbound-messages/${msgId}`)
  expect(body).toMatchObject({
    servicePlanId,
    carrier: 'acme',
    to: '71234',
    keyword: 'JOIN',
    body: 'Join me',
  })
  const { rows } = await db.query(
    `select state, holder, now() - began_at < interval '1 minute' as "isNew" from event_deliveries where msg_id = $1`,
    [msgId],
  )
  expect(rows).toEqual([{ state: 'waiting', holder: null, isNew: true }])
  expect((await give(msgId, servicePlanId)).status).toBe(404)
})

test('204: without an inbound URL it is kept; a number of another plan lends no keyword', async () => {
  const [owner, other] = [await createPlan(server), await createPlan(server)]
  const { servicePlanId } = owner
  await server.request('POST', '/inbound-numbers', { number: '71235', servicePlanId, keywords: ['JOIN'] })
  const msgId = await storeUnowned({ to: '71235', body: 'JOIN' })
  expect((await give(msgId, other.servicePlanId)).status).toBe(204)
  const { body } = await server.request('GET', `/inbound-messages/${msgId}`)
  expect(body).toMatchObject({ servicePlanId: other.servicePlanId, keyword: null })
  const { rowCount } = await db.query('select from event_deliveries where msg_id = $1', [msgId])
  expect(rowCount).toBe(0)
})

test('400 across the border of the sandbox: a person is no test, and a test reaches no real webhook', async () => {
  const real = await createPlan(server)
  const sandbox = await createPlan(server, { sandbox: true })
  const { carrierId } = (await server.request('GET', '/carriers/sandbox')).body
  const ofPerson = await storeUnowned()
  const ofSimulator = await storeUnowned()
  await db.query('update unowned_inbound_messages set carrier_id = $1 where msg_id = $2', [
    carrierId,
    ofSimulator,
  ])
  const refusal = async (msgId: string, { servicePlanId }: { servicePlanId: string }) => {
    const { status, body } = await give(msgId, servicePlanId)
    return [status, body.errors[0].message]
  }
  expect(await refusal(ofPerson, sandbox)).toEqual([
    400,
    'must not be a sandbox plan: a carrier delivered the message',
  ])
  expect(await refusal(ofSimulator, real)).toEqual([
    400,
    'must be a sandbox plan: the simulator delivered the message',
  ])
  expect((await give(ofSimulator, sandbox.servicePlanId)).status).toBe(204)
  expect((await give(ofPerson, real.servicePlanId)).status).toBe(204)
})

test('400 for a plan there is not: the message stays unowned', async () => {
  const msgId = await storeUnowned()
  const { status, body } = await give(msgId, 'f'.repeat(24))
  expect([status, body.errors[0].field, body.errors[0].code]).toEqual([400, 'servicePlanId', 'NOT_FOUND'])
  const { rowCount } = await db.query('select from unowned_inbound_messages where msg_id = $1', [msgId])
  expect(rowCount).toBe(1)
})
