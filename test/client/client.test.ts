import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AldisClient, type DeliveryReceipt } from '../../client/src/index.ts'
import {
  type HttpService,
  PLAN,
  PLAN_INCOMPLETE,
  startHttpService,
  TOKEN,
  validMessage,
} from '../support/http-service.ts'

let service: HttpService
let client: AldisClient

beforeAll(async () => {
  service = await startHttpService()
  client = new AldisClient({ baseUrl: `http://127.0.0.1:${service.port}`, token: TOKEN })
})
afterAll(() => service[Symbol.asyncDispose]())

const sms = (fields: Partial<ReturnType<typeof validMessage>> = {}) => ({
  ...validMessage(),
  ...fields,
  channel: 'SMS' as const,
})

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

describe('with the service', () => {
  it('sends a message and looks it up', async () => {
    const sent = await client.sendSms(sms({ body: 'Grüße & 100 %' }))
    expect(sent).toMatchObject({ status: 'QUEUED', body: 'Grüße & 100 %' })
    const { msgId } = sent
    expect(await client.getMessage({ msgId, servicePlanId: PLAN })).toEqual(sent)
    expect(await client.getMessageAtLocation({ msgId })).toEqual(sent)
  })

  it('sends once with an idempotency key', async () => {
    const first = await client.sendSms(sms(), { idempotencyKey: 'order-7' })
    expect(await client.sendSms(sms(), { idempotencyKey: 'order-7' })).toEqual(first)
    expect(await client.sendSms(sms(), { idempotencyKey: 'order-8' })).not.toEqual(first)
  })

  it('a field that is undefined is absent', async () => {
    expect(await client.sendSms({ ...sms(), callbackUrl: undefined })).toMatchObject({ status: 'QUEUED' })
    const { items } = await client.listMessages({ servicePlanId: PLAN, from: undefined, status: 'FAILED' })
    expect(items).toEqual([])
  })

  it('goes through a list by pages and by items', async () => {
    const to = '+15551239999'
    const sent: DeliveryReceipt[] = []
    for (let count = 0; count < 5; count += 1) sent.unshift(await client.sendSms(sms({ to })))
    const query = { servicePlanId: PLAN, to, limit: 2 }
    const page = await client.listMessages(query)
    expect(page).toMatchObject({ items: sent.slice(0, 2), pagination: { limit: 2, hasMore: true } })

    const pages = await all(client.pages('listMessages', query))
    expect(pages.map(({ items }) => items.length)).toEqual([2, 2, 1])
    expect(await all(client.items('listMessages', query))).toEqual(sent)
    const { nextCursor } = page.pagination
    const rest = client.items('listMessages', { servicePlanId: PLAN, cursor: nextCursor! })
    expect(await all(rest)).toEqual(sent.slice(2))
  })

  it('reads the feed to its end, and later from there on', async () => {
    await service.db.query(`
      with feed as (insert into feeds (plan_id, position) values (1, 1))
      insert into events (plan_id, msg_id, sequence, position, status, occurred_at)
      select plan_id, msg_id, sequence, 1, 'SENT', now() from messages, generate_series(1, 2) sequence where plan_id = 1`)
    const { rows } = await service.db.query<{ count: number }>('select count(*)::int as count from events')
    const query = { servicePlanId: PLAN, limit: 3 }
    const pages = await all(client.pages('listEvents', query))
    const items = pages.flatMap((page) => page.items)
    expect(pages.length).toBeGreaterThan(2)
    expect(items).toHaveLength(rows[0]!.count)
    expect(new Set(items.map(({ eventId }) => eventId)).size).toBe(items.length)
    expect(pages.map(({ hasMore }) => hasMore).lastIndexOf(true)).toBe(pages.length - 2)
    const { cursor } = pages.at(-1)!
    expect(await all(client.items('listEvents', { servicePlanId: PLAN, cursor }))).toEqual([])
  })

  it('lists inbound messages', async () => {
    const query = { servicePlanId: PLAN, keyword: 'STOP' }
    expect(await all(client.items('listInboundMessages', query))).toEqual([])
    const [{ msgId }] = (await client.listMessages({ servicePlanId: PLAN, from: '12345' })).items as [
      DeliveryReceipt,
    ]
    await expect(client.getInboundMessage({ servicePlanId: PLAN, msgId })).rejects.toMatchObject({
      errorCode: 'MESSAGE_NOT_FOUND',
    })
  })

  it('says what was wrong with the fields', async () => {
    const error = await client.sendSms(sms({ to: 'nobody', body: '' })).catch((caught: unknown) => caught)
    expect(error).toMatchObject({
      name: 'AldisError',
      status: 400,
      errorCode: 'VALIDATION_ERROR',
      retryAfterSeconds: null,
      body: { errorCode: 'VALIDATION_ERROR' },
    })
    const { errors, requestId, message } = error as { errors: object[]; requestId: string; message: string }
    expect(errors).toMatchObject([{ field: 'body' }, { field: 'to' }])
    expect(service.logs.some((line) => line.includes(requestId))).toBe(true)
    expect(message).toMatch(/^400 VALIDATION_ERROR: .+ \(body: .+, to: .+\)$/)
  })

  it.each([
    [400, 'SERVICE_PLAN_INCOMPLETE', { servicePlanId: PLAN_INCOMPLETE }],
    [403, 'SENDER_NOT_AUTHORIZED', { from: 'Denied' }],
    [409, 'SENDER_PENDING_APPROVAL', { from: 'Pending' }],
  ])('%d %s', async (status, errorCode, fields) => {
    await expect(client.sendSms(sms(fields))).rejects.toMatchObject({ status, errorCode, errors: [] })
  })

  it('sends no Authorization header without a token', async () => {
    const nobody = new AldisClient({ baseUrl: `http://127.0.0.1:${service.port}` })
    const error = { status: 401, body: { errorMessage: 'The Authorization header is missing' } }
    await expect(nobody.listMessages({ servicePlanId: PLAN })).rejects.toMatchObject(error)
  })

  it('401 without a good token', async () => {
    const stranger = new AldisClient({ baseUrl: `http://127.0.0.1:${service.port}/`, token: 'aldis_x' })
    const refused = { status: 401, errorCode: 'UNAUTHENTICATED' }
    await expect(stranger.sendSms(sms())).rejects.toMatchObject(refused)
  })

  it('429 with the seconds to wait', async () => {
    const accountRateLimit = { perSecond: 0.1, burst: 1 }
    await using limited = await startHttpService({ database: service.database, accountRateLimit })
    const once = new AldisClient({ baseUrl: `http://127.0.0.1:${limited.port}`, token: TOKEN })
    await once.sendSms(sms())
    const error = await once.sendSms(sms()).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ status: 429, errorCode: 'RATE_LIMITED' })
    const { retryAfterSeconds } = error as { retryAfterSeconds: number }
    expect(retryAfterSeconds).toBeGreaterThanOrEqual(1)
    expect(retryAfterSeconds).toBeLessThanOrEqual(10)
  })

  it.each(['', '.', '..', undefined])('does not ask for the message %j', async (msgId) => {
    const query = { servicePlanId: PLAN, msgId: msgId as string }
    await expect(client.getMessage(query)).rejects.toThrow('getMessage: msgId is required')
  })

  it('what is in a path stays in it', async () => {
    const query = { servicePlanId: PLAN, msgId: '../sms?x=1#' }
    await expect(client.getMessage(query)).rejects.toMatchObject({ errors: [{ field: 'msgId' }] })
  })

  it('does not drop what an operation does not know', async () => {
    const query = { servicePlanId: PLAN, sender: '12345' }
    await expect(client.listMessages(query)).rejects.toThrow('listMessages: it has no sender')
  })

  it.each(['', 'sms.example.net', 'ftp://sms.example.net', 'sms.example.net:8080'])(
    'does not begin with the base URL %j',
    (baseUrl) => {
      expect(() => new AldisClient({ baseUrl, token: TOKEN })).toThrow(TypeError)
    },
  )
})

