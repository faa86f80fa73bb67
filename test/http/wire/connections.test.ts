import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { Connections } from '../../../src/http/wire/connections.ts'
import { databaseOfFile } from '../../support/database.ts'
import { startHttpService, TOKEN, validMessage } from '../../support/http-service.ts'
import { nextAnswer, openSocket, requestBytes, untilRefused } from '../../support/raw-http.ts'

const database = await databaseOfFile({ state: 'anyDay' })

it('no more is read from a connection whose sends wait, and all are answered in the end', async () => {
  await using service = await startHttpService({ database, limits: { pipelinedRequests: 64 } })
  const before = await service.storedMessages()
  let begun = 0
  service.app.server.on('request', () => {
    begun += 1
  })
  const lock = await service.db.connect()
  await lock.query('begin')
  await lock.query('lock table messages in exclusive mode')
  const socket = await openSocket(service.port)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  // More than the bound that is looked at below.
  const total = 600
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${TOKEN}`,
    connection: 'keep-alive',
  }
  const send = requestBytes({
    method: 'POST',
    path: '/v1/sendsms',
    headers,
    body: JSON.stringify(validMessage()),
  })
  socket.write(Buffer.concat(Array.from({ length: total }, () => send)))
  await expect.poll(() => begun).toBeGreaterThan(64)
  // Others are served meanwhile; had the connection been read on, it would have been before them.
  for (let n = 0; n < 50; n += 1) expect((await service.get('/livez')).status).toBe(200)
  const begunMeanwhile = begun - 50
  await lock.query('rollback')
  lock.release()
  expect(begunMeanwhile).toBeLessThan(64 + Math.ceil((2 * 65_536) / send.length))
  const answered = () => Buffer.concat(chunks).toString('latin1').split('HTTP/1.1 202 ').length - 1
  await expect.poll(answered, { interval: 100 }).toBe(total)
  socket.destroy()
  expect(await service.storedMessages()).toBe(before + total)
})

describe('a client that closes its side behind its last request', () => {
  const message = (body: string) =>
    requestBytes({
      method: 'POST',
      path: '/v1/sendsms',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${TOKEN}`,
        connection: 'keep-alive',
      },
      body,
    })
  const send = message(JSON.stringify(validMessage()))
  const refused = message('{}')
  const cut = send.subarray(0, -1)
  it.each<[string, Buffer[], Buffer[], number[]]>([
    ['the first', [], [send], [202]],
    ['a look-up', [], [Buffer.from('GET /livez HTTP/1.0\r\n\r\n')], [200]],
    ['one that takes the short way', [send, send], [send], [202]],
    ['one that the short way leaves to the ordinary one', [send, send], [refused], [400]],
    ['three at once', [], [send, refused, send], [202, 400, 202]],
    ['three at once behind one that takes the short way', [send], [send, send, refused], [202, 202, 400]],
    ['more than are read at once', [], Array(500).fill(send), Array(500).fill(202)],
    ['none', [send, send], [], []],
    ['half of one', [], [send, cut], [202, 400]],
    ['half of one behind one that takes the short way', [send, send], [send, cut], [202, 400]],
    ['half of a head', [], [send, send.subarray(0, 30)], [202, 400]],
    [
      'half of a head behind one that takes the short way',
      [send, send],
      [send, send.subarray(0, 30)],
      [202, 400],
    ],
    [
      'more than are read at once, and half of one',
      [],
      [...Array(500).fill(send), cut],
      [...Array(500).fill(202), 400],
    ],
  ])('gets every answer: %s', async (_what, before, last, statuses) => {
    await using service = await startHttpService({ database })
    const storedBefore = await service.storedMessages()
    const socket = await openSocket(service.port)
    for (const bytes of before) {
      const answer = nextAnswer(socket)
      socket.write(bytes)
      await answer
    }
    const text = received(socket)
    socket.end(Buffer.concat(last))
    await once(socket, 'close')
    expect([...text().matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))).toEqual(statuses)
    const all = before.length + statuses.filter((status) => status === 202).length
    expect(await service.storedMessages()).toBe(storedBefore + all)
  })
})

