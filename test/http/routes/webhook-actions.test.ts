import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { verifyWebhook } from '../../../client/src/index.ts'
import { createServerCertificate, createTestAuthority } from '../../support/certificates.ts'
import { faultsOf } from '../../support/http-answers.ts'
import {
  FORBIDDEN_PLANS,
  type HttpService,
  PLAN,
  PLAN_INACTIVE,
  PLAN_OTHER,
  PLAN_SECOND,
  startHttpService,
  storePlans,
  TOKEN_OTHER,
  WEBHOOK_SECRET,
} from '../../support/http-service.ts'
import { newId } from '../../support/installation.ts'
import type { HttpAnswer } from '../../support/raw-http.ts'
import { storeEvent } from '../../support/stored-events.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts'

const DAY_MS = 86_400_000
const OTHER = 'https://other.example.com'
const asOther = { authorization: `Bearer ${TOKEN_OTHER}` }

let nowMs = Date.now()
let service: HttpService
let receiver: WebhookReceiver

beforeAll(async () => {
  const authority = await createTestAuthority()
  receiver = await startWebhookReceiver({
    certificate: await createServerCertificate(authority, ['127.0.0.1']),
  })
  service = await startHttpService({
    policy: { allowCidrs: ['127.0.0.1/32'] },
    webhookCaPem: authority.certPem,
    clock: () => nowMs,
  })
  await storePlans(service)
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await receiver.close()
})
// Whatever the limits are, each test begins with all of it.
beforeEach(() => {
  nowMs += 60_000
})

function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<HttpAnswer> {
  const json = { 'content-type': 'application/json', ...headers }
  return service.request({
    method: 'POST',
    path: `/v1/webhooks${path}`,
    headers: json,
    body: JSON.stringify(body),
  })
}

async function store(changes: Partial<Parameters<typeof storeEvent>[1]> = {}): Promise<string> {
  return `${await storeEvent(service.db, { planId: 1, state: 'failed', attempts: 12, ...changes })}-1`
}

async function stateOf(eventId: string, plan = PLAN, headers: Record<string, string> = {}): Promise<string> {
  return (await service.get(`/v1/webhooks/events/${eventId}?servicePlanId=${plan}`, headers)).json.state
}

describe('POST /v1/webhooks/events/{eventId}/redeliver', () => {
  const redeliver = (eventId: string, body: unknown = { servicePlanId: PLAN }, headers = {}) =>
    post(`/events/${eventId}/redeliver`, body, headers)

  it('202 answers the event, which is due now', async () => {
    const eventId = await store()
    const answer = await redeliver(eventId)
    expect(answer.status).toBe(202)
    expect(answer.json).toMatchObject({ eventId, state: 'pending', attempts: 12, servicePlanId: PLAN })
    expect(Date.parse(answer.json.nextAttemptAt)).toBeLessThanOrEqual(Date.now())
    expect(answer.json.attemptRecords).toHaveLength(12)
    expect(await stateOf(eventId)).toBe('pending')
  })

  it('202 of one that was delivered, and of a plan that is not active', async () => {
    const delivered = await store({ state: 'delivered', attempts: 1 })
    expect((await redeliver(delivered)).json).toMatchObject({ state: 'pending', attempts: 1 })
    const inactive = await store({ planId: 3 })
    expect((await redeliver(inactive, { servicePlanId: PLAN_INACTIVE })).status).toBe(202)
  })

  it('400 to an id that is none', async () => {
    expect(faultsOf(await redeliver('1'))).toEqual(['eventId INVALID_FORMAT'])
  })

  it('404 of an event that there is not, or of somebody else', async () => {
    const foreign = await store({ planId: 6 })
    for (const eventId of [`${newId(nowMs)}-1`, foreign]) {
      const answer = await redeliver(eventId)
      expect([answer.status, answer.json.errorCode]).toEqual([404, 'NOT_FOUND'])
    }
    expect(await stateOf(foreign, PLAN_OTHER, asOther)).toBe('failed')
  })

  it('409 where there is no URL to go to', async () => {
    const answer = await redeliver(await store({ state: 'kept', callbackUrl: null, attempts: 0 }))
    expect([answer.status, answer.json.errorCode]).toEqual([409, 'CONFLICT'])
  })
})

