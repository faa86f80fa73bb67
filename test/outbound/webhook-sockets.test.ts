import { afterAll, describe, expect, test } from 'vitest'
import { type CallbackTarget, judgeCallbackUrl } from '../../src/domain/webhooks/callback-url.ts'
import type { WebhookSockets } from '../../src/outbound/webhook-sockets.ts'
import { STRICT_CALLBACK_POLICY } from '../support/callback-policy.ts'
import { outboundNetwork, post } from '../support/outbound-network.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'

const { dns, certificate, guardOf, sockets, receiver: openReceiver, urlAt } = await outboundNetwork()
const receiver = await startWebhookReceiver({ certificate })
afterAll(() => receiver.close())

async function remotePortOf(through: WebhookSockets, name: string): Promise<number> {
  const outcome = await post(through, urlAt(receiver.port, '/', name))
  expect(outcome.ok).toBe(true)
  return (await receiver.next()).remotePort
}

function targetOf(url: string): CallbackTarget {
  const judgement = judgeCallbackUrl(url, STRICT_CALLBACK_POLICY)
  if (!judgement.ok) throw new Error(judgement.message)
  return judgement.url
}

test('two names at one address share no socket', async () => {
  const through = sockets()
  const first = await remotePortOf(through, 'a.example.com')
  expect(await remotePortOf(through, 'b.example.com')).not.toBe(first)
  expect(await remotePortOf(through, 'a.example.com')).toBe(first)
})

test('one name at two addresses: a socket carries only what is for its own', async () => {
  const both = await openReceiver({ host: '0.0.0.0' })
  const name = 'moving.example.com'
  const turns = ['127.0.0.1', '127.0.0.2', '127.0.0.1', '127.0.0.2']
  dns.set(name, { sequence: turns.map((address) => ({ A: [address] })), ttl: 0 })
  const through = sockets({}, guardOf({ ...STRICT_CALLBACK_POLICY, allowCidrs: ['127.0.0.0/30'] }))
  for (const _address of turns) {
    expect(await post(through, `https://${name}:${both.port}/`)).toMatchObject({ ok: true })
  }
  expect(both.connections.map(({ localAddress }) => localAddress)).toEqual(['127.0.0.1', '127.0.0.2'])
  const [first, second] = both.connections.map(({ remotePort }) => remotePort)
  expect(both.received.map(({ remotePort }) => remotePort)).toEqual([first, second, first, second])
})

test('one name and address at two ports: likewise', async () => {
  const other = await openReceiver()
  const through = sockets()
  const first = await remotePortOf(through, 'a.example.com')
  await post(through, urlAt(other.port, '/', 'a.example.com'))
  expect(await remotePortOf(through, 'a.example.com')).toBe(first)
  expect([other.received.length, other.connections.length]).toEqual([1, 1])
})

test('beyond the origins kept, the least recently used is closed', async () => {
  const through = sockets({ maxOrigins: 2 })
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
    expect(sockets().rank(target, ['192.0.2.1', '192.0.2.2'])).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  test('puts an address that failed last, for this host only', () => {
    const through = sockets()
    through.noteFailedAddress(target, '192.0.2.1')
    expect(through.rank(target, ['192.0.2.1', '192.0.2.2'])).toEqual(['192.0.2.2', '192.0.2.1'])
    const other = targetOf('https://b.example.com/')
    expect(through.rank(other, ['192.0.2.1', '192.0.2.2'])).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  test('puts an address with open sockets first', async () => {
    const through = sockets()
    await remotePortOf(through, 'a.example.com')
    const here = targetOf(`https://a.example.com:${receiver.port}/`)
    expect(through.rank(here, ['192.0.2.1', '127.0.0.1'])).toEqual(['127.0.0.1', '192.0.2.1'])
  })
})

test('close waits for what is on its way', async () => {
  const slow = await openReceiver({ answer: () => undefined })
  const through = sockets()
  const answer = Promise.withResolvers<void>()
  slow.answerWith((exchange) => void answer.promise.then(() => exchange.respond(200, {}, 'late')))
  const outcome = post(through, urlAt(slow.port))
  await slow.next()
  const closed = through.close()
  answer.resolve()
  await closed
  expect(await outcome).toMatchObject({ ok: true, responseHead: 'late' })
})

test('destroy ends what is on its way', async () => {
  const silent = await openReceiver({ answer: () => undefined })
  const through = sockets()
  const outcome = post(through, urlAt(silent.port))
  await silent.next()
  await through.destroy()
  expect(await outcome).toMatchObject({ ok: false, error: 'ABORTED' })
})
