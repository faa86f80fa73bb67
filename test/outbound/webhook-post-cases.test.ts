import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { afterAttempt } from '../../src/domain/webhooks/retries.ts'
import { CALLBACK_CASES, sentenceOf } from '../support/callback-cases.ts'
import { STRICT_CALLBACK_POLICY } from '../support/callback-policy.ts'
import { outboundNetwork, post, says, silence } from '../support/outbound-network.ts'
import { answerStatus, startWebhookReceiver, type WebhookExchange } from '../support/webhook-receiver.ts'

const { closing, dns, guardOf, sockets, receiver, urlAt } = await outboundNetwork()

/** Answers a status with a Location, and shows that nothing followed it. */
function redirecting(status: number, location: string): () => Promise<void> {
  return async () => {
    const to = await receiver({ answer: answerStatus(status, { location }) })
    const outcome = await post(sockets(), urlAt(to.port, '/redirect', 'redirector.example.com'))
    expect(outcome).toMatchObject({ ok: false, error: 'REDIRECT', status })
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
    const guard = guardOf(STRICT_CALLBACK_POLICY)
    const through = sockets({}, guard)
    expect(await guard.check(`https://${name}:${canary.port}/hook`)).toEqual({ ok: true })
    const outcome = await post(through, `https://${name}:${canary.port}/hook`)
    expect(outcome).toMatchObject({ ok: false, error: 'FORBIDDEN_ADDRESS', status: null })
    expect(canary.connections).toEqual([])
  },
  // A socket kept open to an address that was allowed is no way to one that is not.
  S301: async () => {
    const both = await receiver({ host: '0.0.0.0' })
    const name = 'keepalive-reuse.example.com'
    dns.set(name, { sequence: [{ A: ['127.0.0.2'] }, { A: ['127.0.0.1'] }], ttl: 0 })
    const through = sockets({}, guardOf({ ...STRICT_CALLBACK_POLICY, allowCidrs: ['127.0.0.2/32'] }))
    expect(await post(through, `https://${name}:${both.port}/hook`)).toMatchObject({ ok: true })
    const outcome = await post(through, `https://${name}:${both.port}/hook`)
    expect(outcome).toMatchObject({ ok: false, error: 'FORBIDDEN_ADDRESS' })
    expect(both.connections.map((each) => each.localAddress)).toEqual(['127.0.0.2'])
    expect(both.received.length).toBe(1)
  },
  S303: redirecting(307, 'http://169.254.169.254/'),
  S304: redirecting(308, 'http://redirector.example.com/'),
  S306: redirecting(303, 'file:///etc/passwd'),
  S309: async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n'
    const to = await receiver({ answer: says(head) })
    expect(await post(sockets(), urlAt(to.port))).toMatchObject({
      ok: false,
      error: 'PROTOCOL_ERROR',
    })
    await expect.poll(() => to.open).toBe(0)
  },
  S310: async () => {
    const flood = (line: string) => (exchange: WebhookExchange) => {
      const pour = () => exchange.write(line.repeat(100), pour)
      pour()
    }
    for (const line of ['HTTP/1.1 103 Early Hints\r\n\r\n', 'HTTP/1.1 100 Continue\r\n\r\n']) {
      const to = await receiver({ answer: flood(line) })
      expect(await post(sockets(), urlAt(to.port))).toMatchObject({
        ok: false,
        error: 'PROTOCOL_ERROR',
      })
      await expect.poll(() => to.open).toBe(0)
    }
  },
  S311: async () => {
    const zeros = gzipSync(Buffer.alloc(1 << 20))
    let written = 0
    const to = await receiver({
      answer: (exchange) => {
        exchange.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 10737418240\r\n\r\n')
        const pour = () => {
          written += zeros.length
          exchange.write(zeros, pour)
        }
        pour()
      },
    })
    const outcome = await post(sockets(), urlAt(to.port))
    // The receiver has taken the webhook (2xx); what else it says is cut and kept as it came, compressed.
    expect(outcome).toMatchObject({ ok: true, status: 200, error: null })
    expect(outcome.responseHead).toBe(zeros.subarray(0, 1_024).toString('utf8').replaceAll('\0', '\uFFFD'))
    await expect.poll(() => to.open).toBe(0)
    expect(written).toBeLessThan(64 << 20)
  },
  S314: async () => {
    const to = closing(await startWebhookReceiver({ answer: silence }))
    const outcome = await post(sockets({ connectTimeoutMs: 100 }), urlAt(to.port))
    expect(outcome).toMatchObject({ ok: false, error: 'CONNECT_TIMEOUT', status: null })
    await expect.poll(() => to.open).toBe(0)
  },
  S315: async () => {
    const to = await receiver({ answer: answerStatus(200, { 'x-huge': 'a'.repeat(1 << 20) }) })
    const outcome = await post(sockets(), urlAt(to.port))
    expect(outcome).toMatchObject({ ok: false, error: 'RESPONSE_TOO_LARGE', status: null })
  },
  S323: async () => {
    const to = await receiver({ answer: answerStatus(429, { 'retry-after': '7' }) })
    const outcome = await post(sockets(), urlAt(to.port))
    expect(outcome).toMatchObject({ error: 'HTTP_STATUS', status: 429, retryAfterMs: 7_000 })
    const failed = { ok: false, gone: false, retryAfterMs: outcome.retryAfterMs }
    const circumstances = { own: false, leftMs: 0, random: 0.5 }
    expect(afterAttempt(0, failed, circumstances)).toEqual({ kind: 'again', delayMs: 7_000 })
    expect(afterAttempt(1, failed, circumstances)).toEqual({ kind: 'again', delayMs: 30_000 })
  },
  S324: async () => {
    const once = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
    const smuggled = 'HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n'
    const to = await receiver({ answer: says(once + smuggled) })
    const through = sockets({ maxSocketsPerOrigin: 1 })
    expect(await post(through, urlAt(to.port))).toMatchObject({ ok: true, status: 200, gone: false })
    expect(await post(through, urlAt(to.port))).toMatchObject({ ok: true, status: 200, gone: false })
    expect(to.connections.length).toBe(2)
  },
}

describe('what only the dial can judge', () => {
  for (const each of CALLBACK_CASES.filter(({ expect }) => expect === 'reject-at-dial'))
    test(sentenceOf(each), async () => {
      const scenario = AT_DIAL[each.id]
      if (scenario === undefined) throw new Error(`no scenario for ${each.id}`)
      await scenario()
    })

  test('a line end in the path is one request, and still encoded (S221)', async () => {
    const to = await receiver()
    await post(sockets(), urlAt(to.port, '/%0d%0aX-Injected:1'))
    expect(to.received.map((each) => each.path)).toEqual(['/%0d%0aX-Injected:1'])
    expect(to.received[0]?.headers).not.toHaveProperty('x-injected')
  })

  test('a name that times out fails closed (S295)', async () => {
    dns.set('dns-timeout.example.com', { silent: true })
    const outcome = await post(sockets(), 'https://dns-timeout.example.com/hook')
    expect(outcome).toMatchObject({ ok: false, error: 'DNS_TIMEOUT', status: null })
  })

  test('an address of an allowed network is reached, another is not (S327, S328)', async () => {
    const to = await receiver()
    expect(await post(sockets(), `https://127.0.0.1:${to.port}/hook`)).toMatchObject({ ok: true })
    expect(await post(sockets(), 'https://10.0.0.1/hook')).toMatchObject({ error: 'FORBIDDEN_ADDRESS' })
  })
})
