/** What webhooks meet on their way: names, TLS, receivers. */
import { afterAll, afterEach } from 'vitest'
import type { CallbackPolicy } from '../../src/domain/webhooks/callback-url.ts'
import { CallbackGuard } from '../../src/outbound/callback-guard.ts'
import { NameResolver } from '../../src/outbound/resolver.ts'
import type { SendLease } from '../../src/outbound/send-lease.ts'
import { type DeliveryOutcome, postWebhook, sendWebhook } from '../../src/outbound/webhook-post.ts'
import { WebhookSender, type WebhookSenderOptions } from '../../src/outbound/webhook-sender.ts'
import { WebhookSockets, type WebhookSocketsOptions } from '../../src/outbound/webhook-sockets.ts'
import { STRICT_CALLBACK_POLICY } from './callback-policy.ts'
import { createServerCertificate, createTestAuthority } from './certificates.ts'
import { startDnsServer } from './dns-server.ts'
import {
  type ReceiverOptions,
  startWebhookReceiver,
  type WebhookAnswer,
  type WebhookReceiver,
} from './webhook-receiver.ts'

/** A lease for tests that are not about leases. */
export const ENDLESS: SendLease = { untilMs: Number.POSITIVE_INFINITY }
/** For senders whose tests see only outcomes. */
export const UNWATCHED = { lease: ENDLESS, onDefect: () => undefined }
export const HOSTS = ['*.example.com', '127.0.0.1', 'localhost']
/** Loopback stands in for the receiver's public address; 127.0.0.1 alone, so that the rest of it stays forbidden. */
const RECEIVER_POLICY: CallbackPolicy = { ...STRICT_CALLBACK_POLICY, allowCidrs: ['127.0.0.1/32'] }

/** One for all tests of a file, made outside of any; what a test opens is closed after it. */
export async function outboundNetwork() {
  const dns = await startDnsServer()
  const authority = await createTestAuthority()
  const certificate = await createServerCertificate(authority, HOSTS)
  const opened: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each.close()
  })
  afterAll(() => dns.close())

  function closing<T extends { close(): Promise<void> }>(made: T): T {
    opened.push(made)
    return made
  }

  const guardOf = (policy = RECEIVER_POLICY) =>
    new CallbackGuard(policy, new NameResolver({ servers: [dns.address] }))

  function sockets(options: WebhookSocketsOptions = {}, guard = guardOf()): WebhookSockets {
    const made = new WebhookSockets(guard, { caPem: authority.certPem, ...options })
    opened.push({ close: () => made.destroy() })
    return made
  }

  /** Sends as a WebhookSender does, in this thread. */
  function sender(): Pick<WebhookSender, 'post' | 'abort'> {
    const through = sockets()
    return {
      post: (account, webhook, ended) => void sendWebhook(through, account, webhook, UNWATCHED).then(ended),
      abort: () => void through.destroy(),
    }
  }

  function threadSender(options: Partial<WebhookSenderOptions> = {}): WebhookSender {
    const caPem = authority.certPem
    const dnsServers = [dns.address]
    const given = { callbackPolicy: RECEIVER_POLICY, dnsServers, caPem, totalTimeoutMs: 15_000, ...options }
    return closing(new WebhookSender({ onDeath: () => undefined, ...given }))
  }

  async function receiver(options: ReceiverOptions = {}): Promise<WebhookReceiver> {
    return closing(await startWebhookReceiver({ certificate, ...options }))
  }

  /** At a receiver of this file: the name answers 127.0.0.1. */
  function urlAt(port: number, path = '/hook', name = 'receiver.example.com'): string {
    dns.set(name, { A: ['127.0.0.1'] })
    return `https://${name}:${port}${path}`
  }

  return { dns, authority, certificate, closing, guardOf, sockets, sender, threadSender, receiver, urlAt }
}

/** Answers with these bytes, Latin-1, and ends the connection. */
export function saysLast(bytes: string): WebhookAnswer {
  return (exchange) => {
    exchange.write(bytes)
    exchange.close()
  }
}

/** Answers with these bytes, Latin-1. The connection stays; what follows is another answer's. */
export function says(bytes: string): WebhookAnswer {
  return (exchange) => {
    exchange.write(bytes)
    exchange.end()
  }
}

/** Never answers. */
export const silence: WebhookAnswer = () => undefined

export function post(
  through: WebhookSockets,
  url: string,
  headers: Record<string, string> = {},
): Promise<DeliveryOutcome> {
  return postWebhook(through, {
    url,
    body: '{"msgId":"m"}',
    headers: { 'content-type': 'application/json', ...headers },
    lease: ENDLESS,
  })
}
