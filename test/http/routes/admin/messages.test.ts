import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { messageId } from '../../../../src/domain/identifiers.ts'
import { sealCallbackUrl } from '../../../../src/domain/webhooks/callback-url.ts'
import { searchMessages } from '../../../../src/operations/search-messages.ts'
import { adminServerOfFile, CARRIER, createPlan } from '../../../support/admin-server.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const NO_FILTERS = {
  from: null,
  to: null,
  status: null,
  country: null,
  mccmnc: null,
  errorCode: null,
  carrierMessageId: null,
  fromDate: null,
  toDate: null,
}
const NO_RECEIPT = { outcome: null, errorCode: null, carrierCode: null, receiptAt: null }
const newId = (ms = AT) => messageId(ms, randomBytes(9), 0)
const server = await adminServerOfFile()
await server.request('POST', '/carriers', CARRIER)
await server.database.db.query('create table messages_all partition of messages default')
for (const table of ['submissions', 'submit_attempts', 'receipts', 'events', 'webhook_attempts'])
  await server.database.db.query(`create table ${table}_all partition of ${table} default`)

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
    `insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, answered_ms, latency_ms, segment)
     values (1, 'b2', $1, $2, 990, 20, 1), (1, 'a1', $1, $2, 960, 40, 0)`,
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
    price: null,
    ptf: null,
    currency: null,
    route: null,
    routeReason: null,
    carrier: 'acme',
    carrierCode: 'UNDELIV 001',
    attempts: [
      {
        attemptedAt: '2026-01-02T03:04:06.598Z',
        endedAt: '2026-01-02T03:04:06.678Z',
        carrier: 'acme',
        outcome: 'accepted',
        commandStatus: null,
        segment: null,
        resubmission: false,
        reason: null,
      },
    ],
    submissions: [
      {
        ...{ segment: 0, carrierMessageId: 'a1', carrier: 'acme', ...NO_RECEIPT },
        ...{ sentAt: '2026-01-02T03:04:06.598Z', answeredAt: '2026-01-02T03:04:06.638Z' },
      },
      {
        ...{ segment: 1, carrierMessageId: 'b2', carrier: 'acme', ...NO_RECEIPT },
        ...{ sentAt: '2026-01-02T03:04:06.648Z', answeredAt: '2026-01-02T03:04:06.668Z' },
      },
    ],
    receipts: [],
    webhookAttempts: [],
    webhookEvents: [],
    waiting: null,
    timeline: [
      { at: '2026-01-02T03:04:05.678Z', what: 'status', detail: 'QUEUED' },
      {
        at: '2026-01-02T03:04:06.598Z',
        what: 'attempt',
        detail: 'acme: accepted, ids a1 b2, after 80 ms',
      },
      {
        at: '2026-01-02T03:04:06.638Z',
        what: 'submit answer',
        detail: 'acme: segment 1 of 2, id a1, after 40 ms',
      },
      {
        at: '2026-01-02T03:04:06.668Z',
        what: 'submit answer',
        detail: 'acme: segment 2 of 2, id b2, after 20 ms',
      },
      { at: '2026-01-02T03:04:06.678Z', what: 'status', detail: 'SENT' },
      {
        at: '2026-01-02T03:04:06.678Z',
        what: 'status',
        detail: 'FAILED 301 Invalid recipient number, carrier: UNDELIV 001',
      },
    ],
    createdAt: '2026-01-02T03:04:05.678Z',
    sentAt: '2026-01-02T03:04:06.678Z',
    updatedAt: '2026-01-02T03:04:06.678Z',
  })
})

