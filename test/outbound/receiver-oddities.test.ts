import { afterEach, describe, expect, test, vi } from 'vitest'
import { dripHead } from '../support/hostile-behaviours.ts'
import { outboundNetwork, post, saysLast } from '../support/outbound-network.ts'
import {
  acknowledge,
  answerStatus,
  startWebhookReceiver,
  type WebhookExchange,
} from '../support/webhook-receiver.ts'

const { closing, sockets, receiver, urlAt } = await outboundNetwork()

afterEach(() => void vi.unstubAllEnvs())

describe('an odd answer that is one', () => {
  test.each([
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nok', 200],
    [
      'HTTP/1.0 with keep-alive',
      'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok',
      200,
    ],
    ['no reason phrase', 'HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n', 200],
    ['no length, ended by the connection', 'HTTP/1.1 202 Accepted\r\n\r\ntaken', 202],
    ['a body with 204', 'HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nok', 204],
    [
      'chunks and a trailer',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-end: 1\r\n\r\n',
      200,
    ],
    ['a chunk that is no chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 200],
    ['the connection closed in the body', 'HTTP/1.1 201 Created\r\ncontent-length: 100\r\n\r\nhalf', 201],
    [
      'compressed garbage',
      'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\n\x1f\x8b\x00',
      200,
    ],
    ['a status unheard of', 'HTTP/1.1 299 Odd\r\ncontent-length: 0\r\n\r\n', 299],
  ])('%s: success', async (_name, answer, status) => {
    const to = await receiver({ answer: saysLast(answer) })
    expect(await post(sockets(), urlAt(to.port))).toMatchObject({ ok: true, status, error: null })
  })

  test.each([300, 301, 302, 303, 304, 305, 307, 308, 399])(
    '%i without a Location: REDIRECT',
    async (status) => {
      const to = await receiver({ answer: answerStatus(status) })
      expect(await post(sockets(), urlAt(to.port))).toMatchObject({
        ok: false,
        status,
        error: 'REDIRECT',
      })
    },
  )

  test.each([400, 401, 404, 407, 408, 418, 421, 425, 429, 451, 500, 501, 502, 504, 511, 599, 600, 999])(
    '%i: HTTP_STATUS',
    async (status) => {
      const to = await receiver({ answer: answerStatus(status) })
      expect(await post(sockets(), urlAt(to.port))).toMatchObject({
        ok: false,
        status,
        error: 'HTTP_STATUS',
      })
    },
  )
})

describe('no answer', () => {
  test.each([
    ['garbage', '\x00\x01\x02garbage\r\n\r\n', 'PROTOCOL_ERROR'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.9\r\n', 'PROTOCOL_ERROR'],
    ['no version', '200 OK\r\n\r\n', 'PROTOCOL_ERROR'],
    ['HTTP/2', 'HTTP/2 200 OK\r\n\r\n', 'PROTOCOL_ERROR'],
    ['a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n', 'PROTOCOL_ERROR'],
    [
      'length and chunks at once',
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      'PROTOCOL_ERROR',
    ],
    [
      'two lengths',
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello',
      'PROTOCOL_ERROR',
    ],
    ['a negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n', 'PROTOCOL_ERROR'],
    ['a header with NUL', 'HTTP/1.1 200 OK\r\nx-odd: a\0b\r\n\r\n', 'PROTOCOL_ERROR'],
    ['nothing, closed', '', 'CONNECTION_RESET'],
    ['half a head, closed', 'HTTP/1.1 200 OK\r\ncontent-le', 'CONNECTION_RESET'],
    ['early hints only, closed', 'HTTP/1.1 103 Early Hints\r\n\r\n', 'CONNECTION_RESET'],
    ['10,000 headers', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(10_000)}\r\n`, 'RESPONSE_TOO_LARGE'],
  ])('%s', async (_name, answer, error) => {
    const to = await receiver({ answer: saysLast(answer) })
    expect(await post(sockets(), urlAt(to.port))).toMatchObject({ ok: false, status: null, error })
    await expect.poll(() => to.open).toBe(0)
  })

  test('a head that comes drop by drop: over when the time is', async () => {
    const to = await receiver({ answer: dripHead(50) })
    const outcome = await post(sockets({ totalTimeoutMs: 600 }), urlAt(to.port))
    expect(outcome).toMatchObject({ ok: false, status: null, error: 'RESPONSE_TIMEOUT' })
    await expect.poll(() => to.open).toBe(0)
  })
})

describe('a body without end', () => {
  test.each([
    ['drop by drop', 20, 1],
    ['at full speed', 0, 65_536],
  ])('%s: cut, and judged by the status', async (_name, everyMs, octets) => {
    const to = await receiver({
      answer: (exchange) => {
        exchange.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
        const chunk = `${octets.toString(16)}\r\n${'a'.repeat(octets)}\r\n`
        exchange.every(everyMs, () => exchange.write(chunk))
      },
    })
    const outcome = await post(sockets({ totalTimeoutMs: 600 }), urlAt(to.port))
    expect(outcome).toMatchObject({ ok: true, status: 200 })
    expect(outcome.responseHead.length).toBeLessThanOrEqual(1_024)
    await expect.poll(() => to.open).toBe(0)
  })
})

test('a socket closed by the receiver while idle costs no attempt', async () => {
  const exchanges: WebhookExchange[] = []
  const to = await receiver({
    answer: (exchange) => {
      exchanges.push(exchange)
      acknowledge(exchange)
    },
  })
  const through = sockets({ maxSocketsPerOrigin: 1 })
  expect(await post(through, urlAt(to.port))).toMatchObject({ ok: true })
  exchanges[0]!.close()
  await expect.poll(() => to.open).toBe(0)
  expect(await post(through, urlAt(to.port))).toMatchObject({ ok: true })
  expect(to.connections.length).toBe(2)
})

test('proxies of the environment are not used', async () => {
  const proxy = closing(await startWebhookReceiver())
  for (const name of ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'https_proxy', 'http_proxy', 'all_proxy'])
    vi.stubEnv(name, proxy.origin)
  vi.stubEnv('NODE_USE_ENV_PROXY', '1')
  vi.stubEnv('NO_PROXY', '')
  const to = await receiver({ answer: answerStatus(200) })
  expect(await post(sockets(), urlAt(to.port))).toMatchObject({ ok: true })
  expect(to.received.length).toBe(1)
  expect(proxy.connections).toEqual([])
})
