import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  accountHeadersContext,
  carrierSecretContext,
  deriveKey,
  IV_BYTES,
  sealSecret,
} from '../../../../src/domain/secrets.ts'
import { CALLBACK_URL_CONTEXT } from '../../../../src/domain/webhooks/callback-url.ts'
import { pauseCountries } from '../../../../src/store/country-pauses.ts'
import { withTransaction } from '../../../../src/store/database.ts'
import { pauseCarriers } from '../../../../src/store/quality.ts'
import { adminServerOfFile, CARRIER } from '../../../support/admin-server.ts'
import { eventually } from '../../../support/eventually.ts'
import { newId } from '../../../support/installation.ts'
import { DESTINATION, storeEvent } from '../../../support/stored-events.ts'
import { testAlarmsTo } from '../../../support/test-alarms.ts'
import { startWebhookReceiver } from '../../../support/webhook-receiver.ts'

const [OLD, NEW] = [deriveKey(randomBytes(32), 'secrets'), deriveKey(randomBytes(32), 'secrets')]
const receiver = await startWebhookReceiver()
afterAll(() => receiver.close())
const alarms = testAlarmsTo(`${receiver.origin}/hush-path`)
afterAll(() => alarms.close())
const server = await adminServerOfFile({
  secretKey: [NEW, OLD],
  testAlarms: alarms.testAlarms,
  state: 'started',
})
const { db } = server.database

const ACCOUNT = 'a'.repeat(24)
const PLAN = 'b'.repeat(24)
const PERSON = '+15551230001'
const PHONE = { servicePlanId: PLAN, from: 'Aldis', to: PERSON }
const OPT_OUT = new URLSearchParams(PHONE)
const UNOWNED = newId(Date.now())
const EVENTS = [newId(Date.now() - 2), newId(Date.now() - 1)]
const TO = { servicePlanId: PLAN, destination: DESTINATION }
const SECRETS = ['hush-hsh', 'hush-header', 'hush-basic', 'hush-url', 'hush-query', 'hush-path', PERSON]

interface Step {
  readonly operation: string
  readonly request: readonly [method: string, path: string, body?: object]
  /** Of the row. */
  readonly object: readonly [type: string, id: string | RegExp]
  readonly before?: object | null
  readonly after?: object | null
  /** What the operation needs, and no operation makes. */
  readonly given?: () => Promise<unknown>
}

const CALLBACK = 'https://user:hush-url@hooks.example.com/dlr?key=hush-query'
const RECORDED = 'https://hooks.example.com/dlr?***'
const acme = { priority: 0, weight: 1, carrier: 'acme' }
const planKey = () => server.directory.current().planByPublicId(PLAN)!.id