it('a closing server stores no send that it does not answer', async () => {
  const service = await startHttpService({ database })
  const before = await service.storedMessages()
  const lock = await service.db.connect()
  await lock.query('begin')
  await lock.query('lock table messages in exclusive mode')
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${TOKEN}`,
    connection: 'keep-alive',
  }
  const body = JSON.stringify(validMessage())
  const send = requestBytes({ method: 'POST', path: '/v1/sendsms', headers, body })
  const socket = await openSocket(service.port)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const gone = once(socket, 'close')
  let begun = 0
  service.app.server.on('request', () => {
    begun += 1
  })
  socket.write(send)
  await expect.poll(() => begun).toBe(1)
  const closed = service.app.close()
  await untilRefused(service.port)
  socket.write(Buffer.concat(Array.from({ length: 5 }, () => send)))
  await expect.poll(() => begun).toBe(6)
  await lock.query('rollback')
  lock.release()
  await gone
  await closed
  const answered = Buffer.concat(chunks).toString('latin1').split('HTTP/1.1 202 ').length - 1
  expect(answered).toBe(2)
  expect(await service.storedMessages()).toBe(before + answered)
  await service[Symbol.asyncDispose]()
})

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'

/** A plain server whose connections are bounded, and what its handler is told. */
async function boundedServer(handler: RequestListener, limits: { quietMs?: number } = {}) {
  // Node ends no idle connection by itself then.
  const server = createServer({ keepAliveTimeout: 0 }, handler)
  const bounds = {
    pipelinedRequests: 32,
    keepAliveHintMs: 3_000,
    quietMs: 0,
    stalledTimeoutMs: 60_000,
    answerTimeoutMs: 60_000,
  }
  const connections = new Connections(server, { ...bounds, ...limits })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    async drain() {
      const closed = once(server, 'close')
      await connections.drain()
      server.close()
      await closed
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

function received(socket: Socket): () => string {
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
  })
  return () => text
}

function count(text: string, part: string): number {
  return text.split(part).length - 1
}

describe('one connection that pipelines', () => {
  it('has a bounded number of requests outstanding, and gets all answers in order', async () => {
    const held: [IncomingMessage, ServerResponse][] = []
    await using server = await boundedServer((...exchange) => held.push(exchange))
    const socket = await openSocket(server.port)
    const text = received(socket)
    const paths = Array.from({ length: 1_000 }, (_, n) => `/${n}`)
    socket.write(paths.map((path) => GET.replace('/', path)).join(''))
    for (let answered = 0; answered < paths.length; ) {
      await expect.poll(() => held.length, { interval: 1 }).toBe(Math.min(32, paths.length - answered))
      answered += held.length
      // The last first: what was begun later may be ready earlier.
      for (const [request, response] of held.splice(0).reverse()) response.end(`<${request.url}>`)
    }
    await expect.poll(() => [...text().matchAll(/<(.*?)>/g)].map(([, path]) => path)).toEqual(paths)
    socket.destroy()
  })

  it('begins few requests in a turn and few in a millisecond, and others are served in between', async () => {
    let begun = 0
    let most = 0
    let atOther = 0
    await using server = await boundedServer((request, response) => {
      if (request.url === '/other') atOther = begun
      begun += 1
      response.end()
    })
    const socket = await openSocket(server.port)
    const other = await openSocket(server.port)
    const text = received(socket)
    const total = 1_000
    const startMs = performance.now()
    let seen = 0
    const turn = () => {
      most = Math.max(most, begun - seen)
      seen = begun
      if (begun <= total) setImmediate(turn)
    }
    turn()
    socket.write(GET.repeat(total))
    await expect.poll(() => begun, { interval: 1 }).toBeGreaterThan(0)
    other.write(GET.replace('/', '/other'))
    await expect.poll(() => count(text(), '200 OK')).toBe(total)
    // Three that were pipelined, and what came alone on each of the two connections.
    expect(most).toBeLessThanOrEqual(5)
    // Three a millisecond; half of that time is for clocks that tick apart. A slow machine takes longer.
    expect(performance.now() - startMs).toBeGreaterThan(total / 3 / 2)
    expect(atOther).toBeGreaterThan(0)
    expect(atOther).toBeLessThan(total / 2)
    socket.destroy()
    other.destroy()
  })

  it('is parsed in pieces without a byte lost', async () => {
    const hashes: string[] = []
    await using server = await boundedServer(async (request, response) => {
      const hash = createHash('sha256').update(await buffer(request))
      response.end(`<${hash.digest('hex')}>`)
    })
    const socket = await openSocket(server.port)
    const text = received(socket)
    for (let n = 0; n < 500; n += 1) {
      const body = randomBytes(n % 50 === 0 ? 20_000 : n % 40)
      hashes.push(createHash('sha256').update(body).digest('hex'))
      socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`)
      socket.write(body)
    }
    await expect.poll(() => [...text().matchAll(/<(.*?)>/g)].map(([, hash]) => hash)).toEqual(hashes)
    socket.destroy()
  })

  it('may go away before it has its answers', async () => {
    const held: ServerResponse[] = []
    let holding = true
    await using server = await boundedServer((_request, response) => {
      if (holding) held.push(response)
      else response.end()
    })
    const socket = await openSocket(server.port)
    socket.write(GET.repeat(1_000))
    await expect.poll(() => held.length).toBe(32)
    const { socket: its } = held[0]!
    const gone = new Promise((resolve) => its!.once('close', resolve))
    socket.destroy()
    holding = false
    for (const response of held) response.end()
    await gone
    const other = await openSocket(server.port)
    const text = received(other)
    other.write(GET)
    await expect.poll(() => text()).toContain('200 OK')
    other.destroy()
  })
})

