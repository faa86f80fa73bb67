import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BAD_SCENARIOS } from '../support/bad-inputs.ts'
import { type HttpService, PLAN, startHttpService, TOKEN } from '../support/http-service.ts'
import { exchange, type HttpAnswer } from '../support/raw-http.ts'

const BODY = 'CANARY-BODY-7f3a'
const NUMBER = '+15550007777'
const CANARIES = ['CANARY', 'canary', '5550007777', TOKEN]

let service: HttpService
const failures: HttpAnswer[] = []

beforeAll(async () => {
  service = await startHttpService()
  const sms = {
    body: BODY,
    to: NUMBER,
    callbackUrl: 'https://user:CANARY-PASS@hooks.example.com/?secret=CANARY-URL',
  }
  const list = `/v1/messages/sms?servicePlanId=${PLAN}`
  const sent = await service.send(sms, { 'idempotency-key': 'CANARY-KEY' })
  expect(sent.status).toBe(202)
  failures.push(
    await service.send({ ...sms, from: 'CANARY' }),
    await service.send({
      ...sms,
      to: 'CANARY',
      callbackUrl: 'http://user:CANARY-PASS@10.0.0.1/?s=CANARY-URL',
    }),
    await service.send({ ...sms, body: 'other' }, { 'idempotency-key': 'CANARY-KEY' }),
    await service.send(sms, { authorization: 'Bearer canary_tok_1' }),
    await service.send(sms, { 'content-type': 'text/CANARY' }),
    await service.send(sms, { expect: 'CANARY' }),
    await post(`{"body":"${BODY}",}`),
    await post(`{"body":"${BODY}\\ud800"}`),
    await service.get(`/v1/CANARY/${NUMBER}?to=${NUMBER}`),
    await service.get(`/v1/messages/sms/CANARY%0a${NUMBER}?servicePlanId=${PLAN}`),
    await service.get('/v1/messages/sms/%zzCANARY'),
    await service.get(`${list}&to=CANARY&cursor=CANARY`, { 'user-agent': 'CANARY' }),
    (await exchange(service.port, `GET /CANARY HTTP/1.1\r\nCANARY CANARY\r\n\r\n`))!,
  )
  expect((await service.get(`${list}&to=%2B15550007777`)).json.items).toHaveLength(1)
  await service.db.query('alter table messages rename to messages_away')
  failures.push(
    await service.get(`/v1/messages/${sent.json.msgId}`),
    await service.get(`${list}&to=%2B15550007777`),
  )
  // Of a send it is the record, which is the caller's own.
  expect((await service.send(sms)).json).toMatchObject({ status: 'FAILED', to: NUMBER })
  await service.db.query('alter table messages_away rename to messages')
})
afterAll(() => service[Symbol.asyncDispose]())

function post(body: string): Promise<HttpAnswer> {
  const headers = { 'content-type': 'application/json' }
  return service.request({ method: 'POST', path: '/v1/sendsms', headers, body })
}

function canariesIn(text: string): string[] {
  return CANARIES.filter((canary) => text.includes(canary))
}

const CHECKS: Record<string, () => Promise<void>> = {
  B326: async () => {
    for (const answer of failures) {
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(canariesIn(answer.text)).toEqual([])
    }
    expect(failures.slice(-2).map(({ json }) => json.errorCode)).toEqual(['INTERNAL_ERROR', 'INTERNAL_ERROR'])
    expect(canariesIn(service.logs.join(''))).toEqual([])
  },
  B329: async () => {
    const { text } = await service.get('/metrics')
    expect(canariesIn(text)).toEqual([])
    const routes = new Set([...text.matchAll(/route="([^"]*)"/g)].map((match) => match[1]!))
    for (const route of routes)
      expect(route).toMatch(/^(?:unmatched|unparsed|\/[a-z0-9.]+(?:\/:?[a-zA-Z0-9]+)*)$/)
  },
}

// What a caller sends is found nowhere but in its own records.
for (const { id, request, expect: wanted } of BAD_SCENARIOS)
  it(`${request.scenario}: ${wanted.invariant} (${id})`, () => CHECKS[id]!())

describe('request log', () => {
  it('is one line of JSON for each request, with the route and not the URL', async () => {
    const before = service.logs.length
    const { json } = await service.get('/v1/messages/sms/x%0d%0a{"level":60}?servicePlanId=y')
    await expect.poll(() => service.logs.length).toBe(before + 1)
    const line = service.logs[before]!
    expect(line.indexOf('\n')).toBe(line.length - 1)
    expect(JSON.parse(line)).toMatchObject({
      method: 'GET',
      route: '/v1/messages/sms/:msgId',
      status: 400,
      requestId: json.requestId,
      accountId: 'a0a0a0a0a0a0a0a0a0a0a0a0',
      latencyMs: expect.any(Number),
    })
  })

  it('names the message of a send and of a look-up, and the code of a refusal', async () => {
    const key = { 'idempotency-key': 'named' }
    const { json, headers } = await service.send({ to: NUMBER }, key)
    const again = await service.send({ to: NUMBER }, key)
    expect(headers.get('x-request-id')).toBe(json.msgId)
    expect(again.headers.get('x-request-id')).not.toBe(json.msgId)
    const before = service.logs.length
    const unknown = '0199A1B2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'
    await service.get(`/v1/messages/sms/${unknown}?servicePlanId=${PLAN}`)
    await expect.poll(() => service.logs.length).toBeGreaterThan(before)
    const lines = service.logs
      .map((line) => JSON.parse(line))
      .filter(({ route }) => route?.startsWith('/v1/'))
    const named = lines.filter(({ msgId }) => msgId === json.msgId)
    expect(named.map(({ route, status, errorCode }) => `${route} ${status} ${errorCode}`)).toEqual([
      '/v1/sendsms 202 undefined',
      '/v1/sendsms 202 undefined',
    ])
    expect(lines.at(-1)).toMatchObject({
      status: 404,
      msgId: unknown.toLowerCase(),
      errorCode: 'MESSAGE_NOT_FOUND',
    })
  })

  it('counts what was accepted once, and refusals by their code', async () => {
    const read = async () => (await service.get('/metrics')).text
    const countOf = (text: string, series: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.split(' ')[1] ?? 0,
      )
    const before = await read()
    const key = { 'idempotency-key': 'counted' }
    await service.send({ to: NUMBER }, key)
    await service.send({ to: NUMBER }, key)
    await service.send({ to: 'nobody' })
    await service.get(`/v1/messages/sms/x?servicePlanId=${PLAN}`)
    const refused = 'aldis_messages_refused_total{code="VALIDATION_ERROR"}'
    const added = async (series: string) => countOf(await read(), series) - countOf(before, series)
    await expect.poll(() => added(refused)).toBe(1)
    await expect.poll(() => added('aldis_messages_accepted_total')).toBe(1)
  })

  it('tells the error of a 500 without the values of the statement', () => {
    const errors = service.logs.map((line) => JSON.parse(line)).filter(({ error }) => error !== undefined)
    expect(errors).toHaveLength(2)
    expect(errors[0].error).toMatchObject({ sqlState: '42P01', stack: expect.any(String) })
    expect(errors[0].requestId).toBe(failures.at(-2)!.json.requestId)
  })

  it('is dropped above its level', async () => {
    service.app.log.level = 'warn'
    const before = service.logs.length
    await service.get('/livez')
    service.app.log.level = 'debug'
    await service.get('/readyz')
    await expect.poll(() => service.logs.length).toBe(before + 1)
    expect(service.logs[before]).toContain('/readyz')
  })
})