describe('POST /v1/webhooks/redeliver', () => {
  const redeliver = (fields: object = {}, headers = {}) =>
    post('/redeliver', { servicePlanId: PLAN, ...fields }, headers)

  beforeEach(() => service.db.query('delete from event_deliveries'))

  it('202 redelivers all that failed, and nothing else', async () => {
    const failed = [await store(), await store({ destination: OTHER })]
    const kept = await store({ state: 'kept', attempts: 0 })
    const foreign = await store({ planId: 6 })
    const answer = await redeliver()
    expect([answer.status, answer.json]).toEqual([202, { redelivered: 2, nextAfter: null }])
    for (const eventId of failed) expect(await stateOf(eventId)).toBe('pending')
    expect(await stateOf(kept)).toBe('kept')
    expect(await stateOf(foreign, PLAN_OTHER, asOther)).toBe('failed')
    expect((await redeliver()).json.redelivered).toBe(0)
  })

  it('202 of a destination, of a message, of a window, of what was kept', async () => {
    const old = await store({ msgId: newId(nowMs - 2 * DAY_MS) })
    const here = await store()
    const there = await store({ destination: OTHER })
    const kept = await store({ state: 'kept', attempts: 0, msgId: newId(nowMs - 3 * DAY_MS) })
    const date = (daysAgo: number) => new Date(nowMs - daysAgo * DAY_MS).toISOString()
    expect((await redeliver({ destination: OTHER })).json.redelivered).toBe(1)
    expect([await stateOf(here), await stateOf(there)]).toEqual(['failed', 'pending'])
    expect((await redeliver({ toDate: date(1) })).json.redelivered).toBe(1)
    expect([await stateOf(here), await stateOf(old)]).toEqual(['failed', 'pending'])
    expect((await redeliver({ msgId: here.slice(0, 36), state: 'failed' })).json.redelivered).toBe(1)
    expect(
      (await redeliver({ state: 'kept', fromDate: date(3.5), toDate: date(2.5) })).json.redelivered,
    ).toBe(1)
    expect(await stateOf(kept)).toBe('pending')
  })

  it('202 goes on behind nextAfter', async () => {
    const ids = [await store(), await store()].sort()
    expect((await redeliver({ after: ids[0] })).json).toEqual({ redelivered: 1, nextAfter: null })
    expect([await stateOf(ids[0]!), await stateOf(ids[1]!)]).toEqual(['failed', 'pending'])
  })

  it.each<[object, string[]]>([
    [{ state: 'pending' }, ['state NOT_ALLOWED']],
    [{ state: 7 }, ['state WRONG_TYPE']],
    [{ msgId: 'x' }, ['msgId INVALID_FORMAT']],
    [{ msgId: null }, ['msgId WRONG_TYPE']],
    [{ destination: '' }, ['destination INVALID_FORMAT']],
    [{ destination: ['https://example.com'] }, ['destination WRONG_TYPE']],
    [{ destination: 'https://example.com/' }, ['destination INVALID_FORMAT']],
    [{ destination: `https://${'a'.repeat(300)}.com` }, ['destination TOO_LONG']],
    [{ destination: OTHER, state: 'kept' }, ['destination EXCLUSIVE']],
    [
      { fromDate: 'yesterday', toDate: '2026-02-30T00:00:00Z' },
      ['fromDate INVALID_FORMAT', 'toDate INVALID_FORMAT'],
    ],
    [{ fromDate: 0 }, ['fromDate WRONG_TYPE']],
    [{ fromDate: '2026-03-02T00:00:00Z', toDate: '2026-03-01T00:00:00Z' }, ['fromDate INVALID_RANGE']],
    [{ after: '1' }, ['after INVALID_FORMAT']],
    [{ fromdate: '2026-03-02T00:00:00Z' }, ['fromdate UNKNOWN_FIELD']],
    [{ servicePlanId: undefined }, ['servicePlanId REQUIRED']],
    [{ servicePlanId: '1' }, ['servicePlanId INVALID_FORMAT']],
    [{ servicePlanId: [PLAN] }, ['servicePlanId WRONG_TYPE']],
  ])('400 to %j, and nothing is redelivered', async (fields, faults) => {
    const eventId = await store()
    expect(faultsOf(await redeliver(fields))).toEqual(faults)
    expect(await stateOf(eventId)).toBe('failed')
  })

  it('429 over one a second', async () => {
    for (let n = 0; n < 5; n += 1) expect((await redeliver()).status).toBe(202)
    const refused = await redeliver()
    expect([refused.status, refused.json.errorCode]).toEqual([429, 'RATE_LIMITED'])
    expect(refused.headers.get('ratelimit')).toContain('"redeliveries"')
    const others = await redeliver({ servicePlanId: PLAN_OTHER }, asOther)
    expect(others.status).toBe(202)
  })
})

