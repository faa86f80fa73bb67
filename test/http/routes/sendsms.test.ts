import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createdAtMs } from '../../../src/domain/identifiers.ts'
import {
  ACCOUNT,
  type HttpService,
  PLAN,
  PLAN_INACTIVE,
  PLAN_INCOMPLETE,
  PLAN_OTHER,
  PLAN_SECOND,
  PLAN_SHORT_CODES,
  startHttpService,
  TOKEN,
  TOKEN_LIMITED,
  TOKEN_OTHER,
} from '../../support/http-service.ts'
import { exchange, type HttpAnswer } from '../../support/raw-http.ts'

let service: HttpService
beforeAll(async () => {
  service = await startHttpService()
})
afterAll(() => service[Symbol.asyncDispose]())

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function fieldsOf(answer: HttpAnswer): string[] {
  return answer.json.errors.map((fault: { field: string }) => fault.field).sort()
}

/** The error body is our own, names the request and is told in the headers too. */
function expectError(answer: HttpAnswer, status: number, errorCode: string): void {
  expect({ status: answer.status, errorCode: answer.json?.errorCode }).toEqual({ status, errorCode })
  expect(answer.json.errorMessage).not.toBe('')
  expect(answer.json.requestId).toBe(answer.headers.get('x-request-id'))
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
}

