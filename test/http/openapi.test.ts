import { Format } from 'typebox/format'
import { Compile } from 'typebox/schema'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HTTP_LIMITS } from '../../src/http/limits.ts'
import {
  type HttpService,
  PLAN,
  PLAN_INACTIVE,
  PLAN_INCOMPLETE,
  PLAN_OTHER,
  startHttpService,
  storePlans,
  TOKEN_OTHER,
} from '../support/http-service.ts'
import { newId } from '../support/installation.ts'
import { answerFaults, type OpenApi, operationsOf } from '../support/openapi.ts'
import { freePort } from '../support/process.ts'
import { exchange, type HttpAnswer } from '../support/raw-http.ts'
import { storeEvent } from '../support/stored-events.ts'

/** Nobody listens there. */
const unused = await freePort()
let service: HttpService
let document: OpenApi

beforeAll(async () => {
  // While its clock stands still, the second test event within a second is refused, however long the first takes.
  const nowMs = Date.now()
  service = await startHttpService({ policy: { allowCidrs: ['127.0.0.1/32'] }, clock: () => nowMs })
  document = (await service.get('/openapi.json')).json
})
afterAll(() => service[Symbol.asyncDispose]())

const faultsOf = (method: string, path: string, answer: HttpAnswer) =>
  answerFaults(document, { method, path }, answer)