test('200: what happened on its way, each list and the timeline in order', async () => {
  const { db } = server.database
  const { servicePlanId } = await createPlan(server)
  const planId = server.directory.current().planByPublicId(servicePlanId)!.id
  const { rows: routes } = await db.query(`insert into routes (name) values ('premium') returning id`)
  const msgId = newId()
  const at = (ms: number) => new Date(AT + ms).toISOString()
  await db.query(
    `insert into messages (plan_id, msg_id, status, event_sequence, segments, carrier_id, route_id, route_reason, sent_at,
       updated_at, sender, recipient, body, error_code, carrier_code, price, ptf, currency)
     values ($1, $2, 'FAILED', 2, 2, 1, $3, 'weight 3 of 4', $4, $5, 'Example', '+46701234567', 'hej', '302', 'UNDELIV 1',
             0.015, 0.002, 'EUR')`,
    [planId, msgId, routes[0].id, at(9_000), at(12_000)],
  )
  await db.query(
    `insert into submit_attempts (plan_id, msg_id, attempted_at, took_ms, carrier_id, outcome, command_status, segment,
       resubmission, reason)
     values ($5, $1, $2, 20, 1, 'retry', 88, 1, false, null),
            ($5, $1, $3, null, 1, 'no-answer', null, null, false, 'link lost'),
            ($5, $1, $4, 0, 1, 'accepted', null, null, true, 'weight 3 of 4')`,
    [msgId, at(1_000), at(2_000), at(8_000), planId],
  )
  await db.query(
    `insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, segment, outcome, error_code, carrier_code,
       receipt_at)
     values (1, 'a1', $1, $2, 0, 'DELIVERED', '000', 'DELIVRD 000', $3), (1, 'b2', $1, $2, 1, 'FAILED', '302', 'UNDELIV 1', $4)`,
    [msgId, planId, at(10_000), at(11_000)],
  )
  await db.query(
    `insert into webhook_attempts (msg_id, sequence, attempt, plan_id, attempted_at, latency_ms, response_status, error,
       response_head)
     values ($1, 1, 1, $2, $3, 12, 200, null, 'ok'), ($1, 2, 1, $2, $4, 5000, null, 'TIMEOUT', null)`,
    [msgId, planId, at(9_500), at(13_000)],
  )
  await db.query(
    `with told as (
       insert into events (plan_id, msg_id, sequence, position, status, occurred_at)
       select $2, $1, sequence, 1, 'FAILED', $4 from generate_series(2, 3) sequence
     ), delivered as (
       insert into events (plan_id, msg_id, sequence, position, status, occurred_at, delivered_at, attempts, latency_ms,
                           response_status)
       values ($2, $1, 1, 1, 'SENT', $5, $5, 1, 12, 200)
     )
     insert into event_deliveries (bucket, msg_id, sequence, plan_id, failed_attempts, due_at, began_at, state)
     values (get_byte(uuid_send($1), 15), $1, 2, $2, 1, $3, $4, 'waiting'),
            (get_byte(uuid_send($1), 15), $1, 3, $2, 12, 'infinity', $4, 'failed')`,
    [msgId, planId, at(18_000), at(12_500), at(9_400)],
  )
  const { body } = await server.request('GET', `/messages/${msgId}`)
  expect(body).toMatchObject({
    route: 'premium',
    routeReason: 'weight 3 of 4',
    price: 0.015,
    ptf: 0.002,
    currency: 'EUR',
  })
  expect(body.attempts).toHaveLength(3)
  expect(body.attempts[0]).toMatchObject({ attemptedAt: at(1_000), endedAt: at(1_020), segment: 1 })
  expect(body.attempts[2]).toMatchObject({ outcome: 'accepted', resubmission: true })
  expect(body.submissions[1]).toEqual({
    segment: 1,
    carrierMessageId: 'b2',
    carrier: 'acme',
    sentAt: null,
    answeredAt: null,
    outcome: 'FAILED',
    errorCode: '302',
    carrierCode: 'UNDELIV 1',
    receiptAt: at(11_000),
  })
  const failed = { status: 'FAILED', occurredAt: at(12_500), deliveredAt: null }
  expect(body.webhookEvents).toEqual([
    {
      eventId: `${msgId}-1`,
      event: 1,
      status: 'SENT',
      state: 'delivered',
      attempts: 1,
      occurredAt: at(9_400),
      deliveredAt: at(9_400),
      dueAt: null,
    },
    { eventId: `${msgId}-2`, event: 2, ...failed, state: 'pending', attempts: 1, dueAt: at(18_000) },
    { eventId: `${msgId}-3`, event: 3, ...failed, state: 'failed', attempts: 12, dueAt: null },
  ])
  expect(
    body.timeline.map((entry: { what: string; detail: string }) => `${entry.what}: ${entry.detail}`),
  ).toEqual([
    'status: QUEUED',
    'attempt: acme: retry 0x00000058, segment 2 of 2, after 20 ms',
    'attempt: acme: no-answer (link lost)',
    'attempt: acme: accepted, ids a1 b2, sent again although an earlier attempt may have come through (weight 3 of 4)',
    'status: SENT',
    `webhook event: event 1 (SENT): delivered ${at(9_400)} after 1 attempt`,
    'webhook: event 1, attempt 1: HTTP 200 after 12 ms: "ok"',
    'receipt: segment 1 of 2, id a1: DELIVERED, carrier: DELIVRD 000',
    'receipt: segment 2 of 2, id b2: FAILED, carrier: UNDELIV 1',
    'status: FAILED 302 Unknown subscriber, carrier: UNDELIV 1',
    `webhook event: event 2 (FAILED): 1 attempt, due ${at(18_000)}`,
    'webhook event: event 3 (FAILED): failed after 12 attempts',
    'webhook: event 2, attempt 1: TIMEOUT after 5000 ms',
  ])
})