/** Every operation that is not a GET, in an order in which they can be done. */
const STEPS: readonly Step[] = [
  {
    operation: 'createAccount',
    request: ['POST', '/accounts', { accountId: ACCOUNT, name: 'One', defaultDlrUrl: CALLBACK }],
    object: ['account', ACCOUNT],
    before: null,
    after: { name: 'One', defaultDlrUrl: RECORDED },
  },
  {
    operation: 'updateAccount',
    request: [
      'PATCH',
      `/accounts/${ACCOUNT}`,
      {
        name: 'Two',
        webhookHeaders: [{ name: 'x-key', value: 'hush-header' }],
        webhookCredentials: { username: 'me', password: 'hush-basic' },
      },
    ],
    object: ['account', ACCOUNT],
    before: { name: 'One', webhookHeaderNames: [], webhookCredentialsSet: false },
    after: { name: 'Two', webhookHeaderNames: ['x-key'], webhookHeaders: '***', webhookCredentials: '***' },
  },
  {
    operation: 'rotateWebhookSecret',
    request: ['POST', `/accounts/${ACCOUNT}/webhook-secret/rotate`],
    object: ['account', ACCOUNT],
    before: { previousWebhookSecretLive: false },
    after: { previousWebhookSecretLive: true },
  },
  {
    operation: 'deletePreviousWebhookSecret',
    request: ['DELETE', `/accounts/${ACCOUNT}/webhook-secret/previous`],
    object: ['account', ACCOUNT],
    before: { previousWebhookSecretLive: true },
    after: { previousWebhookSecretLive: false },
  },
  {
    operation: 'createCarrier',
    request: ['POST', '/carriers', CARRIER],
    object: ['carrier', 'acme'],
    before: null,
    after: { host: CARRIER.host, password: '***' },
  },
  {
    operation: 'updateCarrier',
    request: ['PATCH', '/carriers/acme', { name: 'acme2', window: 20 }],
    object: ['carrier', 'acme'],
    before: { name: 'acme', window: 10 },
    after: { name: 'acme2', window: 20 },
  },
  {
    operation: 'updateCarrier',
    request: ['PATCH', '/carriers/acme2', { name: 'acme' }],
    object: ['carrier', 'acme2'],
    before: { name: 'acme2' },
    after: { name: 'acme' },
  },
  {
    operation: 'resealSecrets',
    request: ['POST', '/secrets/reseal', {}],
    object: ['secrets', ''],
    before: null,
    after: { resealed: 1 },
    given: async () => {
      const id = (await db.query('select id from carriers')).rows[0].id
      const sealed = sealSecret(OLD, 'hush-hsh', randomBytes(IV_BYTES), carrierSecretContext(id))
      await db.query('update carriers set password = $1', [sealed])
    },
  },
  {
    operation: 'createRoute',
    request: ['POST', '/routes', { name: 'main', carriers: [{ carrier: 'acme' }] }],
    object: ['route', 'main'],
    before: null,
    after: { carriers: [acme] },
  },
  {
    operation: 'updateRoute',
    request: ['PATCH', '/routes/main', { qualityFloor: { minDelivered: 50 } }],
    object: ['route', 'main'],
    before: { qualityFloor: null, carriers: [acme] },
    after: { qualityFloor: { minDelivered: 50 } },
  },
  {
    operation: 'endQualityPause',
    request: ['DELETE', '/quality/pauses/main/acme'],
    object: ['quality-pause', 'main/acme'],
    before: { reason: 'delivered too few' },
    after: null,
    given: async () => {
      const { rows } = await db.query(
        'select route_id as "routeId", carrier_id as "carrierId" from route_carriers',
      )
      await pauseCarriers(db, [{ ...rows[0], minutes: 15, reason: 'delivered too few' }], new Date())
    },
  },
  {
    operation: 'createServicePlan',
    request: ['POST', '/service-plans', { servicePlanId: PLAN, accountId: ACCOUNT, name: 'alerts' }],
    object: ['service-plan', PLAN],
    before: null,
    after: { route: null },
  },
  {
    operation: 'updateServicePlan',
    request: ['PATCH', `/service-plans/${PLAN}`, { route: 'main', optOut: {}, inboundUrl: CALLBACK }],
    object: ['service-plan', PLAN],
    before: { route: null, inboundUrl: null, optOut: null },
    after: { route: 'main', inboundUrl: RECORDED },
  },
  {
    operation: 'endCountryPause',
    request: ['DELETE', `/service-plans/${PLAN}/pauses/SE`],
    object: ['country-pause', `${PLAN}/SE`],
    before: { country: 'SE', reason: 'too many' },
    after: null,
    given: async () => {
      const { rows } = await db.query('select id as "planId" from service_plans')
      await pauseCountries(db, [{ ...rows[0], country: 'SE', minutes: 15, reason: 'too many' }], new Date())
    },
  },
  {
    operation: 'createToken',
    request: ['POST', '/tokens', { accountId: ACCOUNT, name: 'backend' }],
    object: ['token', '1'],
    before: null,
    after: { name: 'backend', revokedAt: null },
  },
  {
    operation: 'revokeToken',
    request: ['DELETE', '/tokens/1'],
    object: ['token', '1'],
    before: { revokedAt: null },
    after: { revokedAt: expect.stringMatching(/^20/) },
  },
  {
    operation: 'createOperatorToken',
    request: ['POST', '/operator-tokens', { name: 'Jane Doe', role: 'support' }],
    object: ['operator-token', '1'],
    before: null,
    after: { name: 'Jane Doe', role: 'support' },
  },
  {
    operation: 'revokeOperatorToken',
    request: ['DELETE', '/operator-tokens/1'],
    object: ['operator-token', '1'],
    before: { revokedAt: null },
    after: { revokedAt: expect.stringMatching(/^20/) },
  },
  {
    operation: 'setSender',
    request: ['PUT', `/service-plans/${PLAN}/senders/Aldis`, { status: 'pending' }],
    object: ['sender', `${PLAN}/Aldis`],
    before: null,
    after: { status: 'pending' },
  },
  {
    operation: 'deleteSender',
    request: ['DELETE', `/service-plans/${PLAN}/senders/Aldis`],
    object: ['sender', `${PLAN}/Aldis`],
    before: { status: 'pending' },
    after: null,
  },
  {
    operation: 'createInboundNumber',
    request: ['POST', '/inbound-numbers', { number: '71234', servicePlanId: PLAN }],
    object: ['inbound-number', '71234'],
    before: null,
    after: { keywords: [] },
  },
  {
    operation: 'updateInboundNumber',
    request: ['PATCH', '/inbound-numbers/71234', { keywords: ['JOIN'] }],
    object: ['inbound-number', '71234'],
    before: { keywords: [] },
    after: { keywords: ['JOIN'] },
  },
  {
    operation: 'deleteInboundNumber',
    request: ['DELETE', '/inbound-numbers/71234'],
    object: ['inbound-number', '71234'],
    before: { keywords: ['JOIN'] },
    after: null,
  },
  {
    operation: 'createSendsmsUser',
    request: ['POST', '/sendsms-users', { username: 'tester', servicePlanId: PLAN, password: 'hush-basic' }],
    object: ['sendsms-user', 'tester'],
    before: null,
    after: { servicePlanId: PLAN, password: '***' },
  },
  {
    operation: 'updateSendsmsUser',
    request: ['PATCH', '/sendsms-users/tester', { password: 'hush-header', forcedSender: 'Aldis' }],
    object: ['sendsms-user', 'tester'],
    before: { forcedSender: null },
    after: { forcedSender: 'Aldis', password: '***' },
  },
  {
    operation: 'deleteSendsmsUser',
    request: ['DELETE', '/sendsms-users/tester'],
    object: ['sendsms-user', 'tester'],
    before: { forcedSender: 'Aldis' },
    after: null,
  },
  {
    operation: 'createOptOut',
    request: ['POST', '/opt-outs', PHONE],
    object: ['opt-out', `${PLAN}/Aldis/+155******01`],
    before: null,
    after: { servicePlanId: PLAN, from: 'Aldis', to: '+155******01' },
  },
  {
    operation: 'deleteOptOut',
    request: ['DELETE', `/opt-outs?${OPT_OUT}`],
    object: ['opt-out', `${PLAN}/Aldis/+155******01`],
    before: { to: '+155******01' },
    after: null,
  },
  {
    operation: 'importOptOuts',
    request: ['POST', '/opt-outs/import', { optOuts: [PHONE] }],
    object: ['opt-out', ''],
    before: null,
    after: { created: 1, known: 0 },
  },
  {
    operation: 'createRoutingRule',
    request: ['POST', '/routing-rules', { country: 'GB', route: 'main' }],
    object: ['routing-rule', '1'],
    before: null,
    after: { country: 'GB' },
  },
  {
    operation: 'updateRoutingRule',
    request: ['PATCH', '/routing-rules/1', { route: 'main' }],
    object: ['routing-rule', '1'],
    before: { route: 'main' },
    after: { route: 'main' },
  },
  {
    operation: 'deleteRoutingRule',
    request: ['DELETE', '/routing-rules/1'],
    object: ['routing-rule', '1'],
    before: { country: 'GB' },
    after: null,
  },
  {
    operation: 'applyConfiguration',
    request: ['POST', '/configuration/apply', { ranges: { '+4499': { mccmnc: '23415' } } }],
    object: ['number-range', '+4499'],
    before: null,
    after: { mccmnc: '23415' },
  },
  {
    operation: 'importNumberRanges',
    request: ['POST', '/number-ranges/import', { ranges: [{ prefix: '+4478', mccmnc: '23415' }] }],
    object: ['number-range', ''],
    before: null,
    after: { created: 1, changed: 0 },
  },
  {
    operation: 'setNumberRange',
    request: ['PUT', '/number-ranges/+4478', { mccmnc: '23410' }],
    object: ['number-range', '+4478'],
    before: { mccmnc: '23415' },
    after: { mccmnc: '23410' },
  },
  {
    operation: 'deleteNumberRange',
    request: ['DELETE', '/number-ranges/+4478'],
    object: ['number-range', '+4478'],
    before: { mccmnc: '23410' },
    after: null,
  },
  {
    operation: 'createRate',
    request: ['POST', '/rates', { price: '0.01', currency: 'EUR' }],
    object: ['rate', '1'],
    before: null,
    after: { price: '0.01', ptf: '0' },
  },
  {
    operation: 'updateRate',
    request: ['PATCH', '/rates/1', { price: '0.02' }],
    object: ['rate', '1'],
    before: { price: '0.01' },
    after: { price: '0.02' },
  },
  {
    operation: 'deleteRate',
    request: ['DELETE', '/rates/1'],
    object: ['rate', '1'],
    before: { price: '0.02' },
    after: null,
  },
  {
    operation: 'importRates',
    request: ['POST', '/rates/import', { rates: [{ price: '0.01', currency: 'EUR' }] }],
    object: ['rate', ''],
    before: null,
    after: { created: 1, changed: 0 },
  },
  {
    operation: 'createSenderRule',
    request: ['POST', '/sender-rules', { country: 'SE', senderTypes: [] }],
    object: ['sender-rule', '1'],
    before: null,
    after: { senderTypes: [] },
  },
  {
    operation: 'updateSenderRule',
    request: ['PATCH', '/sender-rules/1', { senderTypes: ['e164'] }],
    object: ['sender-rule', '1'],
    before: { senderTypes: [] },
    after: { senderTypes: ['e164'] },
  },
  {
    operation: 'deleteSenderRule',
    request: ['DELETE', '/sender-rules/1'],
    object: ['sender-rule', '1'],
    before: { senderTypes: ['e164'] },
    after: null,
  },
  {
    operation: 'giveUnownedInboundMessage',
    request: ['POST', `/unowned-inbound-messages/${UNOWNED}/give`, { servicePlanId: PLAN }],
    object: ['unowned-inbound-message', UNOWNED],
    before: null,
    after: { servicePlanId: PLAN },
    given: () =>
      db.query(
        `insert into unowned_inbound_messages (msg_id, carrier_id, sender, recipient, body)
         values ($1, 1, '+46701234567', '99999', 'hej')`,
        [UNOWNED],
      ),
  },
  {
    operation: 'redeliverWebhookEventOfPlan',
    request: ['POST', `/webhook-events/${EVENTS[0]}-1/redeliver`],
    object: ['webhook-event', `${EVENTS[0]}-1`],
    before: null,
    after: null,
    given: () => storeEvent(db, { planId: planKey(), msgId: EVENTS[0]!, state: 'failed', attempts: 2 }),
  },
  {
    operation: 'redeliverWebhookEventsOfPlan',
    request: ['POST', '/webhook-redeliveries', { servicePlanId: PLAN }],
    object: ['service-plan', PLAN],
    before: null,
    after: { state: 'failed', redelivered: 1 },
    given: () => storeEvent(db, { planId: planKey(), msgId: EVENTS[1]!, state: 'failed', attempts: 2 }),
  },
  {
    operation: 'pauseWebhookDestinationOfPlan',
    request: ['POST', '/webhook-destinations/pause', TO],
    object: ['webhook-destination', `${PLAN}/${DESTINATION}`],
    before: { pausedBy: null },
    after: { state: 'paused', pausedBy: 'operator' },
  },
  {
    operation: 'resumeWebhookDestinationOfPlan',
    request: ['POST', '/webhook-destinations/resume', TO],
    object: ['webhook-destination', `${PLAN}/${DESTINATION}`],
    before: { state: 'paused', pausedBy: 'operator' },
    after: { pausedBy: null },
    // Events that are retried have a row of their own.
    given: () => db.query('truncate event_deliveries'),
  },
  {
    operation: 'sendTestWebhookOfPlan',
    request: [
      'POST',
      '/webhook-tests',
      { servicePlanId: PLAN, url: `${receiver.origin.replace('//', '//me:hush-url@')}/?key=hush-query` },
    ],
    object: ['service-plan', PLAN],
    before: null,
    after: { type: 'deliveryReceipt', url: `${receiver.origin}/?***`, delivered: true, responseStatus: 200 },
  },
  {
    operation: 'sendTestAlarm',
    request: ['POST', '/alarms/test'],
    object: ['alarm', /^[0-9a-f-]{36}$/],
    before: null,
    after: { destination: receiver.origin, delivered: true, responseStatus: 200 },
  },
  {
    operation: 'deleteServicePlan',
    request: ['DELETE', `/service-plans/${PLAN}`],
    object: ['service-plan', PLAN],
    before: { name: 'alerts' },
    after: null,
    given: () => db.query('truncate messages, inbound_messages, events, event_deliveries'),
  },
  {
    operation: 'deleteRoute',
    request: ['DELETE', '/routes/main'],
    object: ['route', 'main'],
    before: { carriers: [acme] },
    after: null,
  },
  {
    operation: 'deleteCarrier',
    request: ['DELETE', '/carriers/acme'],
    object: ['carrier', 'acme'],
    before: { host: CARRIER.host },
    after: null,
  },
  {
    operation: 'deleteAccount',
    request: ['DELETE', `/accounts/${ACCOUNT}`],
    object: ['account', ACCOUNT],
    before: { name: 'Two' },
    after: null,
  },
]

