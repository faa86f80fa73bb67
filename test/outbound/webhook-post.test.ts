import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { describe, expect, test, vi } from 'vitest'
import { WebhookSockets } from '../../src/outbound/webhook-sockets.ts'
import { STRICT_CALLBACK_POLICY } from '../support/callback-policy.ts'
import { createServerCertificate, createTestAuthority } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { HOSTS, outboundNetwork, post, says, saysLast, silence } from '../support/outbound-network.ts'
import { answerStatus, startWebhookReceiver } from '../support/webhook-receiver.ts'

const { dns, authority, certificate, closing, guardOf, sockets, receiver, urlAt } = await outboundNetwork()

/** The same sockets for an attempt that has less time. */
function hasty(through: WebhookSockets, totalTimeoutMs: number): WebhookSockets {
  const { judge, rank, send, noteFailedAddress } = WebhookSockets.prototype
  const bound = { judge, rank, send, noteFailedAddress }
  const methods = Object.entries(bound).map(([name, method]) => [name, method.bind(through)])
  return { ...Object.fromEntries(methods), totalTimeoutMs }
}

describe('a request', () => {
  test('is a POST of the body as given, to the host as named', async () => {
    const to = await receiver()
    const outcome = await post(sockets(), urlAt(to.port, '/Hook?token=abc%20d&x=1#part'), {
      'webhook-id': 'evt_1',
    })
    expect(outcome).toMatchObject({
      ok: true,
      status: 200,
      error: null,
      responseHead: '{"ok":true}',
      gone: false,
    })
    expect(await to.next()).toMatchObject({
      method: 'POST',
      path: '/Hook?token=abc%20d&x=1',
      body: '{"msgId":"m"}',
      headers: {
        host: `receiver.example.com:${to.port}`,
        'content-type': 'application/json',
        'content-length': '13',
        'webhook-id': 'evt_1',
      },
    })
  })

  test('carries user info as Basic credentials and nowhere else', async () => {
    const to = await receiver()
    dns.set('receiver.example.com', { A: ['127.0.0.1'] })
    await post(sockets(), `https://us%40er:pa%3Ass@receiver.example.com:${to.port}/hook`)
    const { headers, path, head } = await to.next()
    expect(headers.authorization).toBe(`Basic ${Buffer.from('us@er:pa:ss').toString('base64')}`)
    expect(path).toBe('/hook')
    expect(head).not.toMatch(/us@er|us%40er/)
  })

  test('follows others on the same connection', async () => {
    const to = await receiver()
    const through = sockets()
    for (let index = 0; index < 20; index += 1) await post(through, urlAt(to.port))
    expect(to.connections.length).toBe(1)
  })

  test('waits for a socket when all are busy', async () => {
    const to = await receiver()
    const through = sockets({ maxSocketsPerOrigin: 2 })
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => post(through, urlAt(to.port))))
    expect(outcomes.every((each) => each.ok)).toBe(true)
    expect(to.connections.length).toBe(2)
  })

  test('goes to the next address when one refuses', async () => {
    const to = await receiver()
    dns.set('two.example.com', { A: ['127.0.0.3', '127.0.0.1'] })
    const through = sockets({}, guardOf({ ...STRICT_CALLBACK_POLICY, allowCidrs: ['127.0.0.0/8'] }))
    expect(await post(through, `https://two.example.com:${to.port}/`)).toMatchObject({ ok: true })
    expect(to.received.length).toBe(1)
  })

  test('may be plain http to loopback under the dev policy, by the name localhost', async () => {
    const to = closing(await startWebhookReceiver())
    const dev = guardOf({ ...STRICT_CALLBACK_POLICY, allowLoopback: true })
    expect(await post(sockets({}, dev), `http://localhost:${to.port}/hook`)).toMatchObject({
      ok: true,
    })
    expect((await to.next()).headers.host).toBe(`localhost:${to.port}`)
  })
})

