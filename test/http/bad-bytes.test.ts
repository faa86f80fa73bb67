import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { HTTP_LIMITS } from '../../src/http/limits.ts'
import { BAD_BYTES, BAD_TRANSPORTS } from '../support/bad-inputs.ts'
import {
  type HttpService,
  PLAN,
  PLAN_OTHER,
  startHttpService,
  TOKEN,
  TOKEN_OTHER,
  validMessage,
} from '../support/http-service.ts'
import {
  exchange,
  type HttpAnswer,
  openSocket,
  parseAnswer,
  readToEnd,
  requestBytes,
} from '../support/raw-http.ts'

let service: HttpService
/** Its time-outs are short: those of the real server are in limits.test.ts. */
let quick: HttpService
beforeAll(async () => {
  service = await startHttpService({ baseUrl: 'https://sms.example.com' })
  const limits = { headersTimeoutMs: 500, requestTimeoutMs: 600, timeoutCheckMs: 50, keepAliveTimeoutMs: 100 }
  quick = await startHttpService({ database: service.database, limits })
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await quick[Symbol.asyncDispose]()
})

for (const { id, request, expect: wanted } of BAD_TRANSPORTS)
  it(`${request.transport}: ${wanted.invariant ?? `answers ${wanted.status?.join(' or ')}`} (${id})`, async () => {
    const answer = await TRANSPORTS[id]!()
    if (answer !== null) expectAnswer(answer, wanted.status ?? [])
    expect((await service.send()).status).toBe(202)
  })

for (const { id, request, expect: wanted } of BAD_BYTES) {
  const { status, sequence = null } = { status: [], ...wanted } as { status: number[]; sequence?: number[] }
  it(`${request.transport}: answers ${sequence?.join(', then ') ?? status.join(' or ')} (${id})`, async () => {
    const before = await service.storedMessages()
    const answers = await exchangeAll(service.port, fill(request.bytes))
    const statuses = answers.map((answer) => answer.status)
    if (sequence === null) expectAnswer(answers[0]!, status)
    else expect(statuses).toEqual(sequence)
    // What was stored was answered so, and nothing else.
    expect(await service.storedMessages()).toBe(before + statuses.filter((one) => one === 202).length)
  })
}

/** Placeholders of bad-input-more.json. */
function fill(text: string): Buffer {
  const body = JSON.stringify(validMessage())
  const send = head([`content-length: ${body.length}`]).concat(body)
  const values: Record<string, string> = {
    TOKEN,
    TOKEN_OTHER,
    PLAN,
    BODY: body,
    LENGTH: String(body.length),
    HEXLENGTH: body.length.toString(16),
    SENDLENGTH: String(send.length),
  }
  const filled = text.replace(/\{\{([A-Z_]+)\}\}/g, (whole, name: string) => values[name] ?? whole)
  const repeated = filled.replace(
    /\{\{repeat:(\d+):(.+?)\}\}(?!\})/gs,
    (_whole, count: string, part: string) => part.repeat(Number(count)),
  )
  return Buffer.from(repeated, 'latin1')
}

/** Every final answer to these bytes, until the server closes. */
async function exchangeAll(port: number, bytes: Buffer): Promise<HttpAnswer[]> {
  const socket = await openSocket(port)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(bytes)
  await new Promise((resolve) => socket.once('close', resolve))
  const starts = Buffer.concat(chunks)
    .toString('latin1')
    .split(/(?=HTTP\/1\.1 [2-5]\d\d )/)
  return starts.flatMap((start) => parseAnswer(Buffer.from(start, 'latin1')) ?? [])
}

function expectAnswer(answer: HttpAnswer, statuses: readonly number[]): void {
  expect(statuses).toContain(answer.status)
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  if (answer.status < 400) return
  expect(answer.json.errorCode).toMatch(/^[A-Z_]+$/)
  expect(answer.json.requestId).toBe(answer.headers.get('x-request-id'))
}