// biome-ignore lint/suspicious/noExplicitAny: entries are whatever the test expects of them
async function entries(query: Record<string, string> = {}): Promise<any[]> {
  const { status, body } = await server.request('GET', `/audit-log?${new URLSearchParams(query)}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.items
}

beforeAll(async () => {
  for (const { given, request } of STEPS) {
    await given?.()
    const [method, path, body] = request
    const answer = await server.request(method, path, body)
    expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300)
  }
})

test('every operation of the document that may change something is tried here', () => {
  const file = new URL('../../../../src/admin-openapi.json', import.meta.url)
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as {
    paths: Record<string, Record<string, { operationId: string }>>
  }
  const mutating = Object.values(paths).flatMap((methods) =>
    Object.entries(methods).flatMap(([method, { operationId }]) => (method === 'get' ? [] : [operationId])),
  )
  expect([...new Set(STEPS.map(({ operation }) => operation))].sort()).toEqual(mutating.sort())
})

test('each has its row: who, from where, and the object before and after', async () => {
  const rows = (await entries({ limit: '1000' })).reverse()
  expect(rows.map(({ operation }) => operation)).toEqual(STEPS.map(({ operation }) => operation))
  for (const [index, { object, before, after }] of STEPS.entries()) {
    const [objectType, objectId] = object
    const expected = { token: 'environment', address: '127.0.0.1', objectType, objectId, before, after }
    expect(rows[index], STEPS[index]!.operation).toMatchObject(expected)
  }
})

test('no secret and no number of a person is in it', async () => {
  const { rows } = await db.query<{ text: string }>('select l::text as text from audit_log l')
  const all = rows.map(({ text }) => text).join()
  for (const secret of [...SECRETS, 'whsec_']) expect(all).not.toContain(secret)
  expect(all).not.toMatch(/aldis_[0-9A-Za-z]/)
})

test('the password of a carrier is no change that is seen, but named', async () => {
  await server.request('POST', '/carriers', { ...CARRIER, name: 'other' })
  await server.request('PATCH', '/carriers/other', { password: 'hush2' })
  const [{ before, after }] = await entries({ objectId: 'other', limit: '1' })
  expect(after).toEqual({ ...before, password: '***' })
  expect(before).not.toHaveProperty('password')
})

describe('the object before a change that waited for another is what the other one left', () => {
  /** The request is sent while another session has done this, and has not committed yet. */
  async function behind(statement: string, values: unknown[], ...request: Parameters<typeof server.request>) {
    const sent: ReturnType<typeof server.request>[] = []
    await withTransaction(db, async (other) => {
      await other.query(statement, values)
      sent.push(server.request(...request))
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      await eventually(async () => (await db.query(waiting)).rowCount === 1)
    })
    return (await sent[0]!).status
  }

  test('the first PUT of a number range', async () => {
    const insert = `insert into number_ranges (prefix, mccmnc) values ($1, '23415')`
    const put = ['PUT', '/number-ranges/+4477', { mccmnc: '23410' }] as const
    expect(await behind(insert, ['+4477'], ...put)).toBe(200)
    const [{ before, after }] = await entries({ objectId: '+4477', limit: '1' })
    expect([before.mccmnc, after.mccmnc]).toEqual(['23415', '23410'])
  })

  test('the DELETE of a sender', async () => {
    const { accountId } = (await server.request('POST', '/accounts', { name: 'Waiting' })).body
    const { servicePlanId } = (await server.request('POST', '/service-plans', { accountId, name: 'waiting' }))
      .body
    const path = `/service-plans/${servicePlanId}/senders/Acme`
    await server.request('PUT', path, { status: 'approved' })
    const update = `update sender_subscriptions set status = 'denied' where sender = $1`
    expect(await behind(update, ['Acme'], 'DELETE', path)).toBe(204)
    const [{ before }] = await entries({ objectId: `${servicePlanId}/Acme`, limit: '1' })
    expect(before.status).toBe('denied')
  })
})

describe('of a value that no key opens it is kept that it is unreadable', () => {
  const LOST = deriveKey(randomBytes(32), 'secrets')
  const lost = (context: string) => sealSecret(LOST, '{}', randomBytes(IV_BYTES), context)
  const newUrl = 'https://hooks.example.com/new'

  test.each([
    ['PATCH', { inboundUrl: newUrl }, 200, { inboundUrl: newUrl }],
    ['PATCH', { inboundUrl: null }, 200, { inboundUrl: null }],
    ['PATCH', { active: false }, 200, { active: false, inboundUrl: 'unreadable' }],
    ['DELETE', undefined, 204, null],
  ])('a plan: %s %j', async (method, body, status, after) => {
    const accountId = (await server.request('POST', '/accounts', { name: 'Lost' })).body.accountId
    const plan = (await server.request('POST', '/service-plans', { accountId, name: 'lost' })).body
    const path = `/service-plans/${plan.servicePlanId}`
    const set = 'update service_plans set inbound_url = $1 where service_plan_id = $2'
    await db.query(set, [lost(CALLBACK_URL_CONTEXT), plan.servicePlanId])
    expect((await server.request(method, path, body)).status).toBe(status)
    const [row] = await entries({ objectId: plan.servicePlanId, limit: '1' })
    expect(row).toMatchObject({ before: { active: true, inboundUrl: 'unreadable' }, after })
    if (method !== 'DELETE') expect((await server.request('DELETE', path)).status).toBe(204)
  })

  test.each([
    ['PATCH', '', { defaultDlrUrl: newUrl, webhookHeaders: null, webhookCredentials: null }, 200],
    ['POST', '/webhook-secret/rotate', undefined, 200],
    ['DELETE', '', undefined, 204],
  ])('an account: %s %s %j', async (method, path, body, status) => {
    const { accountId } = (await server.request('POST', '/accounts', { name: 'Lost' })).body
    await db.query('update accounts set default_dlr_url = $1, webhook_headers = $2 where account_id = $3', [
      lost(CALLBACK_URL_CONTEXT),
      lost(accountHeadersContext(accountId)),
      accountId,
    ])
    expect((await server.request(method, `/accounts/${accountId}${path}`, body)).status).toBe(status)
    const [{ before, after }] = await entries({ objectId: accountId, limit: '1' })
    expect(before).toMatchObject({ defaultDlrUrl: 'unreadable', webhookHeaderNames: ['unreadable'] })
    if (method === 'PATCH') expect(after).toMatchObject({ defaultDlrUrl: newUrl, webhookHeaderNames: [] })
    if (method !== 'DELETE')
      expect((await server.request('DELETE', `/accounts/${accountId}`)).status).toBe(204)
  })
})

describe('nothing is recorded', () => {
  const count = async () => (await db.query('select count(*) from audit_log')).rows[0].count

  test.each([
    ['PATCH', '/accounts/ffffffffffffffffffffffff', { name: 'x' }, 404],
    ['POST', '/routes', { name: 'x', carriers: [{ carrier: 'nobody' }] }, 400],
    ['POST', '/webhook-redeliveries', { servicePlanId: 'f'.repeat(24) }, 400],
    ['GET', '/accounts', undefined, 200],
  ])('of %s %s %j', async (method, path, body, status) => {
    const before = await count()
    expect((await server.request(method, path, body)).status).toBe(status)
    expect(await count()).toBe(before)
  })

  test('and nothing is changed, where the row cannot be written', async () => {
    await db.query('alter table audit_log rename to audit_log_away')
    const answer = await server.request('POST', '/accounts', { accountId: 'c'.repeat(24), name: 'x' })
    await db.query('alter table audit_log_away rename to audit_log')
    expect(answer.status).toBe(500)
    expect((await server.request('GET', `/accounts/${'c'.repeat(24)}`)).status).toBe(404)
  })
})

describe('the list', () => {
  test('newest first, page by page', async () => {
    const all = await entries()
    const first = await server.request('GET', '/audit-log?limit=3')
    expect(first.body.items).toEqual(all.slice(0, 3))
    expect(first.body.nextAfter).toBe(String(all[2].auditId))
    const { body } = await server.request('GET', `/audit-log?limit=3&after=${first.body.nextAfter}`)
    expect(body.items).toEqual(all.slice(3, 6))
    const last = await server.request('GET', `/audit-log?after=${all.at(-1).auditId}`)
    expect(last.body).toEqual({ items: [], nextAfter: null })
  })

  test.each([
    [{ objectType: 'account' }, /Account|WebhookSecret/],
    [{ objectType: 'carrier', objectId: 'acme2' }, /^updateCarrier$/],
    [{ operation: 'importRates' }, /^importRates$/],
    [{ token: 'environment', operation: 'createToken' }, /^createToken$/],
  ])('by %j', async (query, operations) => {
    const found = await entries(query)
    expect(found.length).toBeGreaterThan(0)
    for (const { operation } of found) expect(operation).toMatch(operations)
    expect(found.length).toBeLessThan((await entries()).length)
  })

  test('by token: that of nobody has changed nothing', async () => {
    expect(await entries({ token: 'Jane Doe' })).toEqual([])
  })

  test('by time, both ends included', async () => {
    await db.query(`update audit_log set at = '2026-01-02T03:04:05.678Z' where operation = 'createRate'`)
    const at = '2026-01-02T03:04:05.678Z'
    expect(await entries({ fromDate: at, toDate: at })).toMatchObject([{ operation: 'createRate', at }])
    expect(await entries({ toDate: '2026-01-02T03:04:05.677Z' })).toEqual([])
    const all = await entries()
    expect(await entries({ fromDate: '2026-01-02T03:04:05.679Z' })).toHaveLength(all.length - 1)
  })

  test.each([
    ['fromDate=yesterday', 'fromDate'],
    ['fromDate=2026-01-02T00:00:00Z&toDate=2026-01-01T00:00:00Z', 'fromDate'],
    ['after=x', 'after'],
    ['limit=0', 'limit'],
    ['object=x', 'object'],
    ['token=%00', 'token'],
    ['objectId=%00', 'objectId'],
    ['objectType=%00', 'objectType'],
    ['operation=%00', 'operation'],
  ])('400 to %s', async (query, field) => {
    const { status, body } = await server.request('GET', `/audit-log?${query}`)
    expect([status, body.errors[0].field]).toEqual([400, field])
  })
})
