import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { databaseOfFile } from '../support/database.ts'
import { type HttpService, startHttpService, TOKEN } from '../support/http-service.ts'
import { parametersOf } from '../support/openapi.ts'
import { exchange, openSocket, readToEnd, untilRefused } from '../support/raw-http.ts'

const database = await databaseOfFile({ state: 'anyDay' })
let service: HttpService
beforeAll(async () => {
  service = await startHttpService({ database, ready: async () => readiness })
})
afterAll(() => service[Symbol.asyncDispose]())

let readiness = { ok: true, checks: { database: 'ok' } }

describe('any path', () => {
  it('404 when there is none such, whatever the body and the token', async () => {
    const headers = { 'content-type': 'text/weird', authorization: 'nonsense' }
    for (const path of ['/', '/v1', '/v1/sendsms/', '/V1/sendsms', '/admin/v1/accounts']) {
      const answer = await service.request({ method: 'POST', path, headers, body: '{' })
      expect([path, answer.status, answer.json.errorCode]).toEqual([path, 404, 'NOT_FOUND'])
    }
  })

  it('405 tells which methods there are', async () => {
    for (const method of ['GET', 'PUT', 'PROPFIND', 'OPTIONS', 'TRACE', 'QUERY']) {
      const answer = await service.request({ method, path: '/v1/sendsms?x=1' })
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST'])
      expect(answer.json.errorCode).toBe('METHOD_NOT_ALLOWED')
    }
    for (const path of ['/v1/messages/sms', '/v1/%6Dessages/sms', 'http://x/v1/messages/sm%73?x']) {
      const list = await service.request({ method: 'DELETE', path })
      expect([path, list.status, list.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD'])
    }
  })

  it('405 to CONNECT', async () => {
    const answer = await exchange(service.port, 'CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n')
    expect([answer?.status, answer?.json.errorCode]).toEqual([405, 'METHOD_NOT_ALLOWED'])
  })

  it('answers HEAD as GET, without the body', async () => {
    const answer = await service.request({ method: 'HEAD', path: '/livez' })
    expect([answer.status, answer.text]).toEqual([200, ''])
  })

  it('400 without a Host header', async () => {
    const answer = await exchange(service.port, 'GET /livez HTTP/1.1\r\nconnection: close\r\n\r\n')
    expect([answer?.status, answer?.json.errors[0].field]).toEqual([400, 'Host'])
  })

  it('has an id that tells nothing about other requests', async () => {
    const ids = []
    for (let request = 0; request < 20; request += 1)
      ids.push((await service.get('/livez')).headers.get('x-request-id'))
    const parts = ids.flatMap((id) => /^([0-9a-f]{8})([0-9a-f]{8})$/.exec(id!)?.slice(1))
    expect(new Set(parts).size).toBe(2 * ids.length)
  })

  it('carries the security headers, on failures too', async () => {
    for (const path of ['/livez', '/nowhere', '/v1/messages/sms/%zz']) {
      const { headers } = await service.get(path)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.has('x-powered-by')).toBe(false)
    }
  })
})

describe('time-outs', () => {
  const limits = { headersTimeoutMs: 200, requestTimeoutMs: 300, timeoutCheckMs: 50 }

  it('408 to a head and to a body that do not come', async () => {
    await using quick = await startHttpService({ database, limits })
    const before = await quick.storedMessages()
    const start = `POST /v1/sendsms HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\n`
    const body = 'content-type: application/json\r\ncontent-length: 10\r\n\r\n{'
    for (const bytes of [start, start.concat(body)]) {
      const answer = await exchange(quick.port, bytes)
      expect([answer?.status, answer?.json.errorCode]).toEqual([408, 'REQUEST_TIMEOUT'])
    }
    expect(await quick.storedMessages()).toBe(before)
  })

  it('408 to a body that comes byte by byte for ever', async () => {
    await using quick = await startHttpService({ database, limits })
    const socket = await openSocket(quick.port)
    const closed = readToEnd(socket)
    socket.write(`POST /v1/sendsms HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\n`)
    socket.write('content-type: application/json\r\ncontent-length: 60000\r\n\r\n')
    const drip = setInterval(() => socket.write(' '), 20)
    const answer = await closed
    clearInterval(drip)
    expect([answer?.status, answer?.json.errorCode]).toEqual([408, 'REQUEST_TIMEOUT'])
  })

  it('a peer that does not read its answers is let go', async () => {
    await using quick = await startHttpService({ database, limits: { stalledTimeoutMs: 200 } })
    const dropped = once(quick.app.server, 'connection').then(([socket]) => once(socket, 'close'))
    const peer = await openSocket(quick.port)
    peer.pause()
    // Some 30 MB of answers: more than the buffers between the two take.
    peer.write('GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2_000))
    await dropped
    peer.destroy()
    expect((await quick.get('/livez')).status).toBe(200)
  })

  it('a request is answered even if the work on it takes longer than a peer may stall', async () => {
    await using quick = await startHttpService({ database, limits: { stalledTimeoutMs: 100 } })
    const lock = await quick.db.connect()
    await lock.query('begin')
    await lock.query('lock table messages in exclusive mode')
    const stalled = once(quick.app.server, 'connection').then(async ([socket]) => {
      for (const _ of [1, 2]) await once(socket, 'timeout')
    })
    const answer = quick.send()
    try {
      await Promise.race([stalled, answer])
    } finally {
      await lock.query('rollback')
      lock.release()
    }
    expect((await answer).status).toBe(202)
  })

  it('work on an answer is waited for no longer than its bound', async () => {
    // What is stored afterwards concerns no other test.
    await using quick = await startHttpService({ limits: { stalledTimeoutMs: 100, answerTimeoutMs: 150 } })
    const lock = await quick.db.connect()
    await lock.query('begin')
    await lock.query('lock table messages in exclusive mode')
    try {
      await expect(quick.send()).rejects.toThrow()
    } finally {
      await lock.query('rollback')
      lock.release()
    }
  })

  it('a closing server answers what is under way, and takes nothing new', async () => {
    const closing = await startHttpService({ database })
    const before = await closing.storedMessages()
    const lock = await closing.db.connect()
    await lock.query('begin')
    await lock.query('lock table messages in exclusive mode')
    const begun = once(closing.app.server, 'request')
    const answer = closing.send()
    await begun
    const closed = closing.app.close()
    await untilRefused(closing.port)
    await lock.query('rollback')
    lock.release()
    expect((await answer).status).toBe(202)
    await closed
    expect(await closing.storedMessages()).toBe(before + 1)
    await closing[Symbol.asyncDispose]()
  })

  it('a closing server does not wait for them', async () => {
    const closing = await startHttpService({ database, limits: { drainTimeoutMs: 50 } })
    const socket = await openSocket(closing.port)
    const closed = readToEnd(socket)
    socket.write(`POST /v1/sendsms HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 10\r\n`)
    socket.write(`content-type: application/json\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`)
    await once(socket, 'data')
    await closing[Symbol.asyncDispose]()
    expect(await closed).toBeNull()
  })
})

describe('GET /livez', () => {
  it('200', async () => {
    expect((await service.get('/livez')).json).toEqual({ ok: true })
  })
})

describe('GET /readyz', () => {
  it('200 with what was checked, 503 when something is not right', async () => {
    const good = await service.get('/readyz')
    expect([good.status, good.json]).toEqual([200, { ok: true, checks: { database: 'ok' } }])
    readiness = { ok: false, checks: { database: 'does not answer' } }
    const bad = await service.get('/readyz')
    expect([bad.status, bad.json]).toEqual([503, readiness])
  })

  it('asks once for all who ask meanwhile', async () => {
    const answer = Promise.withResolvers<typeof readiness>()
    let asked = 0
    const ready = () => {
      asked += 1
      return answer.promise
    }
    await using asking = await startHttpService({ database, ready })
    let arrived = 0
    asking.app.server.on('request', () => {
      arrived += 1
    })
    const requests = Array.from({ length: 20 }, () => asking.get('/readyz'))
    await expect.poll(() => arrived).toBe(20)
    await asking.get('/livez')
    answer.resolve({ ok: true, checks: { database: 'ok' } })
    expect((await Promise.all(requests)).map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(asked).toBe(1)
    expect((await asking.get('/readyz')).status).toBe(200)
    expect(asked).toBe(2)
  })
})

describe('GET /metrics', () => {
  it('200 counts requests by route and status', async () => {
    await service.send()
    await service.send()
    const { status, headers, text } = await service.get('/metrics')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(text).toContain(
      'aldis_http_request_duration_seconds_count{method="POST",route="/v1/sendsms",status="202"} 2',
    )
  })
})

describe('GET /openapi.json', () => {
  it('200 describes every public route in OpenAPI 3.1', async () => {
    const { status, json } = await service.get('/openapi.json')
    expect(status).toBe(200)
    expect(json.openapi).toBe('3.1.0')
    expect(Object.keys(json.paths).sort()).toEqual([
      '/v1/events',
      '/v1/inbound/sms',
      '/v1/inbound/sms/{msgId}',
      '/v1/limits',
      '/v1/messages/sms',
      '/v1/messages/sms/counts',
      '/v1/messages/sms/{msgId}',
      '/v1/messages/sms/{msgId}/wait',
      '/v1/messages/{msgId}',
      '/v1/sandbox',
      '/v1/sandbox/inbound',
      '/v1/senders',
      '/v1/sendsms',
      '/v1/sendsms/preflight',
      '/v1/statistics',
      '/v1/webhooks/destinations',
      '/v1/webhooks/destinations/pause',
      '/v1/webhooks/destinations/resume',
      '/v1/webhooks/events',
      '/v1/webhooks/events/{eventId}',
      '/v1/webhooks/events/{eventId}/redeliver',
      '/v1/webhooks/redeliver',
      '/v1/webhooks/test',
    ])
    const { post } = json.paths['/v1/sendsms']
    expect(Object.keys(post.responses)).toEqual(
      expect.arrayContaining('202 400 401 403 404 405 408 409 413 415 417 422 429 431 500 503'.split(' ')),
    )
    const { $ref } = post.requestBody.content['application/json'].schema
    expect($ref).toBe('#/components/schemas/SendSmsRequest')
    const request = json.components.schemas.SendSmsRequest
    expect(request.required).toEqual(['servicePlanId', 'channel', 'from', 'to', 'body'])
    expect(request.properties.body).toMatchObject({ type: 'string', minLength: 1, maxLength: 1600 })
    expect(json.components.schemas.DeliveryReceipt.properties.price.type).toEqual(['number', 'null'])
    expect(json.components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' })
    expect(Object.keys(post.responses['202'].headers)).toContain('location')
    expect(post.responses['429']).toEqual({ $ref: '#/components/responses/429' })
    expect(Object.keys(json.components.responses['429'].headers)).toContain('retry-after')
    const namesOf = (path: string) =>
      parametersOf(json, json.paths[path].get)
        .map(({ name }) => name)
        .join(' ')
    expect(namesOf('/v1/messages/sms')).toBe(
      'servicePlanId from to status country mccmnc fromDate toDate limit cursor',
    )
    expect(namesOf('/v1/inbound/sms')).toBe('servicePlanId from to keyword fromDate toDate limit cursor')
  })

  it('200 describes both webhooks', async () => {
    const { json } = await service.get('/openapi.json')
    const schemaOf = ({ content }: { content: Record<string, { schema: { $ref: string } }> }) =>
      content['application/json']!.schema.$ref.replace('#/components/schemas/', '')
    const { DeliveryReceipt, DeliveryReceiptWebhook, InboundSmsWebhook } = json.components.schemas
    expect(schemaOf(json.webhooks.deliveryReceipt.post.requestBody)).toBe('DeliveryReceiptWebhook')
    expect(schemaOf(json.paths['/v1/messages/{msgId}'].get.responses['200'])).toBe('DeliveryReceipt')
    expect(DeliveryReceiptWebhook.properties).toEqual(DeliveryReceipt.properties)
    expect(DeliveryReceiptWebhook.required).toEqual(['msgId', 'status'])
    expect(schemaOf(json.webhooks.inboundMessage.post.requestBody)).toBe('InboundSmsWebhook')
    expect(schemaOf(json.paths['/v1/inbound/sms/{msgId}'].get.responses['200'])).toBe('InboundSmsWebhook')
    expect(InboundSmsWebhook.required).toEqual(
      'accountId servicePlanId msgId channel direction from to body receivedAt'.split(' '),
    )
  })
})