const TRANSPORTS: Record<string, () => Promise<HttpAnswer | null>> = {
  B294: async () => {
    const silent: { answer: Promise<HttpAnswer | null> }[] = []
    const open = async () => ({ answer: readToEnd(await openSocket(quick.port)) })
    // In waves: what is beyond the listen backlog waits for its SYN to be sent again, a second or three.
    while (silent.length < 2_000) silent.push(...(await Promise.all(Array.from({ length: 100 }, open))))
    expect((await quick.send()).status).toBe(202)
    for (const { answer } of silent) expect((await answer)?.status).toBe(408)
    expect((await quick.send()).status).toBe(202)
    expect(HTTP_LIMITS.headersTimeoutMs + HTTP_LIMITS.timeoutCheckMs).toBeLessThanOrEqual(15_000)
    return null
  },
  B295: async () => {
    const socket = await openSocket(quick.port)
    const answer = readToEnd(socket)
    socket.write('GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n')
    expect((await answer)?.status).toBe(200)
    expect(HTTP_LIMITS.keepAliveTimeoutMs).toBeLessThanOrEqual(64_000)
    return null
  },
  B300: () => post(['transfer-encoding: xchunked'], '0\r\n\r\n'),
  B301: () => exchange(quick.port, head(['transfer-encoding: chunked']).concat('ffffffffffffffff\r\nx')),
  B304: async () => {
    const before = await service.storedMessages()
    const socket = await openSocket(service.port)
    const closed = readToEnd(socket)
    socket.end(head(['content-length: 10']).concat('{"a":'))
    await closed
    expect(await service.storedMessages()).toBe(before)
    return null
  },
  B305: async () => {
    for (let n = 0; n < 20; n += 1) {
      const socket = await openSocket(service.port)
      const bytes = validPost({ body: `gone ${n}` })
      await new Promise((resolve) => socket.write(bytes, resolve))
      socket.resetAndDestroy()
    }
    // Whatever was read before the reset is stored whole: each message has its dispatch row.
    await service.send({ body: 'after them' })
    const { rows } = await service.db.query<{ messages: number; queued: number }>(
      `select count(*)::int as messages, count(d.msg_id)::int as queued
       from messages m left join dispatches d using (msg_id)`,
    )
    expect(rows[0]!.queued).toBe(rows[0]!.messages)
    return null
  },
  B306: () => post(['bad name: x']),
  B307: () => exchange(service.port, head([]).replaceAll('\r\n', '\n')),
  B308: () => post(['x-folded: one', ' two']),
  B309: () => post(['x-nul: a\u0000b']),
  B310: () => post([`x-large: ${'a'.repeat(17_000)}`]),
  B312: () => exchange(service.port, `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`),
  B314: () => post(['host: localhost', 'host: evil.example']),
  B315: async () => {
    const answer = await service.send({}, { host: 'evil.example', 'x-forwarded-host': 'evil' })
    expect(answer.headers.get('location')).toBe(`https://sms.example.com/v1/messages/${answer.json.msgId}`)
    return answer
  },
  B317: () => service.send({}, { expect: '100-continue' }),
  B318: () => service.send({}, { expect: 'banana' }),
  B320: () => exchange(service.port, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  B322: () => exchange(service.port, bindPdu()),
  B323: () => {
    const path = `/v1/messages/00000000-0000-4000-8000-000000000000x`
    return service.request({ method: 'GET', path, body: 'x'.repeat(1_000_000) })
  },
  B325: floodOfOneToken,
}

/** One tenant sends at 5,000 a second, far above its rate, over eight connections; another sends meanwhile. */
async function floodOfOneToken(): Promise<null> {
  // While its clock stands still, the bucket is not filled again, however long the sends take.
  const nowMs = Date.now()
  const accountRateLimit = { perSecond: 50, burst: 100 }
  const { database } = service
  await using limited = await startHttpService({ database, accountRateLimit, clock: () => nowMs })
  const flood = Promise.all(Array.from({ length: 8 }, () => pipelined(limited.port, 125)))
  const other = { authorization: `Bearer ${TOKEN_OTHER}` }
  for (let n = 0; n < 20; n += 1) {
    expect((await limited.send({ servicePlanId: PLAN_OTHER }, other)).status).toBe(202)
  }
  const answers = (await flood).flat()
  expect(answers).toHaveLength(1_000)
  const refused = answers.filter(({ status }) => status === 429)
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(100)
  expect(refused).toHaveLength(900)
  for (const { headers } of refused) expect(headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
  return null
}

/** So many sends over one connection, the next written when the last was answered. */
async function pipelined(port: number, count: number): Promise<HttpAnswer[]> {
  const socket = await openSocket(port)
  const bytes = validPost({}, { connection: 'keep-alive' })
  const answers: HttpAnswer[] = []
  while (answers.length < count) {
    socket.write(bytes)
    answers.push(await nextAnswer(socket))
  }
  socket.destroy()
  return answers
}

async function nextAnswer(socket: Socket): Promise<HttpAnswer> {
  let bytes = Buffer.alloc(0)
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    bytes = Buffer.concat([bytes, chunk])
    const answer = parseAnswer(bytes)
    const length = Number(answer?.headers.get('content-length') ?? 0)
    if (answer !== null && Buffer.byteLength(answer.text) === length) return answer
  }
}

function validPost(fields: Record<string, unknown>, headers: Record<string, string> = {}): Buffer {
  return requestBytes({
    method: 'POST',
    path: '/v1/sendsms',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}`, ...headers },
    body: JSON.stringify({ ...validMessage(), ...fields }),
  })
}

/** A request head with these lines as they are. */
function head(lines: readonly string[]): string {
  const hasHost = lines.some((line) => line.startsWith('host:'))
  const all = [
    'POST /v1/sendsms HTTP/1.1',
    ...(hasHost ? [] : ['host: localhost']),
    `authorization: Bearer ${TOKEN}`,
    'content-type: application/json',
    'connection: close',
    ...lines,
  ]
  return `${all.join('\r\n')}\r\n\r\n`
}

function post(lines: readonly string[], body = ''): Promise<HttpAnswer | null> {
  return exchange(service.port, head(lines).concat(body))
}

/** bind_transceiver (SMPP 3.4 §4.1.5) of system id `aldis`. */
function bindPdu(): Buffer {
  const body = Buffer.from('aldis\0secret\0\0\x34\0\0\0', 'latin1')
  const header = Buffer.alloc(16)
  header.writeUInt32BE(header.length + body.length, 0)
  header.writeUInt32BE(9, 4)
  header.writeUInt32BE(1, 12)
  return Buffer.concat([header, body])
}
