import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { databaseOfFile } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { ACCOUNT, type HttpService, startHttpService, TOKEN, validMessage } from '../support/http-service.ts'
import {
  exchange,
  exchangeInTurn,
  nextAnswer,
  openSocket,
  readToEnd,
  requestBytes,
  untilRefused,
} from '../support/raw-http.ts'

const database = await databaseOfFile({ state: 'anyDay' })
let service: HttpService
let served: number
let before: number

afterEach(() => service[Symbol.asyncDispose]())

/** `served` counts the requests that take the ordinary way. */
async function start(options: Parameters<typeof startHttpService>[0] = {}): Promise<void> {
  service = await startHttpService({ database, ...options })
  before = await service.storedMessages()
  served = 0
  service.app.server.on('request', () => {
    served += 1
  })
}

function send(fields: object = {}, headers: Record<string, string> = {}): Buffer {
  return requestBytes({
    method: 'POST',
    path: '/v1/sendsms',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${TOKEN}`,
      connection: 'keep-alive',
      ...headers,
    },
    body: JSON.stringify({ ...validMessage(), ...fields }),
  })
}

/** How many are stored since the start. */
async function stored(): Promise<number> {
  return (await service.storedMessages()) - before
}

function lines(): Record<string, unknown>[] {
  return service.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
}

test('a session sends on a connection whose tokens take the short way, and only for its own pages', async () => {
  await start()
  const { cookie } = await service.signIn(TOKEN)
  served = 0
  const bySession = (site: string) =>
    requestBytes({
      method: 'POST',
      path: '/v1/sendsms',
      headers: {
        'content-type': 'application/json',
        connection: 'keep-alive',
        cookie: cookie!,
        'sec-fetch-site': site,
      },
      body: JSON.stringify(validMessage()),
    })
  const requests = [send(), send(), bySession('same-origin'), bySession('same-site'), bySession('cross-site')]
  const answers = await exchangeInTurn(service.port, requests)
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 403, 403])
  expect([served, await stored()]).toEqual([4, 3])
  const headers = { cookie: cookie!, authorization: 'Bearer nobody', connection: 'close' }
  expect((await exchange(service.port, send({}, headers)))!.status).toBe(401)
})

test('a send that a limit of the plan refuses takes the ordinary way, which says why', async () => {
  await start({ plan: { allowedCountries: new Set(['US']) } })
  const requests = [send(), send({ to: '+46701234567' })]
  const [first, refused] = await exchangeInTurn(service.port, requests)
  expect([first!.status, refused!.status, refused!.json.errorCode]).toEqual([202, 403, 'COUNTRY_NOT_ALLOWED'])
  expect(await stored()).toBe(1)
})

test('the second send of a connection takes the short way, with the same answer, record, log line and figures', async () => {
  await start({ baseUrl: 'https://sms.example.com' })
  const body = 'Grüße \u{1f600} "quoted"'
  const [ordinary, short] = await exchangeInTurn(service.port, [send({ body }), send({ body })])
  expect(served).toBe(1)
  expect([short!.status, [...short!.headers.keys()]]).toEqual([202, [...ordinary!.headers.keys()]])
  const varying = ['x-request-id', 'location', 'date']
  const constant = (headers: ReadonlyMap<string, string>) =>
    [...headers].filter(([name]) => !varying.includes(name))
  expect(constant(short!.headers)).toEqual(constant(ordinary!.headers))
  expect(short!.headers.get('location')).toBe(`https://sms.example.com/v1/messages/${short!.json.msgId}`)
  const { msgId, createdAt, updatedAt } = ordinary!.json
  expect({ ...short!.json, msgId, createdAt, updatedAt }).toEqual(ordinary!.json)
  expect(Object.keys(short!.json)).toEqual(Object.keys(ordinary!.json))
  expect((await service.get(`/v1/messages/${short!.json.msgId}`)).json.body).toBe(body)
  const [first, second] = lines()
  expect(Object.keys(second!)).toEqual(Object.keys(first!))
  const { latencyMs, requestId, time } = second!
  expect({ ...first, msgId: short!.json.msgId, latencyMs, requestId, time }).toEqual(second)
  expect([requestId, short!.headers.get('x-request-id')]).toEqual([short!.json.msgId, short!.json.msgId])
  const { text } = await service.get('/metrics')
  expect(text).toContain('aldis_messages_accepted_total 2\n')
  expect(text).toMatch(
    /http_request_duration_seconds_count\{method="POST",route="\/v1\/sendsms",status="202"\} 2\n/,
  )
})

test('a send with a traceparent of its own takes it too', async () => {
  await start()
  const spans = ['1', '2', '3'].map((digit) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`)
  const answers = await exchangeInTurn(
    service.port,
    spans.map((traceparent) => send({}, { traceparent })),
  )
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
  expect([served, await stored()]).toEqual([1, 3])
})

test('headers in another case and order, and lengths that differ, take it too', async () => {
  await start()
  const head = (length: number) =>
    `POST /v1/sendsms HTTP/1.1\r\nContent-Length:${length}\r\nUser-Agent: a\r\nAUTHORIZATION: bearer ${TOKEN}\r\n` +
    'content-type:application/json; charset=UTF-8\r\nHost: x\r\n\r\n'
  const requests = ['a', 'ab', 'a'.repeat(900)].map((body) => {
    const text = JSON.stringify({ ...validMessage(), body })
    return Buffer.from(head(text.length) + text)
  })
  const answers = await exchangeInTurn(service.port, requests)
  expect(answers.map(({ status, json }) => [status, json.body.length])).toEqual([
    [202, 1],
    [202, 2],
    [202, 900],
  ])
  expect(served).toBe(1)
})

test.each<[string, Buffer, number]>([
  ['an Idempotency-Key', send({}, { 'idempotency-key': 'k' }), 202],
  ['connection: close', send({}, { connection: 'close' }), 202],
  ['another token', send({}, { authorization: 'Bearer nobody' }), 401],
  ['a fault', send({ to: '1' }), 400],
  ['a callback URL that is not public', send({ callbackUrl: 'https://127.0.0.1/' }), 400],
  ['a sender that is not approved', send({ from: 'Pending' }), 409],
  ['another type', send({}, { 'content-type': 'text/plain' }), 415],
  [
    'another path',
    requestBytes({ method: 'GET', path: '/livez', headers: { connection: 'keep-alive' } }),
    200,
  ],
])('%s takes the ordinary way, and after it plain sends go on', async (_name, request, status) => {
  await start()
  const isLast = request.includes('connection: close')
  const answers = await exchangeInTurn(service.port, [send(), send(), request, ...(isLast ? [] : [send()])])
  expect(answers.map((answer) => answer.status)).toEqual([202, 202, status, ...(isLast ? [] : [202])])
  expect(served).toBeGreaterThanOrEqual(2)
})

test('one that cannot be queued is answered 500 with its record, as on the ordinary way', async () => {
  await start()
  const socket = await openSocket(service.port)
  const ask = () => {
    const answer = nextAnswer(socket)
    socket.write(send())
    return answer
  }
  expect((await ask()).status).toBe(202)
  await service.db.query('alter table messages rename to messages_away')
  const short = await ask()
  const servedBefore = served
  const [ordinary] = await exchangeInTurn(service.port, [send()])
  await service.db.query('alter table messages_away rename to messages')
  expect(servedBefore).toBe(1)
  expect([short.status, short.json]).toEqual([
    500,
    expect.objectContaining({ status: 'FAILED', errorCode: '100' }),
  ])
  expect([...short.headers.keys()]).toEqual([...ordinary!.headers.keys()])
  expect(lines().map(({ status, errorCode }) => [status, errorCode])).toEqual([
    [202, undefined],
    [500, 'INTERNAL_ERROR'],
    [500, 'INTERNAL_ERROR'],
  ])
  socket.destroy()
})

test('where nobody can say whether it is stored, the connection is closed without an answer, on either way', async () => {
  await start({ accepter: { accept: async () => ({ kind: 'unknown' }), refusalOf: async () => null } })
  expect(await exchange(service.port, send())).toBeNull()
  expect(served).toBe(1)
  const socket = await openSocket(service.port)
  const first = nextAnswer(socket)
  socket.write(send({ to: '1' }))
  expect((await first).status).toBe(400)
  socket.write(send())
  expect(await readToEnd(socket)).toBeNull()
  expect(served).toBe(2)
  const unanswered = {
    ...{ method: 'POST', route: '/v1/sendsms', status: null, accountId: ACCOUNT },
    ...{ latencyMs: expect.any(Number), requestId: expect.any(String) },
  }
  expect(lines().filter(({ status }) => status === null)).toMatchObject([unanswered, unanswered])
  expect((await service.get('/metrics')).text).toContain('aldis_sends_unanswered_total 2\n')
})

test('an account that has a limit takes the ordinary way', async () => {
  await start({ accountRateLimit: { perSecond: 0.001, burst: 2 } })
  const answers = await exchangeInTurn(service.port, [send(), send(), send()])
  expect([answers.map(({ status }) => status), served]).toEqual([[202, 202, 429], 3])
})

test('what comes behind one that is being answered waits for its turn', async () => {
  let release: () => void = () => undefined
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  let asked = 0
  await start({
    guard: (real) => ({
      async check(url) {
        asked += 1
        if (asked > 1) await gate
        return await real.check(url)
      },
    }),
  })
  const callbackUrl = 'https://hooks.example.com/x'
  const socket = await openSocket(service.port)
  const first = nextAnswer(socket)
  socket.write(send({ callbackUrl }))
  await first
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(send({ body: 'one', callbackUrl }))
  await expect.poll(() => asked).toBe(2)
  const later = send({ body: 'two' })
  socket.write(later.subarray(0, 40))
  socket.write(Buffer.concat([later.subarray(40), send({ body: 'three' }).subarray(0, 60)]))
  socket.write(send({ body: 'three' }).subarray(60))
  release()
  const bodies = () =>
    [
      ...Buffer.concat(chunks)
        .toString()
        .matchAll(/"body":"(\w+)"/g),
    ].map(([, body]) => body)
  await expect.poll(bodies).toEqual(['one', 'two', 'three'])
  socket.destroy()
})

test('a closing server answers the one under way, and ends its connection with that', async () => {
  await start()
  const socket = await openSocket(service.port)
  const first = nextAnswer(socket)
  socket.write(send())
  await first
  const lock = await service.db.connect()
  await lock.query('begin')
  await lock.query('lock table messages in exclusive mode')
  const gone = once(socket, 'close')
  const second = nextAnswer(socket)
  socket.write(send())
  const { pid } = (await lock.query('select pg_backend_pid() as pid')).rows[0]
  await eventually(async () => {
    const { rows } = await service.db.query(
      `select from pg_locks l join pg_database d on d.oid = l.database
       where d.datname = current_database() and not l.granted and l.pid <> $1`,
      [pid],
    )
    return rows.length === 1
  })
  const closed = service.app.close()
  await untilRefused(service.port)
  await lock.query('rollback')
  lock.release()
  const { status, headers } = await second
  expect([status, headers.get('connection'), headers.has('keep-alive')]).toEqual([202, 'close', false])
  await gone
  await closed
  expect(served).toBe(1)
})
