import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type CallbackPolicy, STRICT_CALLBACK_POLICY } from '../../src/domain/callback-url.ts'
import { nextAttempt } from '../../src/domain/webhook-schedule.ts'
import { CallbackGuard } from '../../src/outbound/callback-guard.ts'
import { type DispatcherOptions, WebhookDispatcher } from '../../src/outbound/dispatcher.ts'
import { NameResolver } from '../../src/outbound/resolver.ts'
import { type DeliveryOutcome, postWebhook } from '../../src/outbound/webhook-post.ts'
import { CALLBACK_CASES } from '../support/callback-cases.ts'
import {
  createServerCertificate,
  createTestAuthority,
  type ServerCertificate,
  type TestAuthority,
} from '../support/certificates.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { type RawReceiver, startRawReceiver } from '../support/raw-receiver.ts'
import {
  answerStatus,
  type ReceiverOptions,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts'

const HOSTS = ['*.example.com', '127.0.0.1', 'localhost']
/** Loopback stands in for the receiver's public address; 127.0.0.1 alone, so that the rest of it stays forbidden. */
const RECEIVER_POLICY: CallbackPolicy = { ...STRICT_CALLBACK_POLICY, allowCidrs: ['127.0.0.1/32'] }

let dns: DnsServer
let authority: TestAuthority
let certificate: ServerCertificate
const opened: { close(): Promise<void> }[] = []

beforeAll(async () => {
  dns = await startDnsServer()
  authority = await createTestAuthority()
  certificate = await createServerCertificate(authority, HOSTS)
})
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close()
})
afterAll(() => dns.close())

function dispatcher(options: DispatcherOptions = {}, policy = RECEIVER_POLICY): WebhookDispatcher {
  const guard = new CallbackGuard(policy, new NameResolver({ servers: [dns.address] }))
  const made = new WebhookDispatcher(guard, { caPem: authority.certPem, ...options })
  opened.push({ close: () => made.destroy() })
  return made
}

async function receiver(options: ReceiverOptions = {}): Promise<WebhookReceiver> {
  const started = await startWebhookReceiver({ certificate, ...options })
  opened.push(started)
  return started
}

async function rawReceiver(onRequest: (socket: Socket) => void, secure = true): Promise<RawReceiver> {
  const started = await startRawReceiver(secure ? certificate : null, onRequest)
  opened.push(started)
  return started
}

/** The URL of a case, at a receiver of this test: the name answers 127.0.0.1, the port is the receiver's. */
function urlAt(port: number, path = '/hook', name = 'receiver.example.com'): string {
  dns.set(name, { A: ['127.0.0.1'] })
  return `https://${name}:${port}${path}`
}

function post(
  through: WebhookDispatcher,
  url: string,
  headers: Record<string, string> = {},
): Promise<DeliveryOutcome> {
  return postWebhook(through, {
    url,
    body: '{"msgId":"m"}',
    headers: { 'content-type': 'application/json', ...headers },
  })
}

/** Answers a status with a Location, and shows that nothing followed it. */
function redirecting(status: number, location: string): () => Promise<void> {
  return async () => {
    const to = await receiver({ answer: answerStatus(status, { location }) })
    const outcome = await post(dispatcher(), urlAt(to.port, '/redirect', 'redirector.example.com'))
    expect(outcome).toMatchObject({ kind: 'failure', error: 'REDIRECT', status })
    expect(to.received.length).toBe(1)
  }
}