describe('answers are as documented', () => {
  it('formats are looked at', () => {
    expect(Format.Test('date-time', '2026-11-21T02:39:01.900Z')).toBe(true)
    expect(Format.Test('date-time', 'yesterday')).toBe(false)
    expect(Compile({ type: ['string', 'null'], format: 'uuid' }).Check('no uuid')).toBe(false)
  })

  it.each([
    ['202', {}],
    ['400', { to: 'nobody' }],
    ['400', { servicePlanId: PLAN_INCOMPLETE }],
    ['401', { servicePlanId: PLAN_INACTIVE }],
    ['403', { from: 'Denied' }],
    ['404', { servicePlanId: PLAN_OTHER }],
    ['409', { from: 'Pending' }],
    ['413', { body: 'x'.repeat(70_000) }],
    ['422', { from: 'Archived' }],
  ])('POST /v1/sendsms: %s for %j', async (status, fields) => {
    const answer = await service.send(fields)
    expect(String(answer.status)).toBe(status)
    expect(faultsOf('post', '/v1/sendsms', answer)).toEqual([])
  })

  it.each([
    ['200', '/v1/messages/sms/{msgId}', `?servicePlanId=${PLAN}`],
    ['200', '/v1/messages/{msgId}', ''],
    ['400', '/v1/messages/sms/{msgId}', ''],
    ['200', '/v1/messages/sms/{msgId}/wait', `?servicePlanId=${PLAN}`],
    ['400', '/v1/messages/sms/{msgId}/wait', ''],
    ['403', '/v1/messages/sms/{msgId}/wait', `?servicePlanId=${PLAN_OTHER}`],
    ['403', '/v1/messages/sms/{msgId}', `?servicePlanId=${PLAN_OTHER}`],
    ['200', '/v1/messages/sms', `?servicePlanId=${PLAN}&status=QUEUED&limit=1`],
    ['400', '/v1/messages/sms', `?servicePlanId=${PLAN}`],
  ])('GET: %s of %s%s', async (status, path, query) => {
    const { msgId } = (await service.send()).json
    const answer = await service.get(path.replace('{msgId}', msgId) + query)
    expect(String(answer.status)).toBe(status)
    expect(faultsOf('get', path, answer)).toEqual([])
  })

  it.each([
    ['200', '/v1/inbound/sms/{msgId}', `?servicePlanId=${PLAN}`],
    ['404', '/v1/inbound/sms/{msgId}', `?servicePlanId=${PLAN_INACTIVE}`],
    ['200', '/v1/inbound/sms', `?servicePlanId=${PLAN}&to=71234&limit=1`],
    ['400', '/v1/inbound/sms', `?servicePlanId=${PLAN}`],
  ])('GET, inbound: %s of %s%s', async (status, path, query) => {
    const msgIds = [0, 1].map((bucket) => newId(Date.now(), bucket))
    await service.db.query(
      `insert into inbound_messages (plan_id, msg_id, carrier_id, sender, recipient, keyword, body)
       select 1, id, 1, '+15551230001', '71234', 'JOIN', 'join' from unnest($1::uuid[]) id`,
      [msgIds],
    )
    const answer = await service.get(path.replace('{msgId}', msgIds[0]!) + query)
    expect(String(answer.status)).toBe(status)
    expect(faultsOf('get', path, answer)).toEqual([])
  })

  it('GET /v1/events: 200 and 400', async () => {
    const [sent, received] = [0, 1].map((bucket) => newId(Date.now(), bucket))
    await service.db.query(
      `with events as (
         insert into events (plan_id, msg_id, sequence, position, status, occurred_at)
         values (1, $1, 1, 1, 'SENT', now()), (1, $2, 0, 1, null, now())
       ), feed as (
         insert into feeds (plan_id, position) values (1, 1)
       ), inbound as (
         insert into inbound_messages (plan_id, msg_id, carrier_id, sender, recipient, body)
         values (1, $2, 1, '+15551230001', '71234', 'join')
       )
       insert into messages (plan_id, msg_id, status, sender, recipient, body, segments, updated_at)
       values (1, $1, 'SENT', 'Aldis', '+15551230001', 'hello', 1, now())`,
      [sent, received],
    )
    const answer = await service.get(`/v1/events?servicePlanId=${PLAN}`)
    expect(answer.json.items).toHaveLength(2)
    expect(faultsOf('get', '/v1/events', answer)).toEqual([])
    const refused = await service.get(`/v1/events?servicePlanId=${PLAN}&cursor=1`)
    expect(refused.status).toBe(400)
    expect(faultsOf('get', '/v1/events', refused)).toEqual([])
  })

  describe('webhooks', () => {
    const EVENTS = '/v1/webhooks/events'
    const destination = 'https://hooks.example.com'
    let eventId: string

    beforeAll(async () => {
      await storePlans(service)
      eventId = `${await storeEvent(service.db, { planId: 1, state: 'failed', attempts: 2, destination })}-1`
      await storeEvent(service.db, { planId: 1, sequence: 0, state: 'delivered', destination })
    })

    it.each([
      ['200', EVENTS, `?servicePlanId=${PLAN}`],
      ['400', EVENTS, `?servicePlanId=${PLAN}&state=gone`],
      ['403', EVENTS, `?servicePlanId=${PLAN_OTHER}`],
      ['200', `${EVENTS}/{eventId}`, `?servicePlanId=${PLAN}`],
      ['404', `${EVENTS}/{eventId}`, `?servicePlanId=${PLAN_INACTIVE}`],
      ['200', '/v1/webhooks/destinations', `?servicePlanId=${PLAN}`],
      ['200', '/v1/senders', `?servicePlanId=${PLAN}`],
      ['400', '/v1/senders', `?servicePlanId=${PLAN}&limit=0`],
      ['403', '/v1/senders', `?servicePlanId=${PLAN_OTHER}`],
      ['200', '/v1/limits', `?servicePlanId=${PLAN}`],
    ])('GET: %s of %s%s', async (status, path, query) => {
      const answer = await service.get(path.replace('{eventId}', eventId) + query)
      expect(String(answer.status)).toBe(status)
      expect(faultsOf('get', path, answer)).toEqual([])
    })

    it.each([
      ['202', `${EVENTS}/{eventId}/redeliver`, {}],
      ['404', `${EVENTS}/{eventId}/redeliver`, { servicePlanId: PLAN_INACTIVE }],
      ['202', '/v1/webhooks/redeliver', { state: 'kept' }],
      ['400', '/v1/webhooks/redeliver', { state: 'gone' }],
      ['200', '/v1/webhooks/destinations/pause', { destination }],
      ['200', '/v1/webhooks/destinations/resume', { destination }],
      ['403', '/v1/webhooks/destinations/resume', { destination, servicePlanId: PLAN_OTHER }],
      ['200', '/v1/webhooks/test', { url: `https://127.0.0.1:${unused}/` }],
      ['429', '/v1/webhooks/test', {}],
    ])('POST: %s of %s %j', async (status, path, fields) => {
      const answer = await service.request({
        method: 'POST',
        path: path.replace('{eventId}', eventId),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ servicePlanId: PLAN, ...fields }),
      })
      expect(String(answer.status)).toBe(status)
      expect(faultsOf('post', path, answer)).toEqual([])
    })
  })

  describe('failures to read a request', () => {
    let quick: HttpService
    beforeAll(async () => {
      quick = await startHttpService({
        database: service.database,
        limits: { headersTimeoutMs: 200, timeoutCheckMs: 50 },
      })
    })
    afterAll(() => quick[Symbol.asyncDispose]())

    it.each([
      [408, 'x-unfinished: '],
      [417, 'expect: banana\r\n\r\n'],
      [431, `x-large: ${'x'.repeat(HTTP_LIMITS.headerBytes)}\r\n\r\n`],
    ])('%i of each operation', async (status, header) => {
      const answers = operationsOf(document).map(async ({ method, path }) => {
        const start = `${method.toUpperCase()} ${path.replace(/[{}]/g, '')} HTTP/1.1\r\nhost: x\r\n`
        // On a busy machine the others may take longer than a header may here.
        const { port } = status === 408 ? quick : service
        const answer = await exchange(port, start + header)
        expect(answer?.status).toBe(status)
        expect(faultsOf(method, path, answer!), `${method} ${path}`).toEqual([])
      })
      await Promise.all(answers)
    })
  })

  it('GET: 404 of a message of somebody else', async () => {
    const { msgId } = (await service.send()).json
    const headers = { authorization: `Bearer ${TOKEN_OTHER}` }
    const answer = await service.get(`/v1/messages/${msgId}`, headers)
    expect(answer.status).toBe(404)
    expect(faultsOf('get', '/v1/messages/{msgId}', answer)).toEqual([])
  })
})
