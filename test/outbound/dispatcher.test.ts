import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  type CallbackTarget,
  judgeCallbackUrl,
  STRICT_CALLBACK_POLICY,
} from '../../src/domain/callback-url.ts'
import { CallbackGuard } from '../../src/outbound/callback-guard.ts'
import { type DispatcherOptions, WebhookDispatcher } from '../../src/outbound/dispatcher.ts'
import { NameResolver } from '../../src/outbound/resolver.ts'
import { postWebhook } from '../../src/outbound/webhook-post.ts'
import {
  createServerCertificate,
  createTestAuthority,
  type ServerCertificate,
} from '../support/certificates.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

let dns: DnsServer
let caPem: string
let certificate: ServerCertificate
let receiver: WebhookReceiver
const opened: WebhookDispatcher[] = []

beforeAll(async () => {
  dns = await startDnsServer()
  const authority = await createTestAuthority()
  caPem = authority.certPem
  certificate = await createServerCertificate(authority, ['*.example.com'])
  receiver = await startWebhookReceiver({ certificate })
})
afterEach(async () => {
  for (const each of opened.splice(0)) await each.destroy()
})
afterAll(async () => {
  await receiver.close()
  await dns.close()
})

function dispatcher(options: DispatcherOptions = {}): WebhookDispatcher {
  const policy = { ...STRICT_CALLBACK_POLICY, allowCidrs: ['127.0.0.0/8'] }
  const guard = new CallbackGuard(policy, new NameResolver({ servers: [dns.address] }))
  const made = new WebhookDispatcher(guard, { caPem, ...options })
  opened.push(made)
  return made
}

async function remotePortOf(through: WebhookDispatcher, name: string): Promise<number> {
  dns.set(name, { A: ['127.0.0.1'] })
  const url = `https://${name}:${receiver.port}/`
  const outcome = await postWebhook(through, { url, body: '{}', headers: {} })
  expect(outcome.kind).toBe('success')
  return (await receiver.next()).remotePort
}

function targetOf(url: string): CallbackTarget {
  const judgement = judgeCallbackUrl(url, STRICT_CALLBACK_POLICY)
  if (!judgement.ok) throw new Error(judgement.message)
  return judgement.url
}

test('two names at one address share no socket', async () => {
  const through = dispatcher()
  const first = await remotePortOf(through, 'a.example.com')
  expect(await remotePortOf(through, 'b.example.com')).not.toBe(first)
  expect(await remotePortOf(through, 'a.example.com')).toBe(first)
})

test('beyond the origins kept, the least recently used is closed', async () => {
  const through = dispatcher({ maxOrigins: 2 })
  const a = await remotePortOf(through, 'a.example.com')
  const b = await remotePortOf(through, 'b.example.com')
  expect(await remotePortOf(through, 'a.example.com')).toBe(a)
  await remotePortOf(through, 'c.example.com')
  expect(await remotePortOf(through, 'a.example.com')).toBe(a)
  expect(await remotePortOf(through, 'b.example.com')).not.toBe(b)
})

describe('ranked', () => {
  const target = targetOf('https://a.example.com/')

  test('keeps the order of DNS', () => {
    expect(dispatcher().ranked(target, ['192.0.2.1', '192.0.2.2'])).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  test('puts an address that failed last, for this host only', () => {
    const through = dispatcher()
    through.noteFailedAddress(target, '192.0.2.1')
    expect(through.ranked(target, ['192.0.2.1', '192.0.2.2'])).toEqual(['192.0.2.2', '192.0.2.1'])
    const other = targetOf('https://b.example.com/')
    expect(through.ranked(other, ['192.0.2.1', '192.0.2.2'])).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  test('puts an address with open sockets first', async () => {
    const through = dispatcher()
    await remotePortOf(through, 'a.example.com')
    const here = targetOf(`https://a.example.com:${receiver.port}/`)
    expect(through.ranked(here, ['192.0.2.1', '127.0.0.1'])).toEqual(['127.0.0.1', '192.0.2.1'])
  })
})

test('close waits for what is on its way', async () => {
  const slow = await startWebhookReceiver({ certificate, answer: () => undefined })
  dns.set('slow.example.com', { A: ['127.0.0.1'] })
  const through = dispatcher()
  const answer = Promise.withResolvers<void>()
  slow.answerWith((_received, response) => void answer.promise.then(() => response.end('late')))
  const url = `https://slow.example.com:${slow.port}/`
  const outcome = postWebhook(through, { url, body: '{}', headers: {} })
  await slow.next()
  const closed = through.close()
  answer.resolve()
  await closed
  expect(await outcome).toMatchObject({ kind: 'success', responseHead: 'late' })
  await slow.close()
})

test('destroy ends what is on its way', async () => {
  const silent = await startWebhookReceiver({ certificate, answer: () => undefined })
  dns.set('silent.example.com', { A: ['127.0.0.1'] })
  const through = dispatcher()
  const url = `https://silent.example.com:${silent.port}/`
  const outcome = postWebhook(through, { url, body: '{}', headers: {} })
  await silent.next()
  await through.destroy()
  expect(await outcome).toMatchObject({ kind: 'failure', error: 'ABORTED' })
  await silent.close()
})