test('200: the node that has a waiting message in memory', async () => {
  const { db } = server.database
  const { servicePlanId } = await createPlan(server)
  const planId = server.directory.current().planByPublicId(servicePlanId)!.id
  const msgId = newId()
  await db.query(
    `with node as (insert into nodes (name, expires_at) values ('holder', now()) returning node_id),
          lane as (insert into lanes (node_id) select node_id from node returning lane)
     insert into messages (plan_id, msg_id, status, segments, updated_at, sender, recipient, body, error_code, lane)
     select $1, $2, 'QUEUED', 1, now(), 'Example', '+46701234567', 'hej', '000', lane from lane`,
    [planId, msgId],
  )
  const { body } = await server.request('GET', `/messages/${msgId}`)
  expect(body.waiting).toEqual({ cause: null, node: 'holder', nextAttemptAt: null })
})

test('404 for a message there is not, 400 for an id that is none', async () => {
  const missing = await server.request('GET', `/messages/${newId()}`)
  expect(`${missing.status} ${missing.body.errorCode}`).toBe('404 MESSAGE_NOT_FOUND')
  expect((await server.request('GET', '/messages/12345')).status).toBe(400)
})

describe('the list', () => {
  interface Listed {
    readonly msgId: string
  }
  const DAY = 24 * 3_600_000
  let plans: string[]
  let ids: string[]

  /** Six messages of two plans in turn, an hour apart, the newest first; and one of three days ago. */
  beforeAll(async () => {
    const made = [await createPlan(server), await createPlan(server)]
    plans = made.map(({ servicePlanId }) => servicePlanId)
    const now = Date.now()
    ids = [...Array.from({ length: 6 }, (_, n) => newId(now - n * 3_600_000)), newId(now - 3 * DAY)]
    for (const [n, msgId] of ids.entries()) {
      const planId = server.directory.current().planByPublicId(plans[n % 2]!)!.id
      await server.database.db.query(
        `insert into messages (plan_id, msg_id, status, segments, carrier_id, updated_at, sender, recipient, body, country,
           mccmnc, error_code)
         values ($1, $2, $3, 1, $4, now(), $5, $6, 'secret text', 'SE', '24001', $7)`,
        [
          planId,
          msgId,
          n === 1 ? 'FAILED' : 'SENT',
          n === 2 ? null : 1,
          n === 3 ? 'Other' : 'Example',
          n === 4 ? '+46700000004' : '+46701111111',
          n === 1 ? '303' : '000',
        ],
      )
      await server.database.db.query(
        'insert into submissions (carrier_id, carrier_message_id, msg_id, plan_id, segment) values (1, $1, $2, $3, 0)',
        [`1f${n}`, msgId, planId],
      )
    }
  })

  async function listed(query: string): Promise<number[]> {
    const { status, body } = await server.request('GET', `/messages?${query}`)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.nextAfter).toBe(null)
    return body.items.map(({ msgId }: Listed) => ids.indexOf(msgId))
  }

  test.each([
    ['of all plans: the last 24 hours, newest first', () => '', [0, 1, 2, 3, 4, 5]],
    ['of one plan: from the first', () => `servicePlanId=${plans[0]}`, [0, 2, 4, 6]],
    ['status', () => 'status=FAILED', [1]],
    ['error code', () => 'errorCode=303', [1]],
    ['sender', () => 'from=Other', [3]],
    ['recipient', () => 'to=%2B46700000004', [4]],
    ['carrier', () => 'carrier=acme', [0, 1, 3, 4, 5]],
    ['country and network', () => 'country=se&mccmnc=24001&status=FAILED', [1]],
    ['network that none has', () => 'mccmnc=24002', []],
    ['a day in the past', () => `fromDate=${new Date(Date.now() - 3 * DAY - 60_000).toISOString()}`, [6]],
    ['the id of a carrier, of any day', () => 'carrierMessageId=1F6', [6]],
    ['the id of a carrier, in decimal', () => 'carrier=acme&carrierMessageId=500', [4]],
    [
      'the id of a carrier and a plan that has it not',
      () => `carrierMessageId=1f4&servicePlanId=${plans[1]}`,
      [],
    ],
  ])('%s', async (_name, query, expected) => {
    expect(await listed(query())).toEqual(expected)
  })

  test('counts by status', async () => {
    const { status, body } = await server.request('GET', '/messages/counts?carrier=acme')
    expect(status).toBe(200)
    expect(body).toMatchObject({ counted: 5, hasMore: false, counts: { FAILED: 1 } })
    const refused = await server.request('GET', '/messages/counts?status=NONE&limit=3')
    expect(refused.status).toBe(400)
  })

  test('an item has what is needed to go on, and no text', async () => {
    const { body } = await server.request('GET', '/messages?errorCode=303')
    expect(body.items[0]).toEqual({
      accountId: expect.any(String),
      servicePlanId: plans[1],
      msgId: ids[1],
      status: 'FAILED',
      from: 'Example',
      to: '+46701111111',
      segments: 1,
      country: 'SE',
      mccmnc: '24001',
      errorCode: '303',
      route: null,
      carrier: 'acme',
      carrierCode: null,
      createdAt: expect.any(String),
      sentAt: null,
      updatedAt: expect.any(String),
    })
  })

  test('page by page, whatever is added meanwhile', async () => {
    const found: string[] = []
    let after: string | null = null
    do {
      const query: string = after === null ? '' : `&after=${after.toUpperCase()}`
      const { body } = await server.request('GET', `/messages?limit=2${query}`)
      expect(body.items.length).toBeLessThanOrEqual(2)
      found.push(...body.items.map(({ msgId }: Listed) => msgId))
      after = body.nextAfter
      const planId = server.directory.current().planByPublicId(plans[0]!)!.id
      await server.database.db.query(
        `insert into messages (plan_id, msg_id, segments, updated_at, sender, recipient, body)
         values ($1, $2, 1, now(), 'Example', '+46702222222', '')`,
        [planId, newId(Date.now())],
      )
    } while (after !== null)
    expect(found).toEqual(ids.slice(0, 6))
  })

  test.each([
    ['fromDate=2026-01-01T00:00:00Z&toDate=2026-01-02T00:00:01Z', 'toDate'],
    ['errorCode=x', 'errorCode'],
    ['carrier=nobody', 'carrier'],
    ['servicePlanId=ffffffffffffffffffffffff', 'servicePlanId'],
    ['after=1', 'after'],
    ['text=hej', 'text'],
  ])('400: %s', async (query, field) => {
    const { status, body } = await server.request('GET', `/messages?${query}`)
    expect([status, body.errors.map((fault: { field: string }) => fault.field)]).toEqual([400, [field]])
  })

  test('a search that takes too long answers with what it has, and goes on where it ended', async () => {
    const { db } = server.database
    const filters = { ...NO_FILTERS, errorCode: '303' }
    const search = { planId: null, carrierId: null, filters, after: null, limit: 10 }
    let nowMs = 0
    const slow = () => (nowMs += 10_000)
    const found: string[] = []
    for (let after: string | null = null, pages = 0; pages < 10_000; pages += 1) {
      const page: Awaited<ReturnType<typeof searchMessages>> = await searchMessages(
        db,
        { ...search, after },
        slow,
      )
      found.push(...page.rows.map(({ msgId }) => msgId))
      if (found.length > 0) {
        expect(pages).toBeGreaterThan(1)
        break
      }
      after = page.searchedTo
      expect(after).not.toBe(null)
    }
    expect(found).toEqual([ids[1]])
  })
})