/** Cases that only a delivery can show, by id. */
const AT_DIAL: Record<string, () => Promise<void>> = {
  // Rebinding between accept and dial: the canary hears no connection.
  S296: async () => {
    const canary = await receiver()
    const name = 'rebind-ttl0.example.com'
    dns.set(name, { sequence: [{ A: ['93.184.216.34'] }, { A: ['127.0.0.1'] }], ttl: 0 })
    const guard = new CallbackGuard(STRICT_CALLBACK_POLICY, new NameResolver({ servers: [dns.address] }))
    const through = new WebhookDispatcher(guard, { caPem: authority.certPem })
    opened.push({ close: () => through.destroy() })
    expect(await guard.check(`https://${name}:${canary.port}/hook`)).toEqual({ ok: true })
    const outcome = await post(through, `https://${name}:${canary.port}/hook`)
    expect(outcome).toMatchObject({ kind: 'failure', error: 'FORBIDDEN_ADDRESS', status: null })
    expect(canary.connections).toEqual([])
  },
  // A socket kept open to an address that was allowed is no way to one that is not.
  S301: async () => {
    const both = await receiver({ host: '0.0.0.0' })
    const name = 'keepalive-reuse.example.com'
    dns.set(name, { sequence: [{ A: ['127.0.0.2'] }, { A: ['127.0.0.1'] }], ttl: 0 })
    const through = dispatcher({}, { ...STRICT_CALLBACK_POLICY, allowCidrs: ['127.0.0.2/32'] })
    expect(await post(through, `https://${name}:${both.port}/hook`)).toMatchObject({ kind: 'success' })
    const outcome = await post(through, `https://${name}:${both.port}/hook`)
    expect(outcome).toMatchObject({ kind: 'failure', error: 'FORBIDDEN_ADDRESS' })
    expect(both.connections.map((each) => each.localAddress)).toEqual(['127.0.0.2'])
    expect(both.received.length).toBe(1)
  },
  S303: redirecting(307, 'http://169.254.169.254/'),
  S304: redirecting(308, 'http://redirector.example.com/'),
  S306: redirecting(303, 'file:///etc/passwd'),
  S309: async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n'
    const to = await rawReceiver((socket) => socket.write(head))
    expect(await post(dispatcher(), urlAt(to.port))).toMatchObject({
      kind: 'failure',
      error: 'PROTOCOL_ERROR',
    })
    await expect.poll(() => to.sockets[0]?.destroyed).toBe(true)
  },
  S310: async () => {
    const flood = (line: string) => (socket: Socket) => {
      const pour = () => {
        while (!socket.destroyed && socket.write(line));
      }
      socket.on('drain', pour)
      pour()
    }
    for (const line of ['HTTP/1.1 103 Early Hints\r\n\r\n', 'HTTP/1.1 100 Continue\r\n\r\n']) {
      const to = await rawReceiver(flood(line))
      expect(await post(dispatcher(), urlAt(to.port))).toMatchObject({
        kind: 'failure',
        error: 'PROTOCOL_ERROR',
      })
      await expect.poll(() => to.sockets[0]?.destroyed).toBe(true)
    }
  },
  S311: async () => {
    const zeros = gzipSync(Buffer.alloc(1 << 20))
    let written = 0
    const to = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 10737418240\r\n\r\n')
      const pour = () => {
        do written += zeros.length
        while (!socket.destroyed && socket.write(zeros))
      }
      socket.on('drain', pour)
      pour()
    })
    const outcome = await post(dispatcher(), urlAt(to.port))
    // The receiver has taken the webhook (2xx); what else it says is cut and kept as it came, compressed.
    expect(outcome).toMatchObject({ kind: 'success', status: 200, error: null })
    expect(outcome.responseHead).toBe(zeros.subarray(0, 1_024).toString('utf8').replaceAll('\0', '\uFFFD'))
    await expect.poll(() => to.sockets[0]?.destroyed).toBe(true)
    expect(written).toBeLessThan(64 << 20)
  },
  S314: async () => {
    const to = await rawReceiver(() => undefined, false)
    const outcome = await post(dispatcher({ connectTimeoutMs: 100 }), urlAt(to.port))
    expect(outcome).toMatchObject({ kind: 'failure', error: 'CONNECT_TIMEOUT', status: null })
    await expect.poll(() => to.sockets[0]?.destroyed).toBe(true)
  },
  S315: async () => {
    const to = await receiver({ answer: answerStatus(200, { 'x-huge': 'a'.repeat(1 << 20) }) })
    const outcome = await post(dispatcher(), urlAt(to.port))
    expect(outcome).toMatchObject({ kind: 'failure', error: 'RESPONSE_TOO_LARGE', status: null })
  },
  S323: async () => {
    const to = await receiver({ answer: answerStatus(429, { 'retry-after': '7' }) })
    const outcome = await post(dispatcher(), urlAt(to.port))
    expect(outcome).toMatchObject({ error: 'HTTP_STATUS', status: 429, retryAfterMs: 7_000 })
    const { retryAfterMs } = outcome
    expect(nextAttempt(1, { random: 0.5, retryAfterMs })).toEqual({ delayMs: 7_000 })
    expect(nextAttempt(2, { random: 0.5, retryAfterMs })).toEqual({ delayMs: 30_000 })
  },
  S324: async () => {
    const once = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
    const smuggled = 'HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n'
    const to = await rawReceiver((socket) => socket.write(once + smuggled))
    const through = dispatcher({ maxSocketsPerOrigin: 1 })
    expect(await post(through, urlAt(to.port))).toMatchObject({ kind: 'success', status: 200, gone: false })
    expect(await post(through, urlAt(to.port))).toMatchObject({ kind: 'success', status: 200, gone: false })
    expect(to.sockets.length).toBe(2)
  },
}