describe('with something that is no service', () => {
  /** A server that answers so, and a client of it. */
  async function answering(listener: RequestListener, path = '') {
    const server = createServer(listener).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
    return {
      client: new AldisClient({ baseUrl, token: TOKEN }),
      async [Symbol.asyncDispose]() {
        server.closeAllConnections()
        server.close()
        await once(server, 'close')
      },
    }
  }
  const query = { servicePlanId: PLAN, msgId: 'm' }

  it.each<[number, string, Record<string, string>, object]>([
    [502, '<html>', {}, { body: '<html>', message: '502: not an answer of Aldis' }],
    [503, '', { 'retry-after': '30' }, { retryAfterSeconds: 30, body: '' }],
    [503, '', { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, { retryAfterSeconds: null }],
    [500, '{"error":1}', { 'x-request-id': 'r-1' }, { requestId: 'r-1', body: { error: 1 } }],
    [404, 'null', {}, { requestId: null, body: null }],
    [200, '<html>', {}, { body: '<html>' }],
    [302, '', { location: 'https://elsewhere.example/' }, { body: '' }],
  ])('%d %j %j', async (status, text, headers, error) => {
    await using it = await answering((_request, response) => response.writeHead(status, headers).end(text))
    await expect(it.client.getMessage(query)).rejects.toMatchObject({
      name: 'AldisError',
      status,
      errorCode: null,
      errors: [],
      ...error,
    })
  })

  it('a message that was stored as FAILED is there to read', async () => {
    const record = { msgId: 'm', status: 'FAILED', errorCode: '900', errorMessage: 'Not sent' }
    await using it = await answering((_request, response) =>
      response.writeHead(500).end(JSON.stringify(record)),
    )
    const error = { status: 500, errorCode: '900', body: record, message: '500 900: Not sent' }
    await expect(it.client.sendSms(sms())).rejects.toMatchObject(error)
  })

  it('an answer without a body is undefined', async () => {
    await using it = await answering((_request, response) => response.writeHead(204).end())
    expect(await it.client.getMessage(query)).toBeUndefined()
  })

  it('what is requested, below the path of the base URL', async () => {
    const seen: object[] = []
    await using it = await answering((request, response) => {
      const { method, url, headers } = request
      seen.push({ method, url, type: headers['content-type'], token: headers.authorization })
      response.end('{}')
    }, '/sms//')
    await it.client.getMessage({ servicePlanId: PLAN, msgId: 'a b' })
    await it.client.sendSms(sms())
    const token = `Bearer ${TOKEN}`
    expect(seen).toEqual([
      { method: 'GET', url: `/sms/v1/messages/sms/a%20b?servicePlanId=${PLAN}`, type: undefined, token },
      { method: 'POST', url: '/sms/v1/sendsms', type: 'application/json', token },
    ])
  })

  it('no answer in time', async () => {
    await using it = await answering(() => undefined)
    const late = it.client.getMessage(query, { timeoutMs: 20 })
    await expect(late).rejects.toMatchObject({ name: 'TimeoutError', message: 'no answer in 20 ms' })
  })

  it('half an answer in time', async () => {
    await using it = await answering((_request, response) => response.writeHead(200).write('{'))
    await expect(it.client.getMessage(query, { timeoutMs: 50 })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
  })

  it('ends when it is told to, before and while it waits', async () => {
    const controller = new AbortController()
    await using it = await answering(() => controller.abort(new Error('enough')))
    const { signal } = controller
    await expect(it.client.getMessage(query, { signal })).rejects.toThrow('enough')
    await expect(it.client.getMessage(query, { signal })).rejects.toThrow('enough')
  })

  it('nobody there', async () => {
    const nobody = await answering(() => undefined)
    await nobody[Symbol.asyncDispose]()
    await expect(nobody.client.getMessage(query)).rejects.toThrow(TypeError)
  })
})