describe('POST /v1/webhooks/test', () => {
  const test = (fields: object = {}, headers = {}) =>
    post('/test', { servicePlanId: PLAN, ...fields }, headers)

  it.each(['deliveryReceipt', 'inboundMessage'])('200 of %s tells what came of it', async (type) => {
    const url = `${receiver.origin}/${type}`
    const answer = await test({ url, type })
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ url, delivered: true, responseStatus: 200, error: null })
    const { headers, body } = await receiver.next(({ path }) => path === `/${type}`)
    const event = await verifyWebhook(headers, body, [WEBHOOK_SECRET], { nowMs })
    expect(event).toMatchObject({ type, eventId: answer.json.eventId, test: true })
    expect(await stateOf(answer.json.eventId)).toBeUndefined()
  })

  it('200 of one that its receiver refused', async () => {
    receiver.answerWith((exchange) => exchange.respond(500, {}, 'oh'))
    const answer = await test({ url: receiver.origin })
    expect([answer.status, answer.json]).toMatchObject([
      200,
      { delivered: false, responseStatus: 500, error: 'HTTP_STATUS', responseHead: 'oh' },
    ])
  })

  it.each<[object, string[]]>([
    [{ url: 'http://example.com/' }, ['url INVALID_SCHEME']],
    [{ url: 'https://169.254.169.254/' }, ['url FORBIDDEN_ADDRESS']],
    [{ url: '' }, ['url INVALID_SCHEME']],
    [{ url: 1 }, ['url WRONG_TYPE']],
    [{ url: `https://example.com/${'a'.repeat(2_100)}` }, ['url TOO_LONG']],
    [{ type: 'receipt' }, ['type NOT_ALLOWED']],
    [{ type: null }, ['type WRONG_TYPE']],
    [{ uri: 'https://example.com/' }, ['uri UNKNOWN_FIELD']],
    [{ servicePlanId: '' }, ['servicePlanId INVALID_FORMAT']],
  ])('400 to %j', async (fields, faults) => {
    expect(faultsOf(await test(fields))).toEqual(faults)
  })

  it('409 where there is no URL', async () => {
    for (const type of ['deliveryReceipt', 'inboundMessage']) {
      nowMs += 1_000
      const answer = await test({ type })
      expect([answer.status, answer.json.errorCode]).toEqual([409, 'CONFLICT'])
    }
  })

  it('429 over one a second, of the account, whichever the plan', async () => {
    const url = receiver.origin
    expect((await test({ url })).status).toBe(200)
    const refused = await test({ url, servicePlanId: PLAN_SECOND })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect((await test({ url, servicePlanId: PLAN_OTHER }, asOther)).status).toBe(200)
  })
})

describe.each(['/events/01a2002d-4286-7303-8303-030303030300-1/redeliver', '/redeliver', '/test'])(
  'POST %s',
  (path) => {
    it('400 to what is no JSON object', async () => {
      for (const body of [[], 'text', null, 7]) {
        expect(faultsOf(await post(path, body))).toEqual(['request WRONG_TYPE'])
      }
      const cut = await service.request({
        method: 'POST',
        path: `/v1/webhooks${path}`,
        headers: { 'content-type': 'application/json' },
        body: '{"servicePlanId":',
      })
      expect(cut.status).toBe(400)
    })

    it('401 without a valid token, 403 for a plan that is not the token’s', async () => {
      const nobody = await post(path, { servicePlanId: PLAN }, { authorization: 'Bearer nobody' })
      expect(nobody.status).toBe(401)
      for (const [servicePlanId, headers] of FORBIDDEN_PLANS) {
        const answer = await post(path, { servicePlanId }, headers)
        expect([answer.status, answer.json.errorCode]).toEqual([403, 'FORBIDDEN'])
      }
    })

    it('405 to reading, 413 to too much, 415 to another type', async () => {
      const read = await service.get(`/v1/webhooks${path}`)
      expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST'])
      expect((await post(path, { servicePlanId: 'x'.repeat(70_000) })).status).toBe(413)
      expect((await post(path, { servicePlanId: PLAN }, { 'content-type': 'text/plain' })).status).toBe(415)
    })
  },
)