describe('an answer', () => {
  test.each([200, 201, 202, 204, 299])('%i is success', async (status) => {
    const to = await receiver({ answer: answerStatus(status) })
    expect(await post(sockets(), urlAt(to.port))).toMatchObject({ ok: true, status, error: null })
  })

  test.each([
    [301, 'REDIRECT', false],
    [304, 'REDIRECT', false],
    [400, 'HTTP_STATUS', false],
    [410, 'HTTP_STATUS', true],
    [500, 'HTTP_STATUS', false],
    [503, 'HTTP_STATUS', false],
  ])('%i is %s, gone: %s', async (status, error, gone) => {
    const to = await receiver({ answer: answerStatus(status) })
    expect(await post(sockets(), urlAt(to.port))).toMatchObject({ ok: false, status, error, gone })
  })

  test('after early hints counts', async () => {
    const to = await receiver({
      answer: says('HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'),
    })
    expect(await post(sockets(), urlAt(to.port))).toMatchObject({ ok: true, status: 204 })
  })

  test('keeps the first KiB, without U+0000', async () => {
    const to = await receiver({
      answer: (exchange) => exchange.respond(200, {}, `a\0b${'x'.repeat(2_000)}`),
    })
    const { responseHead } = await post(sockets(), urlAt(to.port))
    expect(responseHead).toBe(`a\uFFFDb${'x'.repeat(1_021)}`)
  })

  test('that stops after the status line is judged by the status', async () => {
    const to = await receiver({ answer: saysLast('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok') })
    expect(await post(sockets(), urlAt(to.port))).toMatchObject({
      ok: true,
      status: 200,
      responseHead: 'ok',
    })
  })

  test('whose body never ends is judged by the status when the time is over', async () => {
    const to = await receiver({ answer: says('HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\noh') })
    const outcome = await post(sockets({ totalTimeoutMs: 1_000 }), urlAt(to.port))
    expect(outcome).toMatchObject({ error: 'HTTP_STATUS', status: 500, responseHead: 'oh' })
    await expect.poll(() => to.open).toBe(0)
  })

  test.each([
    ['that is not HTTP', 'nonsense\r\n\r\n', 'PROTOCOL_ERROR'],
    ['that is cut', 'HTTP/1.1 2', 'CONNECTION_RESET'],
    ['that is missing', '', 'CONNECTION_RESET'],
  ])('%s', async (_name, bytes, error) => {
    const to = await receiver({ answer: saysLast(bytes) })
    expect(await post(sockets(), urlAt(to.port))).toMatchObject({ ok: false, status: null, error })
  })

  test('that does not come in time', async () => {
    const to = await receiver({ answer: silence })
    const outcome = await post(sockets({ totalTimeoutMs: 1_000 }), urlAt(to.port))
    expect(outcome).toMatchObject({ ok: false, status: null, error: 'RESPONSE_TIMEOUT' })
    await expect.poll(() => to.open).toBe(0)
  })
})