describe('vectors/callback-url.json at dial', () => {
  const cases = CALLBACK_CASES.filter((each) => each.expect === 'reject-at-dial')
  test.each(cases.map((each) => [each.id, each.class] as const))('%s %s', async (id) => {
    const scenario = AT_DIAL[id]
    if (scenario === undefined) throw new Error(`no scenario for ${id}`)
    await scenario()
  })

  test('S221 crlf: one request, the line end still encoded', async () => {
    const to = await receiver()
    await post(dispatcher(), urlAt(to.port, '/%0d%0aX-Injected:1'))
    expect(to.received.map((each) => each.path)).toEqual(['/%0d%0aX-Injected:1'])
    expect(to.received[0]?.headers).not.toHaveProperty('x-injected')
  })

  test('S295 dns: a name that times out fails closed', async () => {
    dns.set('dns-timeout.example.com', { silent: true })
    const outcome = await post(dispatcher(), 'https://dns-timeout.example.com/hook')
    expect(outcome).toMatchObject({ kind: 'failure', error: 'DNS_TIMEOUT', status: null })
  })

  test('S327 and S328 allowlist: the address is reached, another is not', async () => {
    const to = await receiver()
    expect(await post(dispatcher(), `https://127.0.0.1:${to.port}/hook`)).toMatchObject({ kind: 'success' })
    expect(await post(dispatcher(), 'https://10.0.0.1/hook')).toMatchObject({ error: 'FORBIDDEN_ADDRESS' })
  })
})

