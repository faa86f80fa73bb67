import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sealCallbackUrl } from '../../../../src/domain/callback-credentials.ts'
import { messageId } from '../../../../src/domain/message-ids.ts'
import { type AdminServer, CARRIER, createPlan, startAdminServer } from '../../../support/admin-server.ts'

let server: AdminServer
const AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const newId = (ms = AT) => messageId(ms, randomBytes(9), 0)
beforeAll(async () => {
  server = await startAdminServer()
  await server.request('POST', '/carriers', CARRIER)
  await server.database.db.query('create table messages_all partition of messages default')
  await server.database.db.query('create table submissions_all partition of submissions default')
})
afterAll(() => server[Symbol.asyncDispose]())

test('200: a message of any plan, with what the carrier said', async () => {
  const { db } = server.database
  const { accountId, servicePlanId } = await createPlan(server)
  const planId = server.directory.current().planByPublicId(servicePlanId)!.id
  const msgId = newId()
  const callbackUrl = sealCallbackUrl(server.secretKey, 'https://me:hush@example.com/dlr', () =>
    randomBytes(12),
  )
  await db.query(
    `insert into messages (plan_id, msg_id, status, segments, carrier_id, sent_at, updated_at, sender, recipient, body,
       callback_url, error_code, carrier_code)
     values ($1, $2, 'FAILED', 2, 1, $3, $3, 'Example', '+46701234567', 'hej', $4, '301', 'UNDELIV 001')`,
    [planId, msgId, new Date(AT + 1_000), callbackUrl],
  )
  await db.query(
    `insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, segment)
     values (1, 'b2', $1, $2, 1), (1, 'a1', $1, $2, 0)`,
    [msgId, planId],
  )
  const { status, body } = await server.request('GET', `/messages/${msgId.toUpperCase()}`)
  expect(status).toBe(200)
  expect(body).toEqual({
    accountId,
    servicePlanId,
    msgId,
    status: 'FAILED',
    from: 'Example',
    to: '+46701234567',
    body: 'hej',
    segments: 2,
    callbackUrl: 'https://example.com/dlr',
    country: null,
    mccmnc: null,
    errorCode: '301',
    carrier: 'acme',
    carrierCode: 'UNDELIV 001',
    submissions: [
      { segment: 0, carrierMessageId: 'a1', carrier: 'acme' },
      { segment: 1, carrierMessageId: 'b2', carrier: 'acme' },
    ],
    createdAt: '2026-01-02T03:04:05.678Z',
    sentAt: '2026-01-02T03:04:06.678Z',
    updatedAt: '2026-01-02T03:04:06.678Z',
  })
})

test('404 for a message there is not, 400 for an id that is none', async () => {
  const missing = await server.request('GET', `/messages/${newId()}`)
  expect(`${missing.status} ${missing.body.errorCode}`).toBe('404 MESSAGE_NOT_FOUND')
  expect((await server.request('GET', '/messages/12345')).status).toBe(400)
})

test('200: inbound messages that nobody owns, newest first', async () => {
  const ids = [newId(AT), newId(AT + 1), newId(AT + 2)]
  for (const msgId of ids) {
    await server.database.db.query(
      `insert into unowned_inbound_messages (msg_id, carrier_id, sender, recipient, body)
       values ($1, 1, '+46701234567', '99999', 'hej')`,
      [msgId],
    )
  }
  const first = await server.request('GET', '/unowned-inbound-messages?limit=2')
  expect(first.body.items.map((item: { msgId: string }) => item.msgId)).toEqual([ids[2], ids[1]])
  expect(first.body.items[1]).toEqual({
    msgId: ids[1],
    carrier: 'acme',
    from: '+46701234567',
    to: '99999',
    body: 'hej',
    receivedAt: '2026-01-02T03:04:05.679Z',
  })
  const rest = await server.request('GET', `/unowned-inbound-messages?after=${first.body.nextAfter}`)
  expect(rest.body.items.map((item: { msgId: string }) => item.msgId)).toEqual([ids[0]])
})