describe('no connection', () => {
  test('refused', async () => {
    const gone = await startWebhookReceiver()
    await gone.close()
    expect(await post(sockets(), urlAt(gone.port))).toMatchObject({
      error: 'CONNECT_REFUSED',
      status: null,
    })
  })

  test('certificate expired, for another host, of an authority unknown to us', async () => {
    const expired = await createServerCertificate(authority, HOSTS, { expired: true })
    const other = await createServerCertificate(authority, ['other.example.net'])
    const stranger = await createServerCertificate(await createTestAuthority('Stranger'), HOSTS)
    for (const [bad, error] of [
      [expired, 'TLS_CERTIFICATE_EXPIRED'],
      [other, 'TLS_HOSTNAME_MISMATCH'],
      [stranger, 'TLS_CERTIFICATE_UNTRUSTED'],
    ] as const) {
      const to = await receiver({ certificate: bad })
      expect(await post(sockets(), urlAt(to.port))).toMatchObject({ ok: false, error, status: null })
      expect(to.received).toEqual([])
    }
  })

  test('an untrusted certificate stays so whatever the environment says', async () => {
    const stranger = await createServerCertificate(await createTestAuthority('Stranger'), HOSTS)
    const to = await receiver({ certificate: stranger })
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    try {
      expect(await post(sockets(), urlAt(to.port))).toMatchObject({ error: 'TLS_CERTIFICATE_UNTRUSTED' })
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test('TLS 1.1 at most', async () => {
    const old = createTlsServer({
      cert: certificate.certPem,
      key: certificate.keyPem,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    old.on('tlsClientError', () => undefined)
    old.listen(0, '127.0.0.1')
    await once(old, 'listening')
    closing({ close: async () => void (await new Promise((resolve) => old.close(resolve))) })
    const { port } = old.address() as AddressInfo
    expect(await post(sockets(), urlAt(port))).toMatchObject({ error: 'TLS_HANDSHAKE', status: null })
  })

  test('no TLS spoken', async () => {
    const to = closing(await startWebhookReceiver())
    to.welcome((tcp) => tcp.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    expect(await post(sockets(), urlAt(to.port))).toMatchObject({ error: 'TLS_HANDSHAKE', status: null })
  })

  test.each(['close', 'reset'] as const)('%s instead of a TLS handshake', async (welcome) => {
    const to = await receiver()
    to.welcome(welcome)
    expect(await post(sockets(), urlAt(to.port))).toMatchObject({ error: 'TLS_HANDSHAKE', status: null })
  })

  test('no TLS handshake until the time of the attempt is over', async () => {
    const to = await receiver()
    to.welcome('never')
    const outcome = await post(sockets({ totalTimeoutMs: 300 }), urlAt(to.port))
    expect(outcome).toMatchObject({ error: 'CONNECT_TIMEOUT', status: null })
    expect(to.connections).toHaveLength(1)
  })

  test('too many requests on their way', async () => {
    const answers: (() => void)[] = []
    const to = await receiver({ answer: (exchange) => void answers.push(() => exchange.respond(204)) })
    const through = sockets({ maxRequestsPerOrigin: 1 })
    const first = post(through, urlAt(to.port))
    await to.next()
    expect(await post(through, urlAt(to.port))).toMatchObject({ error: 'QUEUE_FULL', status: null })
    answers[0]!()
    expect(await first).toMatchObject({ ok: true })
  })

  test('no socket came free; it is not sent later either', async () => {
    const answers: (() => void)[] = []
    const to = await receiver({ answer: (exchange) => void answers.push(() => exchange.respond(200)) })
    const through = sockets({ maxSocketsPerOrigin: 1 })
    const first = post(through, urlAt(to.port))
    // From then on the first has the only socket, until it is answered.
    await to.next()
    expect(await post(hasty(through, 50), urlAt(to.port))).toMatchObject({
      error: 'QUEUE_TIMEOUT',
      status: null,
    })
    to.answerWith(answerStatus(200))
    const third = post(through, urlAt(to.port))
    answers[0]!()
    expect(await first).toMatchObject({ ok: true })
    expect(await third).toMatchObject({ ok: true })
    expect(to.received.length).toBe(2)
  })

  test('no socket came free while another is made: that says nothing of the address', async () => {
    const to = await receiver({ answer: silence })
    const through = sockets({ maxSocketsPerOrigin: 2 })
    void post(through, urlAt(to.port))
    await to.next()
    to.welcome('never')
    void post(through, urlAt(to.port))
    await eventually(() => to.connections.length === 2)
    expect(await post(hasty(through, 50), urlAt(to.port))).toMatchObject({
      error: 'QUEUE_TIMEOUT',
      status: null,
    })
  })

  test('no socket could be made for it, nor for any before it', async () => {
    const to = await receiver()
    to.welcome('never')
    const through = sockets({ maxSocketsPerOrigin: 1 })
    void post(through, urlAt(to.port))
    await eventually(() => to.connections.length === 1)
    expect(await post(hasty(through, 50), urlAt(to.port))).toMatchObject({
      error: 'CONNECT_TIMEOUT',
      status: null,
    })
  })

  test('aborted while it runs and after', async () => {
    const to = await receiver({ answer: silence })
    const through = sockets()
    const outcome = post(through, urlAt(to.port))
    await to.next()
    await through.destroy()
    expect(await outcome).toMatchObject({ ok: false, error: 'ABORTED', status: null })
    expect(await post(through, urlAt(to.port))).toMatchObject({ error: 'ABORTED' })
    await expect.poll(() => to.open).toBe(0)
  })

  test('a header that cannot be sent is an outcome, not an exception', async () => {
    const to = await receiver()
    const outcome = await post(sockets(), urlAt(to.port), { 'webhook-id': 'a\r\nb' })
    expect(outcome).toMatchObject({ ok: false, error: 'INVALID_REQUEST' })
    expect(await post(sockets(), 'not a url')).toMatchObject({ ok: false, error: 'FORBIDDEN_URL' })
  })
})