describe('a request', () => {
  test('is a POST of the body as given, to the host as named', async () => {
    const to = await receiver()
    const outcome = await post(dispatcher(), urlAt(to.port, '/Hook?token=abc%20d&x=1#part'), {
      'webhook-id': 'evt_1',
    })
    expect(outcome).toMatchObject({
      kind: 'success',
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
    await post(dispatcher(), `https://us%40er:pa%3Ass@receiver.example.com:${to.port}/hook`)
    const { headers, path, rawHeaders } = await to.next()
    expect(headers.authorization).toBe(`Basic ${Buffer.from('us@er:pa:ss').toString('base64')}`)
    expect(path).toBe('/hook')
    expect(rawHeaders.join(' ')).not.toMatch(/us@er|us%40er/)
  })

  // Two, not one: undici frees a socket a turn of the event loop after it has told of the answer.
  test('follows others on at most two connections', async () => {
    const to = await receiver()
    const through = dispatcher()
    for (let index = 0; index < 20; index += 1) await post(through, urlAt(to.port))
    expect(to.connections.length).toBeLessThanOrEqual(2)
  })

  test('waits for a socket when all are busy', async () => {
    const to = await receiver()
    const through = dispatcher({ maxSocketsPerOrigin: 2 })
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => post(through, urlAt(to.port))))
    expect(outcomes.every((each) => each.kind === 'success')).toBe(true)
    expect(to.connections.length).toBe(2)
  })

  test('goes to the next address when one refuses', async () => {
    const to = await receiver()
    dns.set('two.example.com', { A: ['127.0.0.3', '127.0.0.1'] })
    const through = dispatcher({}, { ...STRICT_CALLBACK_POLICY, allowCidrs: ['127.0.0.0/8'] })
    expect(await post(through, `https://two.example.com:${to.port}/`)).toMatchObject({ kind: 'success' })
    expect(to.received.length).toBe(1)
  })

  test('may be plain http to loopback under the dev policy, by the name localhost', async () => {
    const to = await startWebhookReceiver()
    opened.push(to)
    const dev = { ...STRICT_CALLBACK_POLICY, allowLoopback: true }
    expect(await post(dispatcher({}, dev), `http://localhost:${to.port}/hook`)).toMatchObject({
      kind: 'success',
    })
    expect((await to.next()).headers.host).toBe(`localhost:${to.port}`)
  })
})