describe('POST /v1/sendsms', () => {
  it('202 answers the whole record and where it can be read', async () => {
    const before = Date.now()
    const answer = await service.send({ callbackUrl: 'https://hooks.example.com/dlr' })
    expect(answer.status).toBe(202)
    const { msgId, createdAt } = answer.json
    expect(msgId).toMatch(UUID_V7)
    expect(answer.json).toEqual({
      accountId: ACCOUNT,
      servicePlanId: PLAN,
      msgId,
      channel: 'SMS',
      direction: 'MT',
      from: '12345',
      to: '+15551230001',
      body: 'hello',
      status: 'QUEUED',
      errorCode: '000',
      errorMessage: 'Message accepted and queued',
      segments: 1,
      price: null,
      ptf: null,
      currency: null,
      mccmnc: null,
      country: 'US',
      createdAt: new Date(createdAtMs(msgId)).toISOString(),
      sentAt: null,
      updatedAt: createdAt,
    })
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before)
    expect(answer.headers.get('location')).toBe(`/v1/messages/${msgId}`)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    const stored = await service.get(answer.headers.get('location')!)
    expect(stored.json).toEqual(answer.json)
  })

  it('202 takes every kind of sender, names of object members included', async () => {
    for (const from of ['12345', '+15550001111', 'Aldis', 'constructor', '__proto__']) {
      expect((await service.send({ from })).json.from).toBe(from)
    }
  })

  it('202 takes 1600 characters, counted as code points, and unknown fields', async () => {
    const body = '😀'.repeat(1600)
    const answer = await service.send({ body, priority: 'high' })
    expect(answer.status).toBe(202)
    expect(answer.json.body).toBe(body)
  })

  it('202 answers the first record again for the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'order-1' }
    const first = await service.send({ body: 'once' }, headers)
    const again = await service.send({ body: 'once', servicePlanId: PLAN.toUpperCase() }, headers)
    expect([first.status, again.status]).toEqual([202, 202])
    expect(again.json).toEqual(first.json)
    expect(first.headers.has('idempotent-replayed')).toBe(false)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
  })

  it('202 to a hundred at once with one Idempotency-Key, and one message; on another plan it is another', async () => {
    const headers = { 'idempotency-key': 'storm' }
    const before = await service.storedMessages()
    const answers = await Promise.all(Array.from({ length: 100 }, () => service.send({}, headers)))
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202]))
    expect(new Set(answers.map((answer) => answer.json.msgId)).size).toBe(1)
    expect(answers.filter((answer) => !answer.headers.has('idempotent-replayed'))).toHaveLength(1)
    expect((await service.send({ servicePlanId: PLAN_SECOND }, headers)).status).toBe(202)
    expect(await service.storedMessages()).toBe(before + 2)
  })

  it('202 or 422 when one key comes at once with two bodies: one message', async () => {
    const headers = { 'idempotency-key': 'quarrel' }
    const before = await service.storedMessages()
    const sends = Array.from({ length: 20 }, (_, n) => service.send({ body: `body ${n % 2}` }, headers))
    const statuses = (await Promise.all(sends)).map((answer) => answer.status)
    expect([202, 422].map((status) => statuses.filter((one) => one === status).length)).toEqual([10, 10])
    expect(await service.storedMessages()).toBe(before + 1)
  })

  it('202 to others while the name servers of a callbackUrl are silent', async () => {
    service.dns.set('silent.example.com', { silent: true })
    const finished: string[] = []
    const slow = service.send({ callbackUrl: 'https://silent.example.com/' }).then(({ status }) => {
      finished.push(`slow ${status}`)
    })
    await expect.poll(() => service.dns.count('silent.example.com', 'A')).toBeGreaterThan(0)
    finished.push(`other ${(await service.send()).status}`)
    await slow
    expect(finished).toEqual(['other 202', 'slow 202'])
  })

  it('400 lists every fault, not the first', async () => {
    const answer = await service.send(
      { servicePlanId: 'x', channel: 'MMS', from: '', to: '1', body: '', callbackUrl: 'http://10.0.0.1' },
      { 'idempotency-key': 'a b' },
    )
    expectError(answer, 400, 'VALIDATION_ERROR')
    expect(fieldsOf(answer)).toEqual([
      'Idempotency-Key',
      'body',
      'callbackUrl',
      'channel',
      'from',
      'servicePlanId',
      'to',
    ])
    for (const fault of answer.json.errors) {
      expect(Object.keys(fault).sort()).toEqual(['code', 'field', 'message'])
    }
  })

  it('400 tells a wrong type once, and not what its text should have been', async () => {
    const wrong = { servicePlanId: 1, channel: ['SMS'], from: null, to: ['+15551230001'], body: {} }
    const answer = await service.send({ ...wrong, callbackUrl: 7 })
    expectError(answer, 400, 'VALIDATION_ERROR')
    expect(answer.json.errors.map(({ code }: { code: string }) => code)).toEqual(Array(6).fill('WRONG_TYPE'))
  })

  it('400 to a body that is not a single message', async () => {
    for (const body of ['[]', '[{}]', '"text"', '7', 'null', 'true']) {
      const answer = await post(body)
      expectError(answer, 400, 'VALIDATION_ERROR')
      expect(fieldsOf(answer)).toEqual(['request'])
    }
  })

  it('400 to JSON that is nested too deep, and to none', async () => {
    const deep = await post(`{"to":${'['.repeat(9)}${']'.repeat(9)}}`)
    expect(deep.json.errors[0].code).toBe('TOO_DEEP')
    const nested = await service.send({ extra: [[[[[[['[[[[[[[[[[']]]]]]] })
    expect(nested.status).toBe(202)
    expect((await post('')).json.errors[0].code).toBe('MALFORMED_JSON')
    expect((await post('{"to":1,}')).json.errors[0].code).toBe('MALFORMED_JSON')
  })

  it('400 when no body is sent at all', async () => {
    const answer = await service.request({ method: 'POST', path: '/v1/sendsms' })
    expectError(answer, 400, 'VALIDATION_ERROR')
  })

  it('400 when the plan has no route yet', async () => {
    expectError(await service.send({ servicePlanId: PLAN_INCOMPLETE }), 400, 'SERVICE_PLAN_INCOMPLETE')
  })

  it('401 without a valid token, before anything else is looked at', async () => {
    for (const authorization of ['', 'Bearer', 'Bearer nobody', 'Basic eDp5', `Bearer ${'x'.repeat(600)}`]) {
      const answer = await service.request({
        method: 'POST',
        path: '/v1/sendsms',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{',
      })
      expectError(answer, 401, 'UNAUTHENTICATED')
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="aldis"/)
    }
  })

  it('401 tells no token, no credentials and an unknown token apart', async () => {
    const refusal = async (lines: string) => {
      const answer = await exchange(service.port, `POST /v1/sendsms HTTP/1.1\r\nhost: x\r\n${lines}\r\n`)
      return [answer!.status, answer!.json.errorMessage, answer!.headers.get('www-authenticate')]
    }
    const close = 'content-length: 0\r\nconnection: close\r\n'
    expect(await refusal(close)).toEqual([401, 'The Authorization header is missing', 'Bearer realm="aldis"'])
    const malformed = [
      401,
      'The Authorization header must be "Bearer" and one token',
      'Bearer realm="aldis", error="invalid_request"',
    ]
    expect(await refusal(`authorization: Token x\r\n${close}`)).toEqual(malformed)
    const known = `authorization: Bearer ${TOKEN}\r\n`
    expect(await refusal(`${known}${known}${close}`)).toEqual(malformed)
    expect(await refusal(`authorization: Bearer nobody\r\n${close}`)).toEqual([
      401,
      'The token is not valid',
      'Bearer realm="aldis", error="invalid_token"',
    ])
  })

  it('401 when the plan is not active', async () => {
    expectError(await service.send({ servicePlanId: PLAN_INACTIVE }), 401, 'SERVICE_PLAN_INACTIVE')
  })

  it('403 when the token is limited to other plans of the account', async () => {
    const headers = { authorization: `Bearer ${TOKEN_LIMITED}` }
    expectError(await service.send({ servicePlanId: PLAN_SECOND }, headers), 403, 'FORBIDDEN')
    expect((await service.send({}, headers)).status).toBe(202)
  })

  it('403 for a sender without subscription, denied, of another tenant, or of a kind not allowed', async () => {
    for (const from of ['99999', 'Denied', 'OtherBrand']) {
      expectError(await service.send({ from }), 403, 'SENDER_NOT_AUTHORIZED')
    }
    const kind = await service.send({ servicePlanId: PLAN_SHORT_CODES, from: 'Aldis' })
    expectError(kind, 403, 'SENDER_NOT_AUTHORIZED')
  })

  it('404 for a plan of another account, as for one that does not exist', async () => {
    const foreign = await service.send({ servicePlanId: PLAN_OTHER })
    const nowhere = await service.send({ servicePlanId: 'f'.repeat(24) })
    expectError(foreign, 404, 'SERVICE_PLAN_NOT_FOUND')
    expect(withoutId(foreign)).toBe(withoutId(nowhere))
  })

  it('409 while the sender waits for approval', async () => {
    expectError(await service.send({ from: 'Pending' }), 409, 'SENDER_PENDING_APPROVAL')
  })

  it('413 for a request of more than 64 KiB', async () => {
    const answer = await service.send({ extra: 'x'.repeat(65_536) })
    expectError(answer, 413, 'MESSAGE_TOO_LARGE')
    expect(answer.json.errorMessage).toBe('The body must have at most 65536 bytes')
  })

  it('413 reaches a client that is still writing', async () => {
    for (let n = 0; n < 5; n += 1) {
      expectError(await service.send({ extra: 'x'.repeat(5_000_000) }), 413, 'MESSAGE_TOO_LARGE')
    }
  })

  it('413 for a record of more than the limit', async () => {
    await using small = await startHttpService({ database: service.database, limits: { recordBytes: 100 } })
    const before = await service.storedMessages()
    const answer = await small.send({ body: 'é'.repeat(50) })
    expectError(answer, 413, 'MESSAGE_TOO_LARGE')
    expect(answer.json.errorMessage).toBe('The texts of the message must have at most 100 bytes together')
    expect((await small.send({ body: 'é'.repeat(40) })).status).toBe(202)
    expect(await service.storedMessages()).toBe(before + 1)
  })

  it('415 for another content type, and none', async () => {
    for (const contentType of ['text/plain', 'application/xml', 'application/jsonx', ';']) {
      const answer = await service.send({}, { 'content-type': contentType })
      expectError(answer, 415, 'UNSUPPORTED_MEDIA_TYPE')
    }
    const none = await service.request({ method: 'POST', path: '/v1/sendsms', body: '{}' })
    expectError(none, 415, 'UNSUPPORTED_MEDIA_TYPE')
  })

  it('415 for JSON in another charset, and for a compressed body', async () => {
    const utf16 = await service.send({}, { 'content-type': 'application/json; charset=utf-16' })
    expectError(utf16, 415, 'UNSUPPORTED_MEDIA_TYPE')
    expectError(await service.send({}, { 'content-encoding': 'gzip' }), 415, 'UNSUPPORTED_MEDIA_TYPE')
    const utf8 = { 'content-type': 'application/json; charset="UTF-8"', 'content-encoding': 'identity' }
    expect((await service.send({}, utf8)).status).toBe(202)
  })

  it('422 for a sender whose status is not recognized', async () => {
    expectError(await service.send({ from: 'Archived' }), 422, 'SENDER_STATUS_UNKNOWN')
  })

  it('422 for an Idempotency-Key used with another request; each plan has its own keys', async () => {
    const headers = { 'idempotency-key': 'order-2' }
    expect((await service.send({ body: 'one' }, headers)).status).toBe(202)
    expectError(await service.send({ body: 'two' }, headers), 422, 'IDEMPOTENCY_KEY_REUSED')
    expect((await service.send({ servicePlanId: PLAN_SECOND, body: 'two' }, headers)).status).toBe(202)
  })

  it('429 over the rate of the account, or of the plan, and tells when to come back', async () => {
    const limit = { perSecond: 0.5, burst: 2 }
    const { database } = service
    await using byAccount = await startHttpService({ database, accountRateLimit: limit })
    await using byPlan = await startHttpService({ database, planRateLimit: limit })
    for (const [limited, name] of [[byAccount, 'account'] as const, [byPlan, 'plan'] as const]) {
      const before = await limited.storedMessages()
      expect([(await limited.send()).status, (await limited.send()).status]).toEqual([202, 202])
      const refused = await limited.send()
      expectError(refused, 429, 'RATE_LIMITED')
      expect(refused.headers.get('retry-after')).toMatch(/^[12]$/)
      expect(refused.headers.get('ratelimit')).toMatch(new RegExp(`^"${name}";r=0;t=[12]$`))
      expect(refused.headers.get('ratelimit-policy')).toBe(`"${name}";q=2;w=4`)
      const headers = { authorization: `Bearer ${TOKEN_OTHER}` }
      expect((await limited.send({ servicePlanId: PLAN_OTHER }, headers)).status).toBe(202)
      expect(await limited.storedMessages()).toBe(before + 3)
    }
  })

  describe('when the database refuses', () => {
    afterEach(() => service.db.query('alter table dispatches_away rename to dispatches'))

    it('500 answers the record, FAILED, and nothing is stored', async () => {
      const before = await service.storedMessages()
      await service.db.query('alter table dispatches rename to dispatches_away')
      const answer = await service.send()
      expect(answer.status).toBe(500)
      expect(answer.json).toMatchObject({ status: 'FAILED', errorCode: '100', to: '+15551230001' })
      expect(answer.json.errorMessage).toBe('Message could not be queued')
      expect(await service.storedMessages()).toBe(before)
      expect((await service.get(`/v1/messages/${answer.json.msgId}`)).status).toBe(404)
    })
  })

  it('503 says nothing of a message where its Idempotency-Key cannot be looked up, and nothing is stored', async () => {
    const before = await service.storedMessages()
    await service.db.query('alter table idempotency_keys rename to keys_away')
    const answer = await service.send({}, { 'idempotency-key': 'unasked' })
    await service.db.query('alter table keys_away rename to idempotency_keys')
    expectError(answer, 503, 'SERVICE_UNAVAILABLE')
    expect(answer.headers.get('retry-after')).toBe('2')
    expect(await service.storedMessages()).toBe(before)
    expect((await service.send({}, { 'idempotency-key': 'unasked' })).status).toBe(202)
  })
})

function post(body: string): Promise<HttpAnswer> {
  const headers = { 'content-type': 'application/json' }
  return service.request({ method: 'POST', path: '/v1/sendsms', headers, body })
}

function withoutId(answer: HttpAnswer): string {
  return answer.text.replace(answer.json.requestId, '')
}
