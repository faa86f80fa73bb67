import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { STRICT_CALLBACK_POLICY } from '../support/callback-policy.ts'
import { resetUnanswered } from '../support/hostile-behaviours.ts'
import { outboundNetwork, post, says, saysLast, silence } from '../support/outbound-network.ts'
import {
  acknowledge,
  answerStatus,
  type ReceiverOptions,
  startWebhookReceiver,
  type WebhookExchange,
} from '../support/webhook-receiver.ts'

/** What is sent over a connection that has carried an answer, and what is not. */

const { certificate, closing, sockets, guardOf, receiver, urlAt } = await outboundNetwork()

const SUCCESS = { ok: true, status: 200, gone: false }
const GONE = 'HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n'

describe('bytes that no request asked for', () => {
  /** Keeps the exchanges, so that more can be written when they are over. */
  async function keptExchanges(options: ReceiverOptions) {
    const exchanges: WebhookExchange[] = []
    const to = await receiver({
      ...options,
      answer: (exchange) => {
        exchanges.push(exchange)
        exchange.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
      },
    })
    return { to, exchanges }
  }

  test('that come while a connection is idle close it', async () => {
    const { to, exchanges } = await keptExchanges({ certificate })
    const through = sockets()
    expect(await post(through, urlAt(to.port))).toMatchObject(SUCCESS)
    exchanges[0]!.write(GONE)
    await expect.poll(() => to.open).toBe(0)
    expect(await post(through, urlAt(to.port))).toMatchObject(SUCCESS)
    expect(to.connections.length).toBe(2)
  })

  test('that came before the next request was sent are not taken for its answer', async () => {
    // Without TLS, where a write is with the other side when it returns.
    const { to, exchanges } = await keptExchanges({ certificate: undefined })
    const guard = guardOf({ ...STRICT_CALLBACK_POLICY, allowLoopback: true })
    const through = sockets({ maxSocketsPerOrigin: 1 }, guard)
    const outcomes = []
    for (let index = 0; index < 10; index += 1) {
      outcomes.push(await post(through, `${to.origin}/hook`))
      // In the turn in which the next is asked for.
      exchanges.at(-1)!.write(GONE)
    }
    expect(outcomes).toEqual(outcomes.map(() => expect.objectContaining(SUCCESS)))
    expect(to.connections.length).toBe(10)
  })

  test('that came while the next one waited for the only connection are not either', async () => {
    const to = await receiver({ answer: says(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok${GONE}`) })
    const through = sockets({ maxSocketsPerOrigin: 1 })
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => post(through, urlAt(to.port))))
    expect(outcomes).toEqual(outcomes.map(() => expect.objectContaining(SUCCESS)))
    expect(to.connections.length).toBe(10)
  })

  test('a single line end is enough', async () => {
    const to = await receiver({ answer: says('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok\r\n') })
    const through = sockets()
    for (let index = 0; index < 3; index += 1)
      expect(await post(through, urlAt(to.port))).toMatchObject(SUCCESS)
    expect(to.connections.length).toBe(3)
  })
})

test('a request on a kept connection that is reset before its answer fails, and is not sent again', async () => {
  const to = await receiver()
  const through = sockets()
  expect(await post(through, urlAt(to.port))).toMatchObject(SUCCESS)
  to.answerWith(resetUnanswered)
  expect(await post(through, urlAt(to.port))).toMatchObject({ error: 'CONNECTION_RESET', status: null })
  expect([to.received.length, to.connections.length]).toEqual([2, 1])
})

describe('a connection is used once', () => {
  test.each([
    ['when the answer says so', answerStatus(200, { connection: 'close' })],
    ['when the receiver closes it as soon as we would', answerStatus(200, { 'keep-alive': 'timeout=2' })],
    ['for HTTP/1.0', says('HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n')],
    ['when the end of the answer is its end', saysLast('HTTP/1.1 200 OK\r\n\r\nok')],
  ])('%s', async (_name, answer) => {
    const to = await receiver({ answer })
    const through = sockets()
    for (let index = 0; index < 3; index += 1)
      expect(await post(through, urlAt(to.port))).toMatchObject(SUCCESS)
    expect([to.received.length, to.connections.length]).toEqual([3, 3])
    await expect.poll(() => to.open).toBe(0)
  })
})

describe('a connection is used again', () => {
  test.each([
    ['behind chunks', says('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n')],
    [
      'behind interim responses',
      says('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    ],
    [
      'for HTTP/1.0 that keeps it',
      says('HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n'),
    ],
    ['behind a failure', answerStatus(503)],
  ])('%s', async (_name, answer) => {
    const to = await receiver({ answer })
    const through = sockets()
    for (let index = 0; index < 3; index += 1) await post(through, urlAt(to.port))
    expect([to.received.length, to.connections.length]).toEqual([3, 1])
  })
})

test('a connection is closed before the receiver says it will close it', async () => {
  const to = await receiver({ answer: answerStatus(200, { 'keep-alive': 'timeout=3' }) })
  expect(await post(sockets(), urlAt(to.port))).toMatchObject(SUCCESS)
  expect(to.open).toBe(1)
  await expect.poll(() => to.open).toBe(0)
})

test('requests that wait are sent in their order, and none waits for an answer that never comes', async () => {
  const held: WebhookExchange[] = []
  const to = await receiver({ answer: (exchange) => void held.push(exchange) })
  const through = sockets({ maxSocketsPerOrigin: 2 })
  const outcomes = Array.from({ length: 5 }, (_, index) => post(through, urlAt(to.port, `/${index}`)))
  await expect.poll(() => held.length).toBe(2)
  const free = held.find(({ request }) => request.path === '/0')!
  to.answerWith(acknowledge)
  acknowledge(free)
  await Promise.all([outcomes[0], outcomes[2], outcomes[3], outcomes[4]])
  expect(to.received.slice(2).map(({ path }) => path)).toEqual(['/2', '/3', '/4'])
  acknowledge(held.find(({ request }) => request.path === '/1')!)
  expect(await outcomes[1]).toMatchObject(SUCCESS)
  expect(to.connections.length).toBe(2)
})

test('when nobody listens, each request that waits is told so', async () => {
  const gone = await startWebhookReceiver()
  await gone.close()
  const through = sockets({ maxSocketsPerOrigin: 2 })
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => post(through, urlAt(gone.port))))
  expect(outcomes.map(({ error }) => error)).toEqual(outcomes.map(() => 'CONNECT_REFUSED'))
})

test('an origin that made room for another finishes what it has', async () => {
  const held: WebhookExchange[] = []
  const to = await receiver({ answer: (exchange) => void held.push(exchange) })
  const through = sockets({ maxOrigins: 1, maxSocketsPerOrigin: 1 })
  const outcomes = [post(through, urlAt(to.port)), post(through, urlAt(to.port))]
  await expect.poll(() => held.length).toBe(1)
  const other = await receiver()
  expect(await post(through, urlAt(other.port))).toMatchObject(SUCCESS)
  to.answerWith(acknowledge)
  acknowledge(held[0]!)
  expect(await Promise.all(outcomes)).toEqual([
    expect.objectContaining(SUCCESS),
    expect.objectContaining(SUCCESS),
  ])
  await expect.poll(() => to.open).toBe(0)
})

describe('the end of a sockets', () => {
  test('closes connections that are idle, in use and in the making, and ends what waits', async () => {
    const silent = await receiver({ answer: silence })
    // Its part in the handshake is silence too.
    const mute = closing(await startWebhookReceiver({ answer: silence }))
    const through = sockets({ maxSocketsPerOrigin: 1 })
    const outcomes = [silent, silent, mute, mute].map(({ port }) => post(through, urlAt(port)))
    await silent.next()
    await expect.poll(() => mute.connections.length).toBe(1)
    await through.destroy()
    expect((await Promise.all(outcomes)).map(({ error }) => error)).toEqual(outcomes.map(() => 'ABORTED'))
    await expect.poll(() => silent.open + mute.open).toBe(0)
  })

  test('is that of later requests too', async () => {
    const to = await receiver()
    const through = sockets()
    await through.close()
    expect(await post(through, urlAt(to.port))).toMatchObject({ error: 'ABORTED', status: null })
    expect(to.connections).toEqual([])
  })
})

test('TLS sessions are resumed', async () => {
  const resumed: boolean[] = []
  const server = createTlsServer({ cert: certificate.certPem, key: certificate.keyPem }, (socket) => {
    resumed.push(socket.isSessionReused())
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing({ close: async () => void (await new Promise((resolve) => server.close(resolve))) })
  const { port } = server.address() as AddressInfo
  const through = sockets()
  for (let index = 0; index < 3; index += 1) expect(await post(through, urlAt(port))).toMatchObject(SUCCESS)
  expect(resumed).toEqual([false, true, true])
})

test('a connection that the receiver ends after a whole answer takes no request that waits', async () => {
  const to = await receiver({ answer: saysLast('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n') })
  const plain = await receiver({
    certificate: undefined,
    answer: saysLast('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
  })
  const guard = guardOf({ ...STRICT_CALLBACK_POLICY, allowLoopback: true })
  for (const [through, url] of [
    [sockets({ maxSocketsPerOrigin: 2 }), urlAt(to.port)],
    [sockets({ maxSocketsPerOrigin: 2 }, guard), `${plain.origin}/hook`],
  ] as const) {
    const outcomes = await Promise.all(Array.from({ length: 40 }, () => post(through, url)))
    expect(outcomes).toEqual(outcomes.map(() => expect.objectContaining(SUCCESS)))
  }
})