describe('an answer', () => {
  test.each([200, 201, 202, 204, 299])('%i is success', async (status) => {
    const to = await receiver({ answer: answerStatus(status) })
    expect(await post(dispatcher(), urlAt(to.port))).toMatchObject({ kind: 'success', status, error: null })
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
    expect(await post(dispatcher(), urlAt(to.port))).toMatchObject({ kind: 'failure', status, error, gone })
  })

  test('after early hints counts', async () => {
    const to = await rawReceiver((socket) =>
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'),
    )
    expect(await post(dispatcher(), urlAt(to.port))).toMatchObject({ kind: 'success', status: 204 })
  })

  test('keeps the first KiB, without U+0000', async () => {
    const to = await receiver({
      answer: (_received, response) => void response.end(`a\0b${'x'.repeat(2_000)}`),
    })
    const { responseHead } = await post(dispatcher(), urlAt(to.port))
    expect(responseHead).toBe(`a\uFFFDb${'x'.repeat(1_021)}`)
  })

  test('that stops after the status line is judged by the status', async () => {
    const to = await rawReceiver((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok'))
    expect(await post(dispatcher(), urlAt(to.port))).toMatchObject({
      kind: 'success',
      status: 200,
      responseHead: 'ok',
    })
  })

  test('whose body never ends is judged by the status when the time is over', async () => {
    const to = await rawReceiver((socket) => socket.write('HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\noh'))
    const outcome = await post(dispatcher({ totalTimeoutMs: 1_000 }), urlAt(to.port))
    expect(outcome).toMatchObject({ error: 'HTTP_STATUS', status: 500, responseHead: 'oh' })
    await expect.poll(() => to.sockets[0]?.destroyed).toBe(true)
  })

  test.each([
    ['that is not HTTP', 'nonsense\r\n\r\n', 'PROTOCOL_ERROR'],
    ['that is cut', 'HTTP/1.1 2', 'CONNECTION_RESET'],
    ['that is missing', '', 'CONNECTION_RESET'],
  ])('%s', async (_name, bytes, error) => {
    const to = await rawReceiver((socket) => socket.end(bytes))
    expect(await post(dispatcher(), urlAt(to.port))).toMatchObject({ kind: 'failure', status: null, error })
  })

  test('that does not come in time', async () => {
    const to = await rawReceiver(() => undefined)
    const outcome = await post(dispatcher({ totalTimeoutMs: 1_000 }), urlAt(to.port))
    expect(outcome).toMatchObject({ kind: 'failure', status: null, error: 'RESPONSE_TIMEOUT' })
    await expect.poll(() => to.sockets[0]?.destroyed).toBe(true)
  })
})

describe('no connection', () => {
  test('refused', async () => {
    const gone = await startRawReceiver(null, () => undefined)
    await gone.close()
    expect(await post(dispatcher(), urlAt(gone.port))).toMatchObject({
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
      expect(await post(dispatcher(), urlAt(to.port))).toMatchObject({ kind: 'failure', error, status: null })
      expect(to.received).toEqual([])
    }
  })

  test('an untrusted certificate stays so whatever the environment says', async () => {
    const stranger = await createServerCertificate(await createTestAuthority('Stranger'), HOSTS)
    const to = await receiver({ certificate: stranger })
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    try {
      expect(await post(dispatcher(), urlAt(to.port))).toMatchObject({ error: 'TLS_CERTIFICATE_UNTRUSTED' })
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
    opened.push({ close: async () => void (await new Promise((resolve) => old.close(resolve))) })
    const { port } = old.address() as AddressInfo
    expect(await post(dispatcher(), urlAt(port))).toMatchObject({ error: 'TLS_HANDSHAKE', status: null })
  })

  test('no TLS spoken', async () => {
    const to = await rawReceiver(() => undefined, false)
    const outcome = post(dispatcher(), urlAt(to.port))
    await expect.poll(() => to.sockets[0] !== undefined).toBe(true)
    to.sockets[0]?.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    expect(await outcome).toMatchObject({ error: 'TLS_HANDSHAKE', status: null })
  })

  test('too many requests on their way', async () => {
    const to = await rawReceiver(() => undefined)
    const through = dispatcher({ maxRequestsPerOrigin: 1, totalTimeoutMs: 1_000 })
    const first = post(through, urlAt(to.port))
    await expect.poll(() => to.sockets.length).toBe(1)
    expect(await post(through, urlAt(to.port))).toMatchObject({ error: 'QUEUE_FULL', status: null })
    expect(await first).toMatchObject({ error: 'RESPONSE_TIMEOUT' })
  })

  test('no socket came free; it is not sent later either', async () => {
    const answers: (() => void)[] = []
    const to = await receiver({ answer: (_received, response) => void answers.push(() => response.end()) })
    const long = dispatcher({ maxSocketsPerOrigin: 1, totalTimeoutMs: 1_000 })
    const first = post(long, urlAt(to.port))
    const second = post(long, urlAt(to.port))
    await to.next()
    expect(await second).toMatchObject({ error: 'QUEUE_TIMEOUT', status: null })
    expect(await first).toMatchObject({ error: 'RESPONSE_TIMEOUT' })
    to.answerWith(answerStatus(200))
    expect(await post(long, urlAt(to.port))).toMatchObject({ kind: 'success' })
    expect(to.received.length).toBe(2)
  })

  test('aborted before and while it runs', async () => {
    const to = await rawReceiver(() => undefined)
    const through = dispatcher()
    const request = { url: urlAt(to.port), body: '{}', headers: {} }
    expect(await postWebhook(through, { ...request, signal: AbortSignal.abort() })).toMatchObject({
      error: 'ABORTED',
    })
    const controller = new AbortController()
    const outcome = postWebhook(through, { ...request, signal: controller.signal })
    await expect.poll(() => to.sockets.length).toBe(1)
    controller.abort()
    expect(await outcome).toMatchObject({ kind: 'failure', error: 'ABORTED', status: null })
    await expect.poll(() => to.sockets[0]?.destroyed).toBe(true)
  })

  test('a header that cannot be sent is an outcome, not an exception', async () => {
    const to = await receiver()
    const outcome = await post(dispatcher(), urlAt(to.port), { 'webhook-id': 'a\r\nb' })
    expect(outcome).toMatchObject({ kind: 'failure', error: 'INVALID_REQUEST' })
    expect(await post(dispatcher(), 'not a url')).toMatchObject({ kind: 'failure', error: 'FORBIDDEN_URL' })
  })
})