describe('a draining server', () => {
  /** Connections that have been used once and are kept. */
  async function kept(port: number, howMany: number): Promise<{ socket: Socket; text: () => string }[]> {
    const all = await Promise.all(
      Array.from({ length: howMany }, async () => {
        const socket = await openSocket(port)
        return { socket, text: received(socket) }
      }),
    )
    for (const { socket } of all) socket.write(GET)
    await expect.poll(() => all.filter(({ text }) => count(text(), '200 OK') !== 1)).toEqual([])
    return all
  }

  it.each([1, 2, 3, 4, 5])(
    'answers what its connections have sent and it has not read: drain %i',
    async () => {
      const server = await boundedServer((_request, response) => response.end())
      const all = await kept(server.port, 200)
      const unaccepted = Array.from({ length: 20 }, () => openSocket(server.port))
      const closed = all.map(({ socket }) => once(socket, 'close'))
      // Everything lies in the sockets, unread, when the drain begins.
      for (const { socket } of all) socket.write(GET)
      const drained = server.drain()
      await Promise.all(closed)
      expect(all.filter(({ text }) => count(text(), '200 OK') !== 2)).toEqual([])
      expect(all.filter(({ text }) => count(text(), 'connection: close') !== 1)).toEqual([])
      await Promise.all(unaccepted)
      await drained
    },
  )

  it('answers all who connected before it, though it has accepted none of them', async () => {
    const server = await boundedServer((_request, response) => response.end())
    const sockets = Array.from({ length: 300 }, () => connect(server.port, '127.0.0.1'))
    const texts = sockets.map((socket) => {
      socket.write(GET)
      return received(socket)
    })
    const closed = sockets.map((socket) => once(socket, 'close'))
    await Promise.all([server.drain(), ...closed])
    expect(texts.filter((text) => count(text(), 'connection: close') !== 1)).toEqual([])
    await untilRefused(server.port)
  })

  it('keeps a connection that was used a moment ago, for its client may be about to send', async () => {
    const server = await boundedServer((_request, response) => response.end(), { quietMs: 60_000 })
    const all = await kept(server.port, 50)
    const drained = server.drain()
    await untilRefused(server.port)
    for (const { socket } of all) socket.write(GET)
    await Promise.all(all.map(({ socket }) => once(socket, 'close')))
    expect(all.filter(({ text }) => count(text(), '200 OK') !== 2)).toEqual([])
    await drained
  })

  it('ends an idle connection whose last request was answered before its body came', async () => {
    const requests: IncomingMessage[] = []
    const server = await boundedServer((request, response) => {
      requests.push(request)
      response.writeHead(401).end()
    })
    const socket = await openSocket(server.port)
    const text = received(socket)
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n')
    await expect.poll(() => text()).toContain('401 Unauthorized')
    socket.write('0123456789')
    await expect.poll(() => requests[0]!.closed).toBe(true)
    const ended = once(socket, 'close')
    await server.drain()
    await ended
    expect(requests).toHaveLength(1)
  })

  it('ends connections that stay idle, in small groups', async () => {
    const server = await boundedServer((_request, response) => response.end())
    const all = await kept(server.port, 200)
    await server.drain()
    await expect.poll(() => all.every(({ socket }) => socket.closed)).toBe(true)
  })
})
